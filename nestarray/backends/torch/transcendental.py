"""PyTorch: `nestarray.ops.transcendental`."""

from __future__ import annotations

import torch

from nestarray.backends.base import promoting
from nestarray.backends.torch.elementwise import _cast, _floating_pair

acos = torch.acos
acosh = torch.acosh
asin = torch.asin
asinh = torch.asinh
atan = torch.atan
atanh = torch.atanh
cos = torch.cos
cosh = torch.cosh
exp = torch.exp
exp2 = torch.exp2
expm1 = torch.expm1
log = torch.log
log10 = torch.log10
log1p = torch.log1p
log2 = torch.log2
sin = torch.sin
sinh = torch.sinh
sqrt = torch.sqrt
tan = torch.tan
tanh = torch.tanh
rsqrt = torch.rsqrt

atan2 = promoting(torch.atan2, _cast, scalar_ok=False)
hypot = promoting(_floating_pair(torch.hypot), _cast, scalar_ok=False)
logaddexp = promoting(_floating_pair(torch.logaddexp), _cast, scalar_ok=False)
