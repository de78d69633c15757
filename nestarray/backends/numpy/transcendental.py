"""NumPy: `nestarray.ops.transcendental`."""

from __future__ import annotations

import numpy as np

from nestarray.backends.base import floating, floating_pair
from nestarray.backends.numpy.elementwise import _cast, _promoting

acos = floating(np.arccos, _cast)
acosh = floating(np.arccosh, _cast)
asin = floating(np.arcsin, _cast)
asinh = floating(np.arcsinh, _cast)
atan = floating(np.arctan, _cast)
atanh = floating(np.arctanh, _cast)
cos = floating(np.cos, _cast)
cosh = floating(np.cosh, _cast)
exp = floating(np.exp, _cast)
exp2 = floating(np.exp2, _cast)
expm1 = floating(np.expm1, _cast)
log = floating(np.log, _cast)
log10 = floating(np.log10, _cast)
log1p = floating(np.log1p, _cast)
log2 = floating(np.log2, _cast)
sin = floating(np.sin, _cast)
sinh = floating(np.sinh, _cast)
sqrt = floating(np.sqrt, _cast)
tan = floating(np.tan, _cast)
tanh = floating(np.tanh, _cast)

atan2 = _promoting(floating_pair(np.arctan2, _cast))
hypot = _promoting(floating_pair(np.hypot, _cast))
logaddexp = _promoting(floating_pair(np.logaddexp, _cast))
