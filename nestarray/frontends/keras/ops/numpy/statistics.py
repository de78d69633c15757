"""Means, quantiles and counts.

Upstream: https://keras.io/api/ops/numpy/
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import UnsupportedError
from nestarray.frontends.keras import config
from nestarray.frontends.keras.promotion import (
    as_array,
    as_arrays,
    cast,
    floating,
    promote,
    result_type,
)
from nestarray.typing import Array, Axis

__all__ = [
    "average", "bincount", "corrcoef", "mean", "median", "nanmean", "nanmedian", "nanpercentile",
    "nanquantile", "nanstd", "nanvar", "percentile", "quantile", "std", "trapezoid", "var",
]  # fmt: skip


def mean(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The mean, computed in at least 32 bits."""
    x = as_array(x)
    computed = result_type(x, dtypes.float32)
    dtype = dtypes.dtype_of(x) if dtypes.dtype_of(x).is_inexact else computed
    return cast(na.mean(cast(x, computed), axis=axis, keepdims=keepdims), dtype)


def var(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The mean of the squared distances to the mean, computed in at least 32 bits."""
    x = as_array(x)
    found = na.var(cast(x, result_type(x, dtypes.float32)), axis=axis, keepdims=keepdims)
    return cast(found, result_type(x, float))


def std(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The square root of the variance."""
    return na.std(floating(x), axis=axis, keepdims=keepdims)


def average(x: Array, axis: Axis = None, weights: Array | None = None) -> Array:
    """The mean, weighted; `weights` have the shape of x or the length of the axis."""
    if weights is None:
        return na.mean(floating(x), axis=axis)
    x, weights = promote(x, weights, also=(float,))
    if axis is None or len(na.shape(x)) == len(na.shape(weights)):
        total = na.sum(na.multiply(x, weights), axis=axis)
        return na.divide(total, na.sum(weights, axis=axis))
    moved = na.moveaxis(x, axis, -1)
    return na.divide(na.sum(na.multiply(moved, weights), axis=-1), na.sum(weights))


def quantile(
    x: Array,
    q: Any,
    axis: Axis = None,
    method: str = "linear",
    keepdims: builtins.bool = False,
) -> Array:
    """The element at the position q · (n − 1) of the sorted elements, between 0 and 1."""
    x = floating(x)
    q = as_array(q, like=x)
    return na.quantile(x, _fractions(q, x), axis=axis, method=method, keepdims=keepdims)


def _fractions(q: Array, x: Array) -> Array:
    """Fractions as floating numbers of at least the precision of `x`."""
    wide = dtypes.float64 if dtypes.dtype_of(q) is dtypes.float64 else dtypes.float32
    return cast(q, result_type(wide, dtypes.dtype_of(x)))


def percentile(
    x: Array,
    q: Any,
    axis: Axis = None,
    method: str = "linear",
    keepdims: builtins.bool = False,
) -> Array:
    """`quantile`, with q from 0 to 100."""
    return quantile(x, _hundredths(x, q), axis, method, keepdims)


def _hundredths(x: Array, q: Any) -> Array:
    like = as_array(x)
    return na.divide(as_array(q, config.default_float(), like), 100.0)


def median(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The middle element of the sorted elements, or the mean of both."""
    return quantile(x, 0.5, axis, keepdims=keepdims)


# -- without NaN ---------------------------------------------------------------------------------


def _is_empty(axis: Axis) -> builtins.bool:
    return isinstance(axis, (tuple, list)) and not axis


def nanmean(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The mean of the numbers."""
    x = as_array(x)
    if _is_empty(axis):
        return x
    if not dtypes.dtype_of(x).is_inexact:
        return na.mean(na.astype(x, dtypes.float32), axis=axis, keepdims=keepdims)
    return na.nanmean(x, axis=axis, keepdims=keepdims)


def nanvar(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The variance of the numbers."""
    return na.nanvar(floating(x), axis=axis, keepdims=keepdims)


def nanstd(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The standard deviation of the numbers."""
    return na.nanstd(floating(x), axis=axis, keepdims=keepdims)


def nanquantile(
    x: Array,
    q: Any,
    axis: Axis = None,
    method: str = "linear",
    keepdims: builtins.bool = False,
) -> Array:
    """The quantile of the numbers; NaN if there are none."""
    x = floating(x)
    q = as_array(q, config.default_float(), x)
    return na.nanquantile(x, _fractions(q, x), axis=axis, method=method, keepdims=keepdims)


def nanpercentile(
    x: Array,
    q: Any,
    axis: Axis = None,
    method: str = "linear",
    keepdims: builtins.bool = False,
) -> Array:
    """`nanquantile`, with q from 0 to 100."""
    return nanquantile(x, _hundredths(x, q), axis, method, keepdims)


def nanmedian(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The median of the numbers."""
    if _is_empty(axis):
        return as_array(x)
    return nanquantile(x, 0.5, axis, keepdims=keepdims)


# -- others --------------------------------------------------------------------------------------


def bincount(
    x: Array, weights: Array | None = None, minlength: int = 0, sparse: builtins.bool = False
) -> Array:
    """The number of times, or the sum of the weights, of 0, 1 …, in each row.

    Raises:
        UnsupportedError: `sparse` is true: arrays are dense.
    """
    if sparse:
        raise UnsupportedError("bincount: sparse: got True, expected False: arrays are dense")
    x = as_array(x)
    dtype = dtypes.int32 if weights is None else result_type(x, as_array(weights))
    x = x if dtypes.dtype_of(x).bits >= 32 else na.astype(x, dtypes.int32)
    if len(na.shape(x)) == 2:
        length = builtins.max(minlength, int(na.max(x)) + 1)
        positions = na.arange(length, dtype=dtypes.dtype_of(x), like=x)
        found = na.equal(na.expand_dims(x, -1), positions)
        counts = na.astype(found, dtype)
        if weights is not None:
            counts = na.multiply(counts, na.expand_dims(cast(as_array(weights), dtype), -1))
        return na.sum(counts, axis=1, dtype=dtype)
    if weights is None:
        return cast(na.bincount(x, minlength=minlength), dtype)
    x, weights = as_arrays(x, weights)
    computed = dtypes.float32 if dtypes.dtype_of(weights).bits < 32 else None
    return cast(na.bincount(x, cast(weights, computed), minlength=minlength), dtype)


def corrcoef(x: Array) -> Array:
    """The correlations of the rows."""
    x = floating(x)
    if not na.shape(x):
        return na.full_like(x, math.nan)
    centred = na.subtract(x, na.mean(x, axis=-1, keepdims=True))
    if len(na.shape(x)) == 1:
        return na.divide(*[na.vecdot(centred, centred)] * 2)
    products = na.matmul(centred, na.conj(na.matrix_transpose(centred)))
    deviations = na.sqrt(na.real(na.diagonal(products)))
    scale = na.multiply(na.expand_dims(deviations, -1), na.expand_dims(deviations, -2))
    found = na.divide(products, cast(scale, dtypes.dtype_of(products)))
    if dtypes.dtype_of(found).kind != "complex":
        return na.clip(found, -1.0, 1.0)
    return na.complex(na.clip(na.real(found), -1.0, 1.0), na.clip(na.imag(found), -1.0, 1.0))


def trapezoid(y: Array, x: Array | None = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral of samples along an axis, by the trapezoidal rule."""
    y = floating(y)
    moved = na.moveaxis(y, axis, -1)
    if x is None:
        steps: Any = as_array(dx, dtypes.dtype_of(y), y)
    else:
        x = as_array(x, dtypes.dtype_of(y), y)
        steps = na.diff(na.moveaxis(x, axis, -1), axis=-1)
    ends = na.add(moved[..., 1:], moved[..., :-1])
    return na.sum(na.multiply(na.multiply(ends, 0.5), steps), axis=-1)
