"""What the order of elements says: median, quantiles, the range, the most common one."""

from __future__ import annotations

from collections.abc import Callable

from nestarray.backends.axes import many_axes, one_axis
from nestarray.backends.base import mean_dtype
from nestarray.backends.results import ModeResult
from nestarray.dispatch import op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array, Axis

__all__ = ["median", "mode", "percentile", "ptp", "quantile"]


@op
def median(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The middle element of the sorted ones, or the mean of the two in the middle.

    Args:
        x: real; with a NaN the median is NaN.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of `x`; of integers float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.median(np.asarray([[3.0, 1.0, 2.0, 9.0]]), axis=1)
        array([2.5])
    """
    from nestarray import ops

    return ops.quantile(x, 0.5, axis=axis, keepdims=keepdims)


QUANTILE_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


@op
def quantile(
    x: Array,
    q: float | Array,
    /,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """The element below which the share `q` of the elements lies.

    Args:
        x: real; with a NaN the quantile is NaN.
        q: the share, from 0 to 1, or an array of shares.
        axis: the axis to reduce, or several; None means all.
        method: what to do where q · (n − 1) lies between two positions: ``"linear"``,
            ``"lower"``, ``"higher"``, ``"midpoint"`` or ``"nearest"`` (the even one of two).
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array with the axes of `q` in front; of the dtype of `x`, of integers float32.

    Raises:
        ArgumentError: `method` is none of these.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.quantile(np.asarray([1.0, 2.0, 3.0, 5.0]), np.asarray([0.5, 1.0]))
        array([2.5, 5. ])
    """
    from nestarray import ops

    check_method(method, "quantile")
    x = ops.astype(x, mean_dtype(x), copy=False)
    shape = ops.shape(x)
    axes = many_axes(axis, len(shape), "quantile")
    others = [i for i in range(len(shape)) if i not in axes]
    rest = tuple(shape[i] for i in others)
    flat = ops.reshape(ops.permute_dims(x, (*others, *axes)), (*rest, -1))
    ordered = ops.sort(flat, axis=-1)
    count = ordered.shape[-1]
    share = (
        ops.astype(q, x.dtype) if hasattr(q, "dtype") else ops.full((), q, dtype=x.dtype, like=x)
    )
    place = ops.multiply(share, float(count - 1))

    def at(where: Array) -> Array:
        return ops.take(ordered, ops.astype(where, "int64"), axis=-1)

    result = between(at, place, method)  # rest, then the axes of q
    last = ops.take(ordered, ops.full(tuple(share.shape), -1, dtype="int64", like=x), axis=-1)
    result = ops.where(ops.isnan(last), last, result)  # NaN is sorted to the end
    ndim, of_share = len(rest) + len(share.shape), len(share.shape)
    result = ops.permute_dims(result, (*range(len(rest), ndim), *range(len(rest))))
    if not keepdims:
        return result
    kept = [1 if i in axes else length for i, length in enumerate(shape)]
    return ops.reshape(result, (*ops.shape(result)[:of_share], *kept))


def check_method(method: str, name: str) -> None:
    """Raise if `method` is no way to choose between two neighbours.

    Raises:
        ArgumentError: it is none.
    """
    if method not in QUANTILE_METHODS:
        raise ArgumentError(
            f"{name}: method: got {method!r}, expected one of {', '.join(QUANTILE_METHODS)}"
        )


def between(at: Callable[[Array], Array], place: Array, method: str) -> Array:
    """What `at` gives for real places, where it knows whole ones only."""
    from nestarray import ops

    if method == "nearest":
        return at(ops.round(place))
    low, high = ops.floor(place), ops.ceil(place)
    if method != "linear":
        if method == "midpoint":
            return ops.multiply(ops.add(at(low), at(high)), 0.5)
        return at(low if method == "lower" else high)
    weight, below, above = ops.subtract(place, low), at(low), at(high)
    step = ops.multiply(ops.subtract(above, below), weight)
    # At a place that is whole the element itself: the step may be ∞ − ∞.
    return ops.add(below, ops.where(ops.equal(below, above), 0.0, step))


@op
def percentile(
    x: Array,
    q: float | Array,
    /,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """The element below which `q` percent of the elements lie: `quantile` of q / 100.

    Args:
        x: real; with a NaN the percentile is NaN.
        q: from 0 to 100, or an array of such numbers.
        axis: the axis to reduce, or several; None means all.
        method: as for `quantile`.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array with the axes of `q` in front; of the dtype of `x`, of integers float32.

    Raises:
        ArgumentError: `method` is none of those of `quantile`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.percentile(np.asarray([1.0, 2.0, 3.0, 5.0]), np.asarray([50.0, 100.0]))
        array([2.5, 5. ])
    """
    from nestarray import ops

    check_method(method, "percentile")
    share = ops.divide(q, 100.0) if hasattr(q, "dtype") else q / 100.0
    return ops.quantile(x, share, axis=axis, method=method, keepdims=keepdims)


@op
def ptp(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The range from the least to the greatest element, maxᵢ xᵢ − minᵢ xᵢ.

    Args:
        x: real; with a NaN the range is NaN. That of signed integers may overflow.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ptp(np.asarray([[1.0, 4.0], [3.0, 2.0]]), axis=1)
        array([3., 1.])
    """
    from nestarray import ops

    greatest = ops.max(x, axis=axis, keepdims=keepdims)
    return ops.subtract(greatest, ops.min(x, axis=axis, keepdims=keepdims))


@op
def mode(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> ModeResult:
    """The most common element, of several the least, and how often it comes.

    Args:
        x: real or bool, of at least one element. Each NaN is distinct from all others.
        axis: the axis to reduce; None flattens first.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        a named tuple: ``values``, of the dtype of `x`; ``counts``, integers.

    Raises:
        ShapeError: there is no element to choose.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.mode(np.asarray([[3, 1, 3], [2, 1, 2]]), axis=1)
        ModeResult(values=array([3, 2]), counts=array([2, 2]))

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.mode.html
    """
    from nestarray import ops

    ndim = len(x.shape)
    flat = axis is None
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    axis = one_axis(axis, len(x.shape), "mode")
    length = x.shape[axis]
    if length == 0:
        raise ShapeError(
            f"mode: x: got the shape {tuple(x.shape)} and axis {axis}, expected at least one element"
        )
    ordered = ops.sort(x, axis=axis)
    before = (slice(None),) * axis
    later = ops.getitem(ordered, (*before, slice(1, None)))
    changes = ops.not_equal(later, ops.getitem(ordered, (*before, slice(None, -1))))
    first = ops.zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]), dtype="bool", like=x)
    changes = ops.concat([first, changes], axis=axis)
    column = (length,) + (1,) * (len(x.shape) - 1 - axis)
    place = ops.reshape(ops.arange(length, dtype="int64", like=x), column)
    start = ops.cummax(ops.where(changes, place, 0), axis=axis)  # of the run of equal elements
    run = ops.add(ops.subtract(place, start), 1)
    last = ops.argmax(run, axis=axis, keepdims=True)  # the first of the longest: the least element
    values = ops.take_along_axis(ordered, last, axis=axis)
    counts = ops.take_along_axis(run, last, axis=axis)
    if flat and keepdims:
        values, counts = (ops.reshape(part, (1,) * ndim) for part in (values, counts))
    elif not keepdims:
        values, counts = ops.squeeze(values, axis), ops.squeeze(counts, axis)
    return ModeResult(values, counts)
