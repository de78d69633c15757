"""Reductions and cumulative functions.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.in_place import refuse_in_place
from nestarray.frontends.jax.promotion import (
    as_array,
    as_dtype,
    as_index,
    axes_of,
    cast,
    inexact,
    real_dtype,
    summed_dtype,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "max", "mean", "min", "minmax", "nanargmax",
    "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum",
    "nanvar", "prod", "ptp", "std", "sum", "trace", "var",
]  # fmt: skip

Axis = Any


def masked(x: Array, where: Array | None, value: Any) -> Array:
    """`x`, with a neutral value where `where` is false."""
    return x if where is None else na.where(where, x, na.full_like(x, value))


# -- truth ---------------------------------------------------------------------------------------


def all(
    a: Array,
    axis: Axis = None,
    out: None = None,
    keepdims: builtins.bool = False,
    *,
    where: Array | None = None,
) -> Array:
    """Whether all elements are true."""
    refuse_in_place("all", out)
    a = masked(cast(a, dtypes.bool), where, True)
    return na.all(a, axis=_axis(axis), keepdims=keepdims)


def any(
    a: Array,
    axis: Axis = None,
    out: None = None,
    keepdims: builtins.bool = False,
    *,
    where: Array | None = None,
) -> Array:
    """Whether any element is true."""
    refuse_in_place("any", out)
    a = masked(cast(a, dtypes.bool), where, False)
    return na.any(a, axis=_axis(axis), keepdims=keepdims)


def count_nonzero(a: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The number of elements that are not zero."""
    return as_index(na.count_nonzero(as_array(a), axis=_axis(axis), keepdims=keepdims))


def _axis(axis: Axis) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


# -- sums and products ---------------------------------------------------------------------------


def sum(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Array | None = None,
    promote_integers: builtins.bool = True,
) -> Array:
    """The sum; integers are summed in at least 32 bits."""
    refuse_in_place("sum", out)
    a, wanted = _summands(a, dtype, promote_integers)
    found = na.sum(masked(a, where, 0), axis=_axis(axis), dtype=wanted, keepdims=keepdims)
    return found if initial is None else cast(na.add(found, initial), wanted)


def prod(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Array | None = None,
    promote_integers: builtins.bool = True,
) -> Array:
    """The product; of integers in at least 32 bits."""
    refuse_in_place("prod", out)
    a, wanted = _summands(a, dtype, promote_integers)
    found = na.prod(masked(a, where, 1), axis=_axis(axis), dtype=wanted, keepdims=keepdims)
    return found if initial is None else cast(na.multiply(found, initial), wanted)


def _summands(
    x: Any, dtype: DTypeLike | None, promote_integers: builtins.bool
) -> tuple[Array, Any]:
    x = as_array(x)
    own = summed_dtype(x) if promote_integers else dtypes.dtype_of(x)
    wanted = own if dtype is None else as_dtype(dtype)
    return cast(x, wanted), wanted


def cumsum(
    a: Array, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
) -> Array:
    """Cumulative sums, of all elements if `axis` is None."""
    refuse_in_place("cumsum", out)
    return _cumulative(na.cumulative_sum, a, axis, dtype)


def cumprod(
    a: Array, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
) -> Array:
    """Cumulative products, of all elements if `axis` is None."""
    refuse_in_place("cumprod", out)
    return _cumulative(na.cumulative_prod, a, axis, dtype)


def _cumulative(function: Any, x: Any, axis: int | None, dtype: DTypeLike | None) -> Array:
    x, wanted = _summands(x, dtype, False)
    if wanted is dtypes.bool:
        wanted = as_dtype(int)
    x = cast(x, wanted)
    x, axis = (na.reshape(x, (-1,)), 0) if axis is None else (x, axis)
    return function(x, axis=axis, dtype=wanted)


def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: builtins.bool = False,
) -> Array:
    """Cumulative sums; with `include_initial` from 0."""
    return _standard_cumulative(na.cumulative_sum, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: builtins.bool = False,
) -> Array:
    """Cumulative products; with `include_initial` from 1."""
    return _standard_cumulative(na.cumulative_prod, x, axis, dtype, include_initial)


def _standard_cumulative(
    function: Any, x: Any, axis: int | None, dtype: DTypeLike | None, include_initial: builtins.bool
) -> Array:
    x, wanted = _summands(x, dtype, True)
    axis = 0 if axis is None else axis
    return function(x, axis=axis, dtype=wanted, include_initial=include_initial)


def trace(
    a: Array,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike | None = None,
    out: None = None,
) -> Array:
    """The sum of a diagonal."""
    refuse_in_place("trace", out)
    return sum(na.diagonal(na.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset), -1, dtype)


# -- extrema -------------------------------------------------------------------------------------


def max(
    a: Array,
    axis: Axis = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Array | None = None,
) -> Array:
    """The maximum; NaN if there is one."""
    refuse_in_place("max", out)
    return _extreme(na.max, na.maximum, -1, a, axis, keepdims, initial, where)


def min(
    a: Array,
    axis: Axis = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Array | None = None,
) -> Array:
    """The minimum; NaN if there is one."""
    refuse_in_place("min", out)
    return _extreme(na.min, na.minimum, 1, a, axis, keepdims, initial, where)


amax, amin = max, min


def minmax(
    a: Array,
    axis: Axis = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Array | None = None,
) -> tuple[Array, Array]:
    """(minimum, maximum); a pair of initial values has the minimum's first."""
    refuse_in_place("minmax", out)
    first, second = initial if isinstance(initial, tuple) else (initial, initial)
    return (
        min(a, axis, keepdims=keepdims, initial=first, where=where),
        max(a, axis, keepdims=keepdims, initial=second, where=where),
    )


def _extreme(
    function: Any,
    combine: Any,
    sign: int,
    a: Any,
    axis: Axis,
    keepdims: builtins.bool,
    initial: Any,
    where: Array | None,
) -> Array:
    a = as_array(a)
    if where is not None:
        if initial is None:
            raise ArgumentError(
                "max, min: where: expected initial too, for slices without elements"
            )
        a = masked(a, where, limit(dtypes.dtype_of(a), sign))
    if initial is not None and 0 in na.shape(a):
        a = _with_initial(a, axis, initial)
    if dtypes.dtype_of(a).kind == "complex":
        found = _complex_extreme(max if sign < 0 else min, a, axis, keepdims)
    else:
        found = function(a, axis=_axis(axis), keepdims=keepdims)
    return (
        found
        if initial is None
        else combine(found, na.full((), initial, dtype=dtypes.dtype_of(a), like=a))
    )


def _with_initial(a: Array, axis: Axis, initial: Any) -> Array:
    """An array that has `initial` in place of the elements that reduced empty axes lack."""
    axes = axes_of(axis, len(na.shape(a)))
    sizes = [1 if i in axes else n for i, n in enumerate(na.shape(a))]
    return na.full(sizes, initial, dtype=dtypes.dtype_of(a), like=a)


def limit(dtype: dtypes.DType, sign: int) -> Any:
    """The largest number of a dtype, or the least one if `sign` is negative."""
    if dtype.is_inexact:
        return math.copysign(math.inf, sign)
    if dtype is dtypes.bool:
        return sign > 0
    info = dtypes.iinfo(dtype)
    return info.max if sign > 0 else info.min


def ptp(a: Array, axis: Axis = None, out: None = None, keepdims: builtins.bool = False) -> Array:
    """The maximum minus the minimum."""
    refuse_in_place("ptp", out)
    return na.subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


def argmax(
    a: Array, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None
) -> Array:
    """The position of the first maximum; of the first NaN if there is one."""
    refuse_in_place("argmax", out)
    if dtypes.dtype_of(as_array(a)).kind == "complex":
        return _complex_position(max, a, axis, builtins.bool(keepdims))
    return as_index(na.argmax(_counted(a), axis=axis, keepdims=builtins.bool(keepdims)))


def argmin(
    a: Array, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None
) -> Array:
    """The position of the first minimum; of the first NaN if there is one."""
    refuse_in_place("argmin", out)
    if dtypes.dtype_of(as_array(a)).kind == "complex":
        return _complex_position(min, a, axis, builtins.bool(keepdims))
    return as_index(na.argmin(_counted(a), axis=axis, keepdims=builtins.bool(keepdims)))


def _complex_position(function: Any, a: Array, axis: int | None, keepdims: builtins.bool) -> Array:
    """The position of the first extremum by the real, then by the imaginary parts."""
    best = na.isnan(a)
    is_missing = any(best, axis, keepdims=True)
    real, imag = na.real(a), na.imag(a)
    chosen = na.equal(real, function(real, axis, keepdims=True))
    worst = limit(dtypes.dtype_of(imag), -1 if function is max else 1)
    parts = na.where(chosen, imag, na.full_like(imag, worst))
    chosen = na.logical_and(chosen, na.equal(parts, function(parts, axis, keepdims=True)))
    return argmax(na.where(is_missing, best, chosen), axis, keepdims=keepdims)


def _complex_extreme(function: Any, a: Array, axis: Axis, keepdims: builtins.bool) -> Array:
    """The first extremum by the real, then by the imaginary parts."""
    axes = axes_of(axis, len(na.shape(a)))
    kept = [i for i in range(len(na.shape(a))) if i not in axes]
    rows = na.permute_dims(a, (*kept, *axes))
    rows = na.reshape(rows, (*[na.shape(a)[i] for i in kept], -1))
    places = _complex_position(function, rows, -1, True)
    found = na.squeeze(na.take_along_axis(rows, places, axis=-1), axis=-1)
    return na.expand_dims(found, axes) if keepdims else found


def _counted(x: Any) -> Array:
    x = as_array(x)
    return na.astype(x, as_dtype(int)) if dtypes.dtype_of(x) is dtypes.bool else x


# -- means ---------------------------------------------------------------------------------------


def mean(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    *,
    where: Array | None = None,
) -> Array:
    """The arithmetic mean; of integers as float32."""
    refuse_in_place("mean", out)
    a = inexact(a) if dtype is None else cast(a, dtype)
    if where is None:
        return na.mean(a, axis=_axis(axis), keepdims=keepdims)
    total = sum(a, axis, keepdims=keepdims, where=where)
    return na.divide(total, cast(_count(a, axis, where, keepdims), dtypes.dtype_of(total)))


def _count(x: Array, axis: Axis, where: Array, keepdims: builtins.bool) -> Array:
    return sum(na.broadcast_to(where, na.shape(x)), axis, keepdims=keepdims)


def var(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: builtins.bool = False,
    *,
    where: Array | None = None,
    mean: Array | None = None,
    correction: Any = None,
) -> Array:
    """The variance Σ |x − mean|² / (n − ddof)."""
    refuse_in_place("var", out)
    correction = ddof if correction is None else correction
    a = inexact(a)
    result = real_dtype(dtypes.dtype_of(a)) if dtype is None else as_dtype(dtype)
    if dtype is not None and (dtypes.dtype_of(a).kind != "complex" or result.kind == "complex"):
        a = cast(a, result)
    if where is None and mean is None:
        found = na.var(a, axis=_axis(axis), correction=correction, keepdims=keepdims)
        return cast(found, real_dtype(result))
    center = _mean(a, axis=axis, keepdims=True, where=where) if mean is None else mean
    squares = na.square(na.abs(na.subtract(a, center)))
    where = na.ones_like(squares, dtype=dtypes.bool) if where is None else where
    count = na.subtract(_count(squares, axis, where, keepdims), correction)
    total = sum(squares, axis, keepdims=keepdims, where=where)
    found = na.divide(total, cast(count, dtypes.dtype_of(total)))
    is_defined = na.greater(count, 0)
    return cast(na.where(is_defined, found, na.full_like(found, math.nan)), real_dtype(result))


_mean = mean


def std(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: builtins.bool = False,
    *,
    where: Array | None = None,
    mean: Array | None = None,
    correction: Any = None,
) -> Array:
    """The standard deviation, √ of `var`."""
    refuse_in_place("std", out)
    return na.sqrt(
        var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    )


# -- without NaN ---------------------------------------------------------------------------------


def _numbers(a: Any, value: Any) -> tuple[Array, Array]:
    """(`a` with a value in place of NaN, where `a` is NaN)."""
    a = as_array(a)
    is_missing = na.isnan(a)
    return na.where(is_missing, na.full_like(a, value), a), is_missing


def nansum(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Array | None = None,
) -> Array:
    """The sum of the elements that are not NaN."""
    refuse_in_place("nansum", out)
    return sum(_numbers(a, 0)[0], axis, dtype, None, keepdims, initial, where)


def nanprod(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Array | None = None,
) -> Array:
    """The product of the elements that are not NaN."""
    refuse_in_place("nanprod", out)
    return prod(_numbers(a, 1)[0], axis, dtype, None, keepdims, initial, where)


def nancumsum(
    a: Array, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
) -> Array:
    """Cumulative sums, with NaN as 0."""
    refuse_in_place("nancumsum", out)
    return cumsum(_numbers(a, 0)[0], axis, dtype)


def nancumprod(
    a: Array, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
) -> Array:
    """Cumulative products, with NaN as 1."""
    refuse_in_place("nancumprod", out)
    return cumprod(_numbers(a, 1)[0], axis, dtype)


def nanmax(
    a: Array,
    axis: Axis = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Array | None = None,
) -> Array:
    """The maximum of the elements that are not NaN; NaN if all are."""
    refuse_in_place("nanmax", out)
    return _nan_extreme(max, -1, a, axis, keepdims, initial, where)


def nanmin(
    a: Array,
    axis: Axis = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: Any = None,
    where: Array | None = None,
) -> Array:
    """The minimum of the elements that are not NaN; NaN if all are."""
    refuse_in_place("nanmin", out)
    return _nan_extreme(min, 1, a, axis, keepdims, initial, where)


def _nan_extreme(
    function: Any,
    sign: int,
    a: Any,
    axis: Axis,
    keepdims: builtins.bool,
    initial: Any,
    where: Array | None,
) -> Array:
    a = as_array(a)
    if not dtypes.dtype_of(a).is_inexact:
        return function(a, axis, None, keepdims, initial, where)
    numbers, is_missing = _numbers(a, math.copysign(math.inf, sign))
    found = function(numbers, axis, None, keepdims, initial, where)
    if initial is not None:
        return found
    return na.where(all(is_missing, axis, keepdims=keepdims), na.full_like(found, math.nan), found)


def nanargmax(
    a: Array, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None
) -> Array:
    """The position of the maximum of the elements that are not NaN; −1 if all are."""
    refuse_in_place("nanargmax", out)
    return _nan_position(argmax, -1, a, axis, builtins.bool(keepdims))


def nanargmin(
    a: Array, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None
) -> Array:
    """The position of the minimum of the elements that are not NaN; −1 if all are."""
    refuse_in_place("nanargmin", out)
    return _nan_position(argmin, 1, a, axis, builtins.bool(keepdims))


def _nan_position(
    function: Any, sign: int, a: Any, axis: int | None, keepdims: builtins.bool
) -> Array:
    a = as_array(a)
    if not dtypes.dtype_of(a).is_inexact:
        return function(a, axis, None, keepdims)
    numbers, is_missing = _numbers(a, math.copysign(math.inf, sign))
    found = function(numbers, axis, None, keepdims)
    return na.where(all(is_missing, axis, keepdims=keepdims), na.full_like(found, -1), found)


def nanmean(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    where: Array | None = None,
) -> Array:
    """The mean of the elements that are not NaN."""
    refuse_in_place("nanmean", out)
    a = inexact(a) if dtype is None else cast(a, dtype)
    return mean(_numbers(a, 0)[0], axis, keepdims=keepdims, where=_present(a, where))


def _present(a: Array, where: Array | None) -> Array:
    is_number = na.logical_not(na.isnan(a))
    return is_number if where is None else na.logical_and(is_number, where)


def nanvar(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: builtins.bool = False,
    where: Array | None = None,
    mean: Array | None = None,
) -> Array:
    """The variance of the elements that are not NaN."""
    refuse_in_place("nanvar", out)
    a = inexact(a)
    is_present = _present(a, where)
    numbers = _numbers(a, 0)[0]
    return var(numbers, axis, dtype, None, ddof, keepdims, where=is_present, mean=mean)


def nanstd(
    a: Array,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: builtins.bool = False,
    where: Array | None = None,
    mean: Array | None = None,
) -> Array:
    """The standard deviation of the elements that are not NaN."""
    refuse_in_place("nanstd", out)
    return na.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where, mean))
