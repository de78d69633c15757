"""Sums, products, extreme values and their cumulative forms.

Upstream: https://keras.io/api/ops/numpy/. Integers below 32 bits are summed in 32 bits.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.keras.ops.numpy.elementwise import maximum, minimum, nan_to_num
from nestarray.frontends.keras.promotion import (
    as_array,
    as_dtype,
    as_index,
    cast,
    normal_axis,
    summed_dtype,
)
from nestarray.frontends.tensorflow import math as tf_math
from nestarray.typing import Array, Axis, DTypeLike

__all__ = [
    "amax", "amin", "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "max", "min",
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmin", "nanprod", "nansum",
    "prod", "ptp", "sum", "trace",
]  # fmt: skip


def sum(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The sum."""
    x = as_array(x)
    return na.sum(cast(x, summed_dtype(x)), axis=axis, keepdims=keepdims, dtype=summed_dtype(x))


def prod(
    x: Array, axis: Axis = None, keepdims: builtins.bool = False, dtype: DTypeLike | None = None
) -> Array:
    """The product."""
    x = as_array(x)
    wanted = summed_dtype(x) if dtype is None else as_dtype(dtype)
    return na.prod(cast(x, wanted), axis=axis, keepdims=keepdims, dtype=wanted)


def trace(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The sum of a diagonal."""
    x = as_array(x)
    x = na.moveaxis(cast(x, summed_dtype(x)), (axis1, axis2), (-2, -1))
    return na.sum(na.diagonal(x, offset=offset), axis=-1, dtype=dtypes.dtype_of(x))


def count_nonzero(x: Array, axis: Axis = None) -> Array:
    """The number of elements that are not 0."""
    return as_index(na.count_nonzero(as_array(x), axis=axis))


# -- extreme values ------------------------------------------------------------------------------


def max(
    x: Array,
    axis: Axis = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
) -> Array:
    """The largest element, at least `initial`."""
    reduce = na.max if initial is None else tf_math.reduce_max  # which begins at the least number
    return _extreme(reduce, na.any, maximum, x, axis, keepdims, initial)


def min(
    x: Array,
    axis: Axis = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
) -> Array:
    """The least element, at most `initial`."""
    reduce = na.min if initial is None else tf_math.reduce_min
    return _extreme(reduce, na.all, minimum, x, axis, keepdims, initial)


def _extreme(
    function: Callable[..., Array],
    of_bools: Callable[..., Array],
    limit: Callable[..., Array],
    x: Any,
    axis: Axis,
    keepdims: builtins.bool,
    initial: Any,
) -> Array:
    x = as_array(x)
    is_bool = dtypes.dtype_of(x) is dtypes.bool
    found = (of_bools if is_bool else function)(x, axis=axis, keepdims=keepdims)
    return found if initial is None else limit(found, as_array(initial, dtypes.dtype_of(x), x))


def amax(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The largest element."""
    return max(x, axis, keepdims)


def amin(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The least element."""
    return min(x, axis, keepdims)


def ptp(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The largest minus the least element."""
    x = as_array(x)
    return na.subtract(tf_math.reduce_max(x, axis, keepdims), tf_math.reduce_min(x, axis, keepdims))


def argmax(x: Array, axis: int | None = None, keepdims: builtins.bool = False) -> Array:
    """The first position of the largest element; −0 is less than 0."""
    return as_index(na.argmax(_with_signed_zeros(x), axis=axis, keepdims=keepdims))


def argmin(x: Array, axis: int | None = None, keepdims: builtins.bool = False) -> Array:
    """The first position of the least element; −0 is less than 0."""
    return as_index(na.argmin(_with_signed_zeros(x), axis=axis, keepdims=keepdims))


def _with_signed_zeros(x: Any) -> Array:
    """`x` with a negative number for each −0."""
    x = as_array(x)
    dtype = dtypes.dtype_of(x)
    if dtype is dtypes.bool:
        return na.astype(x, dtypes.int32)
    if not dtype.is_floating or not na.shape(x):
        return x
    is_negative_zero = na.logical_and(na.equal(x, 0), na.signbit(x))
    return na.where(is_negative_zero, -float(dtypes.finfo(dtype).smallest_normal), x)


# -- without NaN ---------------------------------------------------------------------------------


def _filled(x: Any, number: float) -> Array:
    """`x` with a number for NaN."""
    x = as_array(x)
    return na.where(na.isnan(x), number, x) if dtypes.dtype_of(x).is_inexact else x


def nansum(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The sum of the numbers."""
    return sum(_filled(x, 0), axis, keepdims)


def nanprod(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The product of the numbers."""
    return prod(_filled(x, 1), axis, keepdims)


def nanmax(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The largest number; NaN if there is none."""
    return _extreme_number(tf_math.reduce_max, na.any, -math.inf, x, axis, keepdims)


def nanmin(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The least number; NaN if there is none."""
    return _extreme_number(tf_math.reduce_min, na.all, math.inf, x, axis, keepdims)


def _extreme_number(
    function: Callable[..., Array],
    of_bools: Callable[..., Array],
    fill: float,
    x: Any,
    axis: Axis,
    keepdims: builtins.bool,
) -> Array:
    x = as_array(x)
    reduce = of_bools if dtypes.dtype_of(x) is dtypes.bool else function
    found = reduce(_filled(x, fill), axis=axis, keepdims=keepdims)
    if not dtypes.dtype_of(x).is_inexact:
        return found
    return na.where(na.all(na.isnan(x), axis=axis, keepdims=keepdims), math.nan, found)


def nanargmax(x: Array, axis: int | None = None, keepdims: builtins.bool = False) -> Array:
    """The first position of the largest number; −1 if there is none."""
    return _position(argmax, -math.inf, x, axis, keepdims)


def nanargmin(x: Array, axis: int | None = None, keepdims: builtins.bool = False) -> Array:
    """The first position of the least number; −1 if there is none."""
    return _position(argmin, math.inf, x, axis, keepdims)


def _position(
    function: Callable[..., Array], fill: float, x: Any, axis: int | None, keepdims: builtins.bool
) -> Array:
    x = as_array(x)
    found = function(_filled(x, fill), axis, keepdims)
    if not dtypes.dtype_of(x).is_inexact:
        return found
    return na.where(na.all(na.isnan(x), axis=axis, keepdims=keepdims), -1, found)


# -- cumulative ----------------------------------------------------------------------------------


def cumsum(x: Array, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """The sums of the elements up to each one."""
    return _cumulative(tf_math.cumsum, x, axis, dtype)


def cumprod(x: Array, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """The products of the elements up to each one; zeros have the derivative 0."""
    return _cumulative(tf_math.cumprod, x, axis, dtype)


def _cumulative(
    function: Callable[..., Array], x: Any, axis: int | None, dtype: DTypeLike | None
) -> Array:
    x = as_array(x, dtype)
    if dtypes.dtype_of(x) is dtypes.bool:
        x = na.astype(x, dtypes.int32)
    if axis is None:
        x, axis = na.reshape(x, (-1,)), 0
    axis = normal_axis("cumsum, cumprod", axis, len(na.shape(x)))
    return function(x, axis)


def nancumsum(x: Array, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """The sums of the numbers up to each one; infinities are the largest numbers."""
    return cumsum(nan_to_num(x), axis, dtype)


def nancumprod(x: Array, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """The products of the numbers up to each one; infinities are the largest numbers."""
    return cumprod(nan_to_num(x, nan=1.0), axis, dtype)
