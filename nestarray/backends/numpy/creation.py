"""NumPy: `nestarray.ops.creation`."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends.numpy.core import check_device, native_dtype
from nestarray.numerics.fills import check_fill
from nestarray.numerics.matrices import check_matrices


def _dtype(dtype: Any, default: Any = dtypes.float32) -> Any:
    return native_dtype(default if dtype is None else dtype)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.zeros.html"""
    check_device(device)
    return np.zeros(shape, _dtype(dtype))


def ones(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ones.html"""
    check_device(device)
    return np.ones(shape, _dtype(dtype))


def empty(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.empty.html"""
    check_device(device)
    return np.empty(shape, _dtype(dtype))


def full(
    shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, like: Any = None
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.full.html"""
    check_device(device)
    found = _dtype(dtype, dtypes.dtype_of(fill_value))
    check_fill("full", "fill_value", fill_value, found)
    return np.full(shape, fill_value, found)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.zeros_like.html"""
    if dtype is device is None:
        return np.zeros_like(x)
    check_device(device)
    return np.zeros_like(x, dtype=_dtype(dtype, x.dtype))


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ones_like.html"""
    if dtype is device is None:
        return np.ones_like(x)
    check_device(device)
    return np.ones_like(x, dtype=_dtype(dtype, x.dtype))


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.empty_like.html"""
    if dtype is device is None:
        return np.empty_like(x)
    check_device(device)
    return np.empty_like(x, dtype=_dtype(dtype, x.dtype))


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.full_like.html"""
    check_device(device)
    found = _dtype(dtype, x.dtype)
    check_fill("full_like", "fill_value", fill_value, found)
    return np.full_like(x, fill_value, dtype=found)


def tril(x: Any, /, *, k: int = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.tril.html"""
    check_matrices("tril", "x", x)  # NumPy converts a vector to a matrix
    return np.tril(x, index(k))


def triu(x: Any, /, *, k: int = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.triu.html"""
    check_matrices("triu", "x", x)
    return np.triu(x, index(k))
