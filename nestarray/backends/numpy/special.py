"""NumPy: `nestarray.ops.special`, by SciPy if installed, else by default bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray.backends.base import refuse_complex
from nestarray.backends.numpy.promotion import promoting

try:
    import scipy.special as _scipy
except ImportError:
    _scipy = None


def _in_float32(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which supports float32 and float64, in float32 for narrower dtypes."""

    def call(x: Any, /) -> Any:
        dtype = x.dtype
        if dtype == np.float32 or dtype == np.float64:
            return native(x)
        refuse_complex(x)
        result = native(np.asarray(x, np.float32))
        return result if dtype.kind in "biu" else result.astype(dtype)

    return call


def _pair_in_float32(native: Callable[..., Any]) -> Callable[..., Any]:
    """Like `_in_float32`, for two operands of one dtype, or an array and a number."""

    def call(x1: Any, x2: Any, /) -> Any:
        try:
            dtype = x1.dtype
            x2 = x2 if hasattr(x2, "dtype") else dtype.type(x2)  # SciPy would use float64
        except AttributeError:
            dtype = x2.dtype
            x1 = dtype.type(x1)
        if dtype == np.float32 or dtype == np.float64:
            return native(x1, x2)
        if dtype.kind == "c":
            refuse_complex(x1)
        result = native(np.asarray(x1, np.float32), np.asarray(x2, np.float32))
        return result if dtype.kind in "biu" else result.astype(dtype)

    return promoting(call)


if _scipy is not None:
    erf = _in_float32(_scipy.erf)
    erfc = _in_float32(_scipy.erfc)
    erfinv = _in_float32(_scipy.erfinv)
    erfcx = _in_float32(_scipy.erfcx)
    # SciPy returns −∞ at −∞
    lgamma = _in_float32(lambda x: _scipy.gammaln(np.where(x == -np.inf, np.inf, x)))
    digamma = _in_float32(_scipy.digamma)
    ndtr = _in_float32(_scipy.ndtr)
    log_ndtr = _in_float32(_scipy.log_ndtr)
    ndtri = _in_float32(_scipy.ndtri)
    xlogy = _pair_in_float32(_scipy.xlogy)
    xlog1py = _pair_in_float32(_scipy.xlog1py)
