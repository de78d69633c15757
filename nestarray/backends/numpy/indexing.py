"""NumPy: `nestarray.ops.indexing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends.base import refuse_complex
from nestarray.backends.precision import is_half
from nestarray.numerics.axes import one_axis
from nestarray.numerics.fills import check_fill
from nestarray.numerics.index import check_mode, check_rows, without_ones

_COMBINE = {
    "add": np.add.at,
    "mul": np.multiply.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
}


def getitem(x: Any, index: Any, /) -> Any:
    """https://numpy.org/doc/stable/user/basics.indexing.html"""
    return x[index]


def setitem(x: Any, index: Any, value: Any, /, *, mode: str = "replace") -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ufunc.at.html"""
    check_fill("setitem", "value", value, x.dtype)
    if mode in ("min", "max"):
        refuse_complex(x)
    result = np.array(x)
    value = np.asarray(value).astype(result.dtype, copy=False)
    if value.shape[:1] == (1,):
        value = value.reshape(without_ones(value.shape, result[index].ndim))
    if mode == "replace":
        result[index] = value
    elif mode == "add" and is_half(dtypes.as_dtype(result.dtype)):  # sums are rounded once
        wide = result.astype(np.float32)
        np.add.at(wide, index, value)
        return wide.astype(result.dtype)
    else:
        with np.errstate(invalid="ignore"):  # NumPy warns of NaN here
            _COMBINE[check_mode(mode, "setitem")](result, index, value)
    return result


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.take.html"""
    if indices.dtype.kind == "b":
        raise TypeError("NumPy takes False and True for 0 and 1")
    if axis is not None and not x.ndim:  # NumPy accepts axes 0 and -1 of a 0-d array
        one_axis(axis, 0, "take")
    return np.take(x, indices, axis=axis)


def embedding(indices: Any, weight: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.take.html"""
    check_rows(weight)
    if indices.size and indices.min() < 0:
        raise IndexError("NumPy counts negative indices from the end")
    return take(weight, indices, axis=0)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.take_along_axis.html"""
    return np.take_along_axis(x, indices, axis)
