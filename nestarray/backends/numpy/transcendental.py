"""NumPy: `nestarray.ops.transcendental`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import floating, floating_pair
from nestarray.backends.nonfinite import completed
from nestarray.backends.numpy.elementwise import _cast, _promoting


def _complex(real: Any, imag: Any) -> Any:
    result = np.empty(np.shape(real), np.result_type(real, np.complex64))
    result.real, result.imag = real, imag
    return result


def _complex_expm1(x: Any) -> Any:
    result = np.expm1(x)
    return _complex(result.real + 0.0, result.imag)  # + 0 makes −0 a 0


acos = floating(np.arccos, _cast)
acosh = floating(np.arccosh, _cast)
asin = floating(np.arcsin, _cast)
asinh = floating(np.arcsinh, _cast)
atan = floating(np.arctan, _cast)
cbrt = floating(np.cbrt, _cast)
atanh = floating(np.arctanh, _cast)
cos = floating(np.cos, _cast)
cosh = floating(np.cosh, _cast)
exp = floating(np.exp, _cast)
exp2 = floating(np.exp2, _cast)
expm1 = floating(np.expm1, _cast, completed("expm1", _complex_expm1, _complex))
log = floating(np.log, _cast)
log10 = floating(np.log10, _cast)
log1p = floating(np.log1p, _cast)
log2 = floating(np.log2, _cast)
sin = floating(np.sin, _cast)
sinh = floating(np.sinh, _cast)
sqrt = floating(np.sqrt, _cast)
tan = floating(np.tan, _cast)
tanh = floating(np.tanh, _cast, completed("tanh", np.tanh, _complex))

atan2 = _promoting(floating_pair(np.arctan2, _cast))
hypot = _promoting(floating_pair(np.hypot, _cast))
logaddexp = _promoting(floating_pair(np.logaddexp, _cast))
logaddexp2 = _promoting(floating_pair(np.logaddexp2, _cast))
