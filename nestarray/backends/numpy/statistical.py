"""NumPy: `nestarray.ops.statistical`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import (
    has_freedom,
    mean_dtype,
    refuse_complex,
    supports,
)
from nestarray.backends.numpy.accumulation import accumulated, checked_axes
from nestarray.backends.numpy.core import PRECISE, in_dtype, native_dtype
from nestarray.backends.numpy.promotion import cast
from nestarray.backends.precision import in_single_precision


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.sum.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if dtype is None and x.dtype in PRECISE:
        return np.add.reduce(x, axis, None, None, keepdims)  # the core of np.sum
    return accumulated(np.add.reduce, x, axis, dtype, None, keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.prod.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if dtype is None and x.dtype in PRECISE:
        return np.multiply.reduce(x, axis, None, None, keepdims)  # the core of np.prod
    return accumulated(np.multiply.reduce, x, axis, dtype, None, keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.mean.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if x.dtype.kind in "fc":
        return x.mean(axis, None, None, keepdims)  # the core of np.mean
    found = np.mean(x, axis, np.float32, None, keepdims)
    return in_dtype(found, native_dtype(mean_dtype(x)))


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.max.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if x.dtype.kind == "c":
        refuse_complex(x)
    return np.maximum.reduce(x, axis, None, None, keepdims)  # the core of np.max


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.min.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if x.dtype.kind == "c":
        refuse_complex(x)
    return np.minimum.reduce(x, axis, None, None, keepdims)  # the core of np.min


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.all.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    return np.logical_and.reduce(x, axis, bool, None, keepdims)  # the core of np.all


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.any.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    return np.logical_or.reduce(x, axis, bool, None, keepdims)  # the core of np.any


# NumPy takes 1 µs longer for float degrees of freedom


@supports(has_freedom)
@in_single_precision(cast)
def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.var.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    ddof = int(correction) if correction % 1 == 0 else correction
    return x.var(axis, None, None, ddof, keepdims)  # the core of np.var


@supports(has_freedom)
@in_single_precision(cast)
def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.std.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    ddof = int(correction) if correction % 1 == 0 else correction
    return x.std(axis, None, None, ddof, keepdims)  # the core of np.std


@supports(lambda *_, include_initial=False, **_settings: include_initial is False)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.cumsum.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if dtype is None and x.dtype in PRECISE:
        return x.cumsum(axis)
    return accumulated(np.cumsum, x, axis, dtype)


@supports(lambda *_, include_initial=False, **_settings: include_initial is False)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.cumprod.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if dtype is None and x.dtype in PRECISE:
        return x.cumprod(axis)
    return accumulated(np.cumprod, x, axis, dtype)


def _accumulated(ufunc: Any, x: Any, axis: Any) -> Any:
    return ufunc.accumulate(x.reshape(-1)) if axis is None else ufunc.accumulate(x, axis=axis)


def cummax(x: Any, /, *, axis: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ufunc.accumulate.html"""
    refuse_complex(x)
    return _accumulated(np.maximum, x, axis)


def cummin(x: Any, /, *, axis: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ufunc.accumulate.html"""
    refuse_complex(x)
    return _accumulated(np.minimum, x, axis)


@supports(lambda *_, b=None, return_sign=False, **_settings: b is None and return_sign is False)
@in_single_precision(cast)
def logsumexp(
    x: Any,
    /,
    *,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.log.html"""
    if axis is not None:
        axis = checked_axes(x, axis)
    if not x.size:
        return np.full_like(np.sum(x, axis=axis, keepdims=keepdims), -np.inf)
    greatest = np.max(x.real, axis=axis, keepdims=True)
    greatest = np.where(np.isfinite(greatest), greatest, np.zeros_like(greatest))
    with np.errstate(divide="ignore"):  # log 0 is −∞ without a warning
        result = np.log(np.sum(np.exp(x - greatest), axis=axis, keepdims=True)) + greatest
    return result if keepdims else np.squeeze(result, axis=axis)


@supports(lambda x, **_: x.dtype.kind != "c")
@in_single_precision(cast)
def cumulative_logsumexp(x: Any, /, *, axis: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ufunc.accumulate.html"""
    return _accumulated(np.logaddexp, x, axis)
