"""NumPy: `nestarray.ops.statistical`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import accumulation_dtype, mean_dtype, supports
from nestarray.backends.numpy.core import native_dtype


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def _inexact(x: Any) -> Any:
    """`x`, integers as float32."""
    return x if x.dtype.kind in "fc" else x.astype(native_dtype(mean_dtype(x)), copy=False)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.sum.html"""
    if dtype is not None or x.dtype.kind != "f":
        dtype = native_dtype(accumulation_dtype(x, dtype))
    return np.add.reduce(x, _axes(axis), dtype, None, keepdims)  # what np.sum comes to


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.prod.html"""
    if dtype is not None or x.dtype.kind != "f":
        dtype = native_dtype(accumulation_dtype(x, dtype))
    return np.multiply.reduce(x, _axes(axis), dtype, None, keepdims)  # what np.prod comes to


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.mean.html"""
    if x.dtype.kind in "fc":
        return np.mean(x, _axes(axis), None, None, keepdims)
    return np.mean(x, _axes(axis), native_dtype(mean_dtype(x)), None, keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.max.html"""
    return np.maximum.reduce(x, _axes(axis), None, None, keepdims)  # what np.max comes to


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.min.html"""
    return np.minimum.reduce(x, _axes(axis), None, None, keepdims)  # what np.min comes to


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.all.html"""
    return np.all(x, axis=_axes(axis), keepdims=keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.any.html"""
    return np.any(x, axis=_axes(axis), keepdims=keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.var.html"""
    return np.var(_inexact(x), _axes(axis), None, None, correction, keepdims)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.std.html"""
    return np.std(_inexact(x), _axes(axis), None, None, correction, keepdims)


def _no_initial(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> bool:
    return not include_initial


@supports(_no_initial)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.cumsum.html"""
    if dtype is not None or x.dtype.kind != "f":
        dtype = native_dtype(accumulation_dtype(x, dtype))
    return np.cumsum(x, axis, dtype)


@supports(_no_initial)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.cumprod.html"""
    if dtype is not None or x.dtype.kind != "f":
        dtype = native_dtype(accumulation_dtype(x, dtype))
    return np.cumprod(x, axis, dtype)


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
    return _accumulated(np.logaddexp, _inexact(x), axis)
