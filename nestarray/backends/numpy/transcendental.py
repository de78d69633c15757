"""NumPy: `nestarray.ops.transcendental`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from nestarray.backends import xp
from nestarray.backends.numpy.promotion import floating, floating_pair, promoting
from nestarray.numerics.logarithms import complex_logaddexp
from nestarray.numerics.nonfinite import completed


def _complex(real: Any, imag: Any) -> Any:
    result = np.empty(np.shape(real), np.result_type(real, np.complex64))
    result.real, result.imag = real, imag
    return result


def _complex_expm1(x: Any) -> Any:
    result = np.expm1(x)
    return _complex(result.real + 0.0, result.imag)  # −0 + 0 is 0


acos = floating(np.arccos)
acosh = floating(np.arccosh)
asin = floating(np.arcsin)
asinh = floating(np.arcsinh)
atan = floating(np.arctan)
cbrt = floating(np.cbrt)
atanh = floating(np.arctanh)
cos = floating(np.cos)
cosh = floating(np.cosh)
exp = floating(np.exp)
exp2 = floating(np.exp2)
expm1 = floating(np.expm1, completed(xp, "expm1", _complex_expm1, _complex))
log = floating(np.log)
log10 = floating(np.log10)
log1p = floating(np.log1p)
log2 = floating(np.log2)
sin = floating(np.sin)
sinh = floating(np.sinh)
sqrt = floating(np.sqrt)
tan = floating(np.tan)
tanh = floating(np.tanh, completed(xp, "tanh", np.tanh, _complex))

atan2 = promoting(floating_pair(np.arctan2), floats=True)
hypot = promoting(floating_pair(np.hypot), floats=True)
logaddexp = promoting(floating_pair(np.logaddexp, partial(complex_logaddexp, xp)), floats=True)
logaddexp2 = promoting(floating_pair(np.logaddexp2), floats=True)
