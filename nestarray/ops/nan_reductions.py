"""Reductions that ignore NaN.

Integers and bools use the plain reduction. For a slice of NaN only, the sum is 0, the product 1,
an index −1, and every other result NaN. The gradient at a NaN is 0.
"""

from __future__ import annotations

from nestarray import ops
from nestarray.backends.base import mean_dtype
from nestarray.backends.checks.shapes import check_elements
from nestarray.backends.precision import rounded_once
from nestarray.dispatch import Trait, floating_op, op
from nestarray.dtypes import complex128, dtype_of, float32, float64
from nestarray.ops.order_statistics import (
    between,
    check_method,
    in_front,
    in_rows,
    of_weights,
    shares,
)
from nestarray.ops.statistical import each_weight
from nestarray.typing import Array, Axis, DTypeLike, check_range

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
]


def _with(x: Array, value: float) -> Array:
    """`x` with `value` in place of NaN."""
    return ops.where(ops.isnan(x), value, x)


@op
def nansum(
    x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Array:
    """The sum of the elements other than NaN; 0 for an empty slice.

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        dtype: as for `sum`.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of the result of `sum`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nansum(np.asarray([[1.0, np.nan], [3.0, 4.0]]), axis=1)
        array([1., 7.])
    """
    x = _with(x, 0.0) if dtype_of(x).is_inexact else x
    return ops.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


@op
def nanprod(
    x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Array:
    """The product of the elements other than NaN; 1 for an empty slice.

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        dtype: as for `prod`.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of the result of `prod`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanprod(np.asarray([[2.0, np.nan], [3.0, 4.0]]), axis=1)
        array([ 2., 12.])
    """
    x = _with(x, 1.0) if dtype_of(x).is_inexact else x
    return ops.prod(x, axis=axis, dtype=dtype, keepdims=keepdims)


@op
@rounded_once
def nanmean(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The mean of the elements other than NaN; NaN for an empty slice.

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of `x`; float32 for integers and bools.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanmean(np.asarray([[1.0, np.nan], [3.0, 4.0]]), axis=1)
        array([1. , 3.5])
    """
    if not dtype_of(x).is_inexact:
        return ops.mean(x, axis=axis, keepdims=keepdims)
    total = ops.sum(_with(x, 0.0), axis=axis, keepdims=keepdims)
    return _shared_out(total, _count(x, axis, keepdims), x)


@op
@rounded_once
def nanvar(
    x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """The variance of the elements other than NaN; NaN where n − correction is not positive.

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        correction: subtracted from the number n of elements other than NaN, as for `var`.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        real array of the precision of `x`; float32 for integers and bools.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanvar(np.asarray([[1.0, 2.0, np.nan, 3.0]]), axis=1, correction=1)
        array([1.])
    """
    x = ops.astype(x, mean_dtype(x), copy=False)
    mean = ops.nanmean(x, axis=axis, keepdims=True)
    is_nan = ops.isnan(x)
    # Replaced twice: NaN in the unselected branch would make the derivative of abs NaN.
    deviation = ops.abs(ops.where(is_nan, 0.0, ops.subtract(_with(x, 0.0), _with(mean, 0.0))))
    total = ops.sum(ops.multiply(deviation, deviation), axis=axis, keepdims=keepdims)
    return _shared_out(total, ops.subtract(_count(x, axis, keepdims), correction), total)


@op
@rounded_once
def nanstd(
    x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """The standard deviation of the elements other than NaN, the square root of `nanvar`.

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        correction: as for `nanvar`.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        real array of the precision of `x`; float32 for integers and bools.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanstd(np.asarray([1.0, 2.0, np.nan, 3.0]), correction=1)
        np.float64(1.0)
    """
    return ops.sqrt(ops.nanvar(x, axis=axis, correction=correction, keepdims=keepdims))


def _count(x: Array, axis: Axis, keepdims: bool) -> Array:
    """The number of elements other than NaN, in a floating dtype that represents it exactly."""
    counts = ops.sum(ops.bitwise_invert(ops.isnan(x)), axis=axis, keepdims=keepdims)
    is_wide = dtype_of(x) in (float64, complex128)
    return ops.astype(counts, float64 if is_wide else float32)


def _shared_out(total: Array, count: Array, x: Array) -> Array:
    """total / count in the dtype of `x`; NaN where the count is 0."""
    is_some = ops.greater(count, 0.0)
    divisor = ops.astype(ops.where(is_some, count, 1.0), x.dtype)
    return ops.where(is_some, ops.divide(total, divisor), float("nan"))


@op
def nanmax(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The largest element other than NaN; NaN if all are NaN.

    Args:
        x: real or bool.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of `x`. Equal extrema share the gradient evenly.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanmax(np.asarray([[1.0, np.nan], [3.0, 4.0]]), axis=1)
        array([1., 4.])
    """
    if not dtype_of(x).is_inexact:
        return ops.max(x, axis=axis, keepdims=keepdims)
    greatest = ops.max(_with(x, -float("inf")), axis=axis, keepdims=keepdims)
    no_number = ops.all(ops.isnan(x), axis=axis, keepdims=keepdims)
    return ops.where(no_number, float("nan"), greatest)


@op
def nanmin(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The smallest element other than NaN; NaN if all are NaN.

    Args:
        x: real or bool.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of `x`. Equal extrema share the gradient evenly.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanmin(np.asarray([[1.0, np.nan], [3.0, 4.0]]), axis=1)
        array([1., 3.])
    """
    if not dtype_of(x).is_inexact:
        return ops.min(x, axis=axis, keepdims=keepdims)
    least = ops.min(_with(x, float("inf")), axis=axis, keepdims=keepdims)
    no_number = ops.all(ops.isnan(x), axis=axis, keepdims=keepdims)
    return ops.where(no_number, float("nan"), least)


@op(traits=Trait.CONSTANT)
def nanargmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The first index of the largest element other than NaN; −1 if all are NaN.

    Args:
        x: real.
        axis: the axis to search along; None means the flattened array.
        keepdims: keep the searched axes, with length 1.

    Returns:
        integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanargmax(np.asarray([[np.nan, 3.0], [4.0, np.nan]]), axis=1)
        array([1, 0])
    """
    if not dtype_of(x).is_inexact:
        return ops.argmax(x, axis=axis, keepdims=keepdims)
    return _place_of(x, ops.nanmax(x, axis=axis, keepdims=True), axis, keepdims)


@op(traits=Trait.CONSTANT)
def nanargmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The first index of the smallest element other than NaN; −1 if all are NaN.

    Args:
        x: real.
        axis: the axis to search along; None means the flattened array.
        keepdims: keep the searched axes, with length 1.

    Returns:
        integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanargmin(np.asarray([[np.nan, 3.0], [4.0, np.nan]]), axis=1)
        array([1, 0])
    """
    if not dtype_of(x).is_inexact:
        return ops.argmin(x, axis=axis, keepdims=keepdims)
    return _place_of(x, ops.nanmin(x, axis=axis, keepdims=True), axis, keepdims)


def _place_of(x: Array, value: Array, axis: int | None, keepdims: bool) -> Array:
    """The first position of `value`, which NaN does not equal."""
    found = ops.equal(x, value)  # replacing NaN by ∞ would not distinguish it from ∞
    place = ops.argmax(ops.astype(found, "int8"), axis=axis, keepdims=keepdims)
    return ops.where(ops.any(found, axis=axis, keepdims=keepdims), place, -1)


@op
def nanmedian(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The median of the elements other than NaN; NaN if all are NaN.

    Args:
        x: real.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of `x`; float32 for integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanmedian(np.asarray([[3.0, 1.0, np.nan, 9.0]]), axis=1)
        array([3.])
    """
    check_elements("nanmedian", {"x": x, "axis": axis})
    return ops.nanquantile(x, 0.5, axis=axis, keepdims=keepdims)


@floating_op(not_promoted=("q", "weights"))
def nanquantile(
    x: Array,
    q: float | Array,
    /,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array | None = None,
) -> Array:
    """The quantile `q` of the elements other than NaN; NaN if all are NaN.

    Args:
        x: real.
        q: the probability, from 0 to 1, or an array; elements outside give NaN.
        axis: the axis to reduce, or several; None means all.
        method: as for `quantile`.
        keepdims: keep the reduced axes, with length 1.
        weights: as for `quantile`; the weight of a NaN counts as 0.

    Returns:
        array with the axes of `q` first; of the dtype of `x`, float32 for integers.

    Raises:
        ArgumentError: `method` is unknown (see `quantile`) or does not support weights; `q` is a
            number out of range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanquantile(np.asarray([1.0, np.nan, 2.0]), np.asarray([0.5, 1.0]))
        array([1.5, 2. ])
    """
    check_method(method, "nanquantile", weights)
    check_elements("nanquantile", {"x": x, "axis": axis})
    flat, rest, kept = in_rows(x, axis, "nanquantile")
    share, is_share = shares("nanquantile", q, x)
    if weights is not None:
        rows, *_ = in_rows(each_weight(x, weights, axis, "nanquantile"), axis, "nanquantile")
        rows = ops.where(ops.isnan(flat), 0.0, ops.astype(rows, share.dtype))
        return in_front(of_weights(flat, rows, share), share, is_share, kept if keepdims else rest)
    ordered = ops.sort(flat, axis=-1)  # NaN is sorted to the end
    count = ops.astype(_count(ordered, -1, True), share.dtype)

    def at(where: Array) -> Array:
        return ops.take_along_axis(ordered, ops.astype(where, "int64"), axis=-1)

    result = between(at, ops.reshape(share, (-1,)), count, method, x.dtype)
    return in_front(result, share, is_share, kept if keepdims else rest)


@floating_op(not_promoted=("q", "weights"))
def nanpercentile(
    x: Array,
    q: float | Array,
    /,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array | None = None,
) -> Array:
    """The percentile `q` of the elements other than NaN; NaN if all are NaN.

    Args:
        x: real.
        q: from 0 to 100, or an array; elements outside give NaN.
        axis: the axis to reduce, or several; None means all.
        method: as for `quantile`.
        keepdims: keep the reduced axes, with length 1.
        weights: as for `quantile`; the weight of a NaN counts as 0.

    Returns:
        array with the axes of `q` first; of the dtype of `x`, float32 for integers.

    Raises:
        ArgumentError: `method` is unknown (see `quantile`) or does not support weights; `q` is a
            number out of range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nanpercentile(np.asarray([1.0, np.nan, 2.0]), np.asarray([50.0, 100.0]))
        array([1.5, 2. ])
    """
    check_method(method, "nanpercentile", weights)
    check_range("nanpercentile", "q", q, 0, 100)
    share = ops.divide(q, 100.0) if hasattr(q, "dtype") else q / 100.0
    return ops.nanquantile(x, share, axis=axis, method=method, keepdims=keepdims, weights=weights)


@op
def nancumsum(x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """The cumulative sum with NaN counted as 0, Σⱼ≤ᵢ xⱼ.

    Args:
        x: any number.
        axis: the axis to sum along; None takes the elements of all axes in order.
        dtype: of the sums; as for `cumulative_sum`.

    Returns:
        array of the shape of `x`; a vector if `axis` is None.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nancumsum(np.asarray([1.0, np.nan, 2.0]))
        array([1., 1., 3.])
    """
    if axis is None:
        x, axis = ops.flatten(x), 0
    known = _with(x, 0) if dtype_of(x).is_inexact else x
    return ops.cumulative_sum(known, axis=axis, dtype=dtype)


@op
def nancumprod(x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """The cumulative product with NaN counted as 1, Πⱼ≤ᵢ xⱼ.

    Args:
        x: any number.
        axis: the axis to multiply along; None takes the elements of all axes in order.
        dtype: of the products; as for `cumulative_prod`.

    Returns:
        array of the shape of `x`; a vector if `axis` is None.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nancumprod(np.asarray([2.0, np.nan, 4.0]))
        array([2., 2., 8.])
    """
    if axis is None:
        x, axis = ops.flatten(x), 0
    known = _with(x, 1) if dtype_of(x).is_inexact else x
    return ops.cumulative_prod(known, axis=axis, dtype=dtype)
