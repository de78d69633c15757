"""NumPy: `nestarray.ops.statistical`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import accumulation_dtype, mean_dtype, supports
from nestarray.backends.numpy.core import native_dtype


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.sum.html"""
    if dtype is not None or x.dtype.kind != "f":
        dtype = native_dtype(accumulation_dtype(x, dtype))
    return np.add.reduce(x, _axes(axis), dtype, None, keepdims)  # what np.sum comes to


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.prod.html"""
    dtype = native_dtype(accumulation_dtype(x, dtype))
    return np.prod(x, axis=_axes(axis), dtype=dtype, keepdims=keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.mean.html"""
    return np.mean(x, axis=_axes(axis), dtype=native_dtype(mean_dtype(x)), keepdims=keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.max.html"""
    return np.max(x, axis=_axes(axis), keepdims=keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.min.html"""
    return np.min(x, axis=_axes(axis), keepdims=keepdims)


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.all.html"""
    return np.all(x, axis=_axes(axis), keepdims=keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.any.html"""
    return np.any(x, axis=_axes(axis), keepdims=keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.var.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    return np.var(x, axis=_axes(axis), ddof=correction, keepdims=keepdims)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.std.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    return np.std(x, axis=_axes(axis), ddof=correction, keepdims=keepdims)


def _no_initial(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> bool:
    return not include_initial


@supports(_no_initial)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.cumsum.html"""
    return np.cumsum(x, axis=axis, dtype=native_dtype(accumulation_dtype(x, dtype)))


@supports(_no_initial)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.cumprod.html"""
    return np.cumprod(x, axis=axis, dtype=native_dtype(accumulation_dtype(x, dtype)))


def _accumulated(ufunc: Any, x: Any, axis: Any) -> Any:
    return ufunc.accumulate(x.reshape(-1)) if axis is None else ufunc.accumulate(x, axis=axis)


def cummax(x: Any, /, *, axis: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ufunc.accumulate.html"""
    return _accumulated(np.maximum, x, axis)


def cummin(x: Any, /, *, axis: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ufunc.accumulate.html"""
    return _accumulated(np.minimum, x, axis)


def logsumexp(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.log.html"""
    axis = _axes(axis)
    greatest = np.max(x, axis=axis, keepdims=True)
    greatest = np.where(np.isfinite(greatest), greatest, np.zeros_like(greatest)).real
    with np.errstate(divide="ignore"):  # the logarithm of 0 is −∞, as everywhere
        result = np.log(np.sum(np.exp(x - greatest), axis=axis, keepdims=True)) + greatest
    return result if keepdims else np.squeeze(result, axis=axis)


def cumulative_logsumexp(x: Any, /, *, axis: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ufunc.accumulate.html"""
    x = x.astype(native_dtype(mean_dtype(x)), copy=False)
    return _accumulated(np.logaddexp, x, axis)
