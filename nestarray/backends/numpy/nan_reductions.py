"""NumPy: `nestarray.ops.nan_reductions`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import refuse_complex
from nestarray.backends.numpy.accumulation import accumulated, checked_axes
from nestarray.backends.numpy.core import PRECISE


def nansum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.nansum.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if dtype is None and x.dtype in PRECISE:
        return np.nansum(x, axis) if keepdims is False else np.nansum(x, axis, keepdims=keepdims)
    if x.dtype.kind == "V":
        x = np.where(np.isnan(x), 0, x).astype(x.dtype)  # NumPy does not detect NaN in bfloat16
    return accumulated(np.nansum, x, axis, dtype, None, keepdims)


def nanprod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.nanprod.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if dtype is None and x.dtype in PRECISE:
        return np.nanprod(x, axis) if keepdims is False else np.nanprod(x, axis, keepdims=keepdims)
    if x.dtype.kind == "V":
        x = np.where(np.isnan(x), 1, x).astype(x.dtype)  # NumPy does not detect NaN in bfloat16
    return accumulated(np.nanprod, x, axis, dtype, None, keepdims)


# NumPy's nanmean, nanvar and nanmedian warn of slices without numbers; other frameworks and the
# default bodies do not. NumPy's nanmax and nanmin use these reductions, which do not warn either.


def _extremum(ufunc: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    refuse_complex(x)
    if axis is not None:
        axis = checked_axes(x, axis)
    if x.dtype.kind == "V":  # NumPy warns of NaN in bfloat16
        return ufunc.reduce(x.astype(np.float32), axis, keepdims=keepdims).astype(x.dtype)
    return ufunc.reduce(x, axis, keepdims=keepdims)


def nanmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.fmax.html"""
    return _extremum(np.fmax, x, axis, keepdims)


def nanmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.fmin.html"""
    return _extremum(np.fmin, x, axis, keepdims)
