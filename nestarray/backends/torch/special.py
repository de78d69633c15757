"""PyTorch: `nestarray.ops.special`."""

from __future__ import annotations

import torch

from nestarray.backends.base import promoting
from nestarray.backends.torch.elementwise import _cast

erf = torch.erf
erfc = torch.erfc
erfcx = torch.special.erfcx
erfinv = torch.erfinv
log_ndtr = torch.special.log_ndtr
ndtri = torch.special.ndtri
lgamma = torch.lgamma
digamma = torch.digamma
sinc = torch.sinc
logit = torch.logit

xlogy = promoting(torch.special.xlogy, _cast, scalar_ok=False)
xlog1py = promoting(torch.special.xlog1py, _cast, scalar_ok=False)
