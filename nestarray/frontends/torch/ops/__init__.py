"""torch.ops: operations by library."""

from nestarray.frontends.torch.ops import aten as aten
from nestarray.frontends.torch.ops import transformers as transformers
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__, "aten", "transformers")
