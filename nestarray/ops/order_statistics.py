"""Order statistics: median, quantiles, range and mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import ops
from nestarray.dispatch import floating_op, op
from nestarray.dtypes import dtype_of, float32, float64
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.numerics.results import ModeResult
from nestarray.ops.statistical import each_weight
from nestarray.typing import Array, Axis, check_range

__all__ = ["median", "mode", "percentile", "ptp", "quantile"]


@op
def median(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The median: the middle element in sorted order, or the mean of the two middle elements.

    Args:
        x: real; with a NaN the median is NaN.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of `x`; float32 for integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.median(np.asarray([[3.0, 1.0, 2.0, 9.0]]), axis=1)
        array([2.5])
    """
    return ops.quantile(x, 0.5, axis=axis, keepdims=keepdims)


#: (α, β) of the methods that interpolate linearly, at the position q · (n + 1 − α − β) + α counted
#: from 1; the other methods select elements.
_LINEAR = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
QUANTILE_METHODS = (
    *("linear", "lower", "higher", "midpoint", "nearest"),
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation"),
    *(name for name in _LINEAR if name != "linear"),
)


@floating_op(not_promoted=("q", "weights"))
def quantile(
    x: Array,
    q: float | Array,
    /,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array | None = None,
) -> Array:
    """The quantile: the value below which the fraction `q` of the elements, or of their weights, lies.

    Args:
        x: real; with a NaN the quantile is NaN.
        q: the share, from 0 to 1, or an array of shares; of one outside the quantile is NaN.
        axis: the axis to reduce, or several; None means all.
        method: the interpolation if q · (n − 1) is not an integer: ``"linear"``, ``"lower"``,
            ``"higher"``, ``"midpoint"`` or ``"nearest"`` (ties to even); or one of the definitions
            of Hyndman and Fan, by NumPy's names: ``"inverted_cdf"``,
            ``"averaged_inverted_cdf"``, ``"closest_observation"``,
            ``"interpolated_inverted_cdf"``, ``"hazen"``, ``"weibull"``, ``"median_unbiased"``
            and ``"normal_unbiased"``.
        keepdims: keep the reduced axes, with length 1.
        weights: not negative; array that broadcasts to `x`, or one weight for each index of the
            reduced axis; with ``"inverted_cdf"`` only. None gives equal weights.

    Returns:
        array with the axes of `q` in front; of the dtype of `x`, float32 for integers.

    Raises:
        ArgumentError: `method` is unknown, or does not support `weights`; `q` is a number out of
            range.
        ShapeError: the weights match neither `x` nor the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.quantile(np.asarray([1.0, 2.0, 3.0, 5.0]), np.asarray([0.5, 1.0]))
        array([2.5, 5. ])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.quantile.html
    """
    check_method(method, "quantile", weights)
    flat, rest, kept = in_rows(x, axis, "quantile")
    share, is_share = shares("quantile", q, x)
    if weights is not None:
        rows, *_ = in_rows(each_weight(x, weights, axis, "quantile"), axis, "quantile")
        result = of_weights(flat, rows, share)
        last = ops.getitem(ops.sort(flat, axis=-1), (..., slice(-1, None)))
        result = ops.where(ops.isnan(last), last, result)
        return in_front(result, share, is_share, kept if keepdims else rest)
    ordered = ops.sort(flat, axis=-1)

    def at(where: Array) -> Array:
        return ops.take(ordered, ops.astype(where, "int64"), axis=-1)

    count = _number(ops.shape(ordered)[-1], share)
    result = between(at, ops.reshape(share, (-1,)), count, method, x.dtype)
    last = ops.getitem(ordered, (..., slice(-1, None)))
    result = ops.where(ops.isnan(last), last, result)  # NaN is sorted to the end
    return in_front(result, share, is_share, kept if keepdims else rest)


def _number(size: int, like: Array) -> float | Array:
    """A size as a number, or of an open one as an array of the dtype of `like`."""
    if isinstance(size, int):
        return float(size)
    return ops.astype(ops.multiply(ops.ones((), dtype="int64", like=like), size), like.dtype)


def check_method(method: str, name: str, weights: Array | None = None) -> None:
    """Raise if `method` is unknown, or does not support weights.

    Raises:
        ArgumentError: it is none.
    """
    if method not in QUANTILE_METHODS:
        raise ArgumentError(
            f"{name}: method: got {method!r}, expected one of {', '.join(QUANTILE_METHODS)}"
        )
    if weights is not None and method != "inverted_cdf":
        raise ArgumentError(
            f"{name}: method: got {method!r} with weights, expected 'inverted_cdf', the one that "
            "takes them"
        )


def in_rows(x: Array, axis: Axis, name: str) -> tuple[Array, tuple[int, ...], tuple[int, ...]]:
    """`x` with the reduced axes as one, the last; the other lengths; and all, with 1 for the reduced."""
    shape = ops.shape(x)
    axes = many_axes(axis, len(shape), name)
    others = [i for i in range(len(shape)) if i not in axes]
    rest = tuple(shape[i] for i in others)
    kept = tuple(1 if i in axes else length for i, length in enumerate(shape))
    rows = ops.permute_dims(x, (*others, *axes))
    if len(axes) != 1:
        # -1 cannot be inferred for an empty array
        count = math.prod([shape[i] for i in axes]) if 0 in tuple(x.shape) else -1
        rows = ops.reshape(rows, (*rest, count))
    return rows, rest, kept


def shares(name: str, q: float | Array, x: Array) -> tuple[Array, Array | None]:
    """`q` in float32 or float64, which can represent the number of elements of `x`.

    Elements outside [0, 1] become 0, and the second array is False there; it is None for a number.

    Raises:
        ArgumentError: `q` is a number outside [0, 1].
    """
    dtype = float64 if dtype_of(x) is float64 else float32
    q = q.item() if isinstance(q, np.generic) else q
    check_range(name, "q", q, 0, 1)
    if not hasattr(q, "dtype"):
        return ops.full((), q, dtype=dtype, like=x), None
    is_share = ops.logical_and(ops.greater_equal(q, 0), ops.less_equal(q, 1))
    return ops.where(is_share, ops.astype(q, dtype), 0.0), is_share


def in_front(result: Array, share: Array, is_share: Array | None, rest: tuple[int, ...]) -> Array:
    """Quantiles whose last axis is the shares, with the axes of these in front of `rest`."""
    if is_share is not None:
        result = ops.where(ops.reshape(is_share, (-1,)), result, math.nan)
    return ops.reshape(ops.moveaxis(result, -1, 0), (*ops.shape(share), *rest))


def between(
    at: Callable[[Array], Array], share: Array, count: float | Array, method: str, dtype: Any
) -> Array:
    """The quantiles of rows of `count` elements each.

    Args:
        at: gives the elements at whole places, numbers of the dtype of `share`.
        share: `(q,)`.
        count: a number, or `(*rest, 1)`.
        method: one of `QUANTILE_METHODS`.
        dtype: of the elements.
    """
    last = ops.maximum(ops.subtract(count, 1.0), 0.0) if hasattr(count, "dtype") else count - 1.0

    def place(alpha: float, beta: float) -> Array:
        steps = ops.multiply(share, count + (1.0 - alpha - beta))
        return ops.clip(ops.add(steps, alpha - 1.0), 0.0, last)

    if method in ("inverted_cdf", "averaged_inverted_cdf", "closest_observation"):
        steps = ops.multiply(share, count)
        if method == "closest_observation":
            # halves round to an even order statistic, counted from 1
            return at(ops.clip(ops.subtract(ops.round(steps), 1.0), 0.0, last))
        above = at(ops.clip(ops.subtract(ops.ceil(steps), 1.0), 0.0, last))
        if method == "inverted_cdf":
            return above
        return ops.multiply(ops.add(above, at(ops.clip(ops.floor(steps), 0.0, last))), 0.5)
    where = (
        place(*_LINEAR[method])
        if method in _LINEAR and method != "linear"
        else ops.multiply(share, last)
    )
    if method == "nearest":
        return at(ops.round(where))
    low, high = ops.floor(where), ops.ceil(where)
    if method in ("lower", "higher"):
        return at(low if method == "lower" else high)
    if method == "midpoint":
        return ops.multiply(ops.add(at(low), at(high)), 0.5)
    below, above = at(low), at(high)
    weight = ops.astype(ops.subtract(where, low), dtype)
    step = ops.multiply(ops.subtract(above, below), weight)
    # At an integer position the element itself, because the step may be ∞ − ∞.
    return ops.add(below, ops.where(ops.equal(below, above), 0.0, step))


def of_weights(rows: Array, weights: Array, share: Array) -> Array:
    """The first element in order up to which the share of the weights is `share`, `(*rest, q)`."""
    order = ops.argsort(rows, axis=-1)
    ordered = ops.take_along_axis(rows, order, axis=-1)
    weights = ops.take_along_axis(ops.astype(weights, share.dtype), order, axis=-1)
    total = ops.cumulative_sum(weights, axis=len(ops.shape(weights)) - 1)
    whole = ops.getitem(total, (..., slice(-1, None)))
    total = ops.divide(total, ops.where(ops.equal(whole, 0), 1.0, whole))
    # elements before the first positive weight are never a quantile, not even for q = 0
    total = ops.where(ops.equal(total, 0), -1.0, total)
    wanted = ops.reshape(share, (-1, 1))
    places = ops.count_nonzero(ops.less(ops.expand_dims(total, -2), wanted), axis=-1)
    return ops.take_along_axis(ordered, ops.minimum(places, rows.shape[-1] - 1), axis=-1)


@floating_op(not_promoted=("q", "weights"))
def percentile(
    x: Array,
    q: float | Array,
    /,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: Array | None = None,
) -> Array:
    """The percentile: the value below which `q` percent of the elements lie, `quantile` of q / 100.

    Args:
        x: real; with a NaN the percentile is NaN.
        q: from 0 to 100, or an array of such numbers; of one outside the percentile is NaN.
        axis: the axis to reduce, or several; None means all.
        method: as for `quantile`.
        keepdims: keep the reduced axes, with length 1.
        weights: as for `quantile`.

    Returns:
        array with the axes of `q` in front; of the dtype of `x`, float32 for integers.

    Raises:
        ArgumentError: `method` is unknown (see `quantile`) or does not support weights; `q` is a
            number outside.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.percentile(np.asarray([1.0, 2.0, 3.0, 5.0]), np.asarray([50.0, 100.0]))
        array([2.5, 5. ])
    """
    check_method(method, "percentile", weights)
    check_range("percentile", "q", q, 0, 100)
    share = ops.divide(q, 100.0) if hasattr(q, "dtype") else q / 100.0
    return ops.quantile(x, share, axis=axis, method=method, keepdims=keepdims, weights=weights)


@op
def ptp(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The range, maxᵢ xᵢ − minᵢ xᵢ.

    Args:
        x: real; NaN gives NaN. The range of signed integers may overflow.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ptp(np.asarray([[1.0, 4.0], [3.0, 2.0]]), axis=1)
        array([3., 1.])
    """
    greatest = ops.max(x, axis=axis, keepdims=keepdims)
    return ops.subtract(greatest, ops.min(x, axis=axis, keepdims=keepdims))


@op
def mode(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> ModeResult:
    """The most frequent element (the smallest of several), and its count.

    Args:
        x: real or bool, of at least one element. Each NaN is distinct from all others.
        axis: the axis to reduce; None flattens first.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        a named tuple: ``values``, of the dtype of `x`; ``counts``, integers.

    Raises:
        ShapeError: `x` is empty along the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.mode(np.asarray([[3, 1, 3], [2, 1, 2]]), axis=1)
        ModeResult(values=array([3, 2]), counts=array([2, 2]))

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.mode.html
    """
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
    last = ops.argmax(
        run, axis=axis, keepdims=True
    )  # the first longest run has the smallest element
    values = ops.take_along_axis(ordered, last, axis=axis)
    counts = ops.take_along_axis(run, last, axis=axis)
    if flat and keepdims:
        values, counts = (ops.reshape(part, (1,) * ndim) for part in (values, counts))
    elif not keepdims:
        values, counts = ops.squeeze(values, axis), ops.squeeze(counts, axis)
    return ModeResult(values, counts)
