"""torch.nn: its functions. Layers are `nestarray.nn`."""

from nestarray.frontends.torch import absent as _absent
from nestarray.frontends.torch.nn import functional as functional

_absent.explain(__name__, "functional")
