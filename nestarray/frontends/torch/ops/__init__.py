"""torch.ops: operations that are reached by the name of their library."""

from nestarray.frontends.torch import absent as _absent
from nestarray.frontends.torch.ops import aten as aten
from nestarray.frontends.torch.ops import transformers as transformers

_absent.explain(__name__, "aten", "transformers")
