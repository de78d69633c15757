"""torch.nn: its functions. Layers are `nestarray.nn`."""

from nestarray.frontends.torch.nn import functional as functional
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__, "functional")
