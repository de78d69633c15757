"""Selection and search of elements, and histograms."""

# pyright: reportReturnType=false
# a primitive has no body: the backends return
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.backends.base import mean_dtype
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, op, primitive
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.numerics.axes import one_axis
from nestarray.numerics.results import HistogramResult, TopKResult
from nestarray.numerics.windows import Ints
from nestarray.typing import Array, Axis, check_range

__all__ = [
    "argmax",
    "argmin",
    "argwhere",
    "bincount",
    "count_nonzero",
    "digitize",
    "histogram",
    "histogram2d",
    "histogramdd",
    "in_top_k",
    "nonzero",
    "searchsorted",
    "select",
    "top_k",
    "where",
]
TRAITS = Trait.HALF_SAFE


@primitive(traits=Trait.ELEMENTWISE | Trait.HALF_SAFE | Trait.LINEAR | Trait.NONNEGATIVE)
def where(condition: Array, x1: Array, x2: Array, /) -> Array:
    """x1 where `condition` is True, x2 where it is False.

    Both are computed, and the gradient of an unselected element is 0 · d: keep unselected values
    finite if gradients are needed.

    Args:
        condition: bool; all three broadcast against each other.
        x1: array or number; the dtypes of `x1` and `x2` promote.
        x2: array or number.

    Returns:
        array of the broadcast shape and the promoted dtype.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.where(np.asarray([True, False]), np.asarray([1.0, 2.0]), 0.0)
        array([1., 0.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.where.html
    """


@op
def select(
    conditions: Sequence[Array], choices: Sequence[Array], /, *, default: float = 0
) -> Array:
    """Select elementwise the choice of the first true condition.

    Args:
        conditions: bool arrays.
        choices: an array or number for each condition; the dtypes promote, and all broadcast.
        default: the value where all conditions are False.

    Returns:
        array of the broadcast shape and the promoted dtype.

    Raises:
        ArgumentError: the numbers of choices and conditions differ, or are 0.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.arange(5.0)
        >>> na.select([x < 1, x < 3], [x, x * 10], default=-1)
        array([ 0., 10., 20., -1., -1.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.select.html
    """
    if len(conditions) != len(choices) or not conditions:
        raise ArgumentError(
            f"select: got {len(conditions)} conditions and {len(choices)} choices, "
            "expected equally many of both, and at least one"
        )
    result: Any = default
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = ops.where(condition, choice, result)
    return result


@primitive(traits=Trait.HALF_SAFE | Trait.POSITIONS)
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The first index of the largest element, or of the first NaN.

    Args:
        x: real.
        axis: the axis to search along; None means the flattened array.
        keepdims: keep the searched axes, with length 1.

    Returns:
        integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.argmax(np.asarray([[1.0, 3.0], [4.0, 2.0]]), axis=1)
        array([1, 0])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.argmax.html
    """


@primitive(traits=Trait.HALF_SAFE | Trait.POSITIONS)
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The first index of the smallest element, or of the first NaN.

    Args:
        x: real.
        axis: the axis to search along; None means the flattened array.
        keepdims: keep the searched axes, with length 1.

    Returns:
        integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.argmin(np.asarray([[1.0, 3.0], [4.0, 2.0]]), axis=1)
        array([0, 1])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.argmin.html
    """


@op(traits=Trait.HALF_SAFE | Trait.CONSTANT)
def nonzero(x: Array, /, *, size: int | None = None, fill_value: Ints = 0) -> tuple[Array, ...]:
    """The indices of the nonzero elements, in C order.

    Their number depends on values; compiled code requires a `size`.

    Args:
        x: array of at least one dimension.
        size: the number of indices to return; None: all.
        fill_value: the padding if there are fewer than `size`; an integer, or one for each axis.

    Returns:
        one integer array `(n,)` or `(size,)` for each axis.

    Raises:
        ShapeError: `x` is a scalar.
        ArgumentError: `size` is negative, or `fill_value` does not have one element per axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nonzero(np.asarray([[0, 1], [2, 0]]))
        (array([0, 1]), array([1, 0]))
        >>> na.nonzero(np.asarray([0, 1, 2]), size=3, fill_value=-1)
        (array([ 1,  2, -1]),)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.nonzero.html
        https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nonzero.html
    """
    shape = ops.shape(x)
    if not shape:
        raise ShapeError("nonzero: x: got an array of shape (), expected at least one axis")
    fills = (fill_value,) * len(shape) if isinstance(fill_value, int) else tuple(fill_value)
    if len(fills) != len(shape):
        raise ArgumentError(
            f"nonzero: fill_value: got {fills}, expected an int or one for each of {len(shape)} axes"
        )
    size = int(ops.count_nonzero(x)) if size is None else size
    check_range("nonzero", "size", size, 0)
    if 0 in shape:
        return tuple(ops.full((size,), fill, dtype="int64", like=x) for fill in fills)
    counts = ops.cumulative_sum(ops.reshape(ops.astype(x, "bool"), (-1,)))
    wanted = ops.arange(1, size + 1, dtype=counts.dtype, like=x)
    found = ops.searchsorted(counts, wanted)  # the position of the n-th nonzero element
    is_there = ops.less_equal(wanted, ops.getitem(counts, -1))
    places = ops.unravel_index(ops.where(is_there, found, 0), shape)
    return tuple(ops.where(is_there, place, fill) for place, fill in zip(places, fills))


@op(traits=Trait.HALF_SAFE | Trait.CONSTANT)
def argwhere(x: Array, /, *, size: int | None = None, fill_value: Ints = 0) -> Array:
    """The indices of the nonzero elements, one in each row.

    Args:
        x: array of at least one dimension.
        size: as for `nonzero`; required in compiled code.
        fill_value: as for `nonzero`.

    Returns:
        `(n, axes)` or `(size, axes)`, integers: the arrays of `nonzero` as columns.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.argwhere(np.asarray([[0, 1], [2, 0]]))
        array([[0, 1],
               [1, 0]])
    """
    return ops.stack(ops.nonzero(x, size=size, fill_value=fill_value), axis=-1)


@op(traits=Trait.HALF_SAFE | Trait.POSITIONS)
def count_nonzero(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The number of nonzero elements.

    Args:
        x: array of any shape; NaN is not 0.
        axis: the axis to count along, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.count_nonzero(np.asarray([[0, 1], [2, 3]]), axis=1)
        array([1, 2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.count_nonzero.html
    """
    return ops.sum(ops.astype(x, "bool"), axis=axis, keepdims=keepdims)


@primitive(traits=Trait.HALF_SAFE | Trait.POSITIONS)
@through_numbers
def searchsorted(
    x1: Array, x2: Array, /, *, side: str = "left", sorter: Array | None = None
) -> Array:
    """The indices at which to insert the elements of `x2` into `x1` to keep it sorted.

    Args:
        x1: `(n,)`, real, ascending, or sorted by `sorter`.
        x2: array of any shape, or a number; the dtypes promote. NaN is largest, as in `sort`.
        side: ``"left"``: before equal elements, ``"right"``: after them.
        sorter: the indices that sort `x1`.

    Returns:
        integers from 0 to n, of the shape of `x2`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.searchsorted(np.asarray([1.0, 2.0, 4.0]), np.asarray([2.0, 3.0]))
        array([1, 2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.searchsorted.html
    """


@op(traits=Trait.HALF_SAFE | Trait.POSITIONS)
def digitize(x: Array, bins: Array, /, *, right: bool = False) -> Array:
    """The index of the bin of each element: bin i contains binsᵢ₋₁ ≤ x < binsᵢ.

    Args:
        x: real array of any shape, or a number.
        bins: `(n,)`, real, ascending; the dtypes promote.
        right: the bins contain their upper edges instead, binsᵢ₋₁ < x ≤ binsᵢ.

    Returns:
        integers of the shape of `x`: 0 before the first edge, n after the last.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.digitize(np.asarray([0.5, 1.0, 3.0]), np.asarray([1.0, 2.0]))
        array([0, 1, 2])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.digitize.html
    """
    return ops.searchsorted(bins, x, side="left" if right else "right")


@op
@through_numbers
def top_k(x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> TopKResult:
    """The `k` largest elements along an axis, in descending order, and their indices.

    Args:
        x: real, of at least one dimension; NaN is largest.
        k: the number of elements, at most the length of the axis.
        axis: the axis to search along.
        largest: False takes the smallest elements, in ascending order.

    Returns:
        a named tuple of ``values`` and ``indices``, of length `k` along `axis`. Of equal elements,
        the first are selected, in order.

    Raises:
        ShapeError: `k` is negative, or greater than the length of the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.top_k(np.asarray([3.0, 1.0, 4.0]), 2)
        TopKResult(values=array([4., 3.]), indices=array([2, 0]))
    """
    axis = one_axis(axis, len(x.shape), "top_k")
    if not 0 <= k <= x.shape[axis]:
        raise ShapeError(f"top_k: k: got {k}, expected 0 to {x.shape[axis]}, the axis' length")
    order = ops.argsort(x, axis=axis, descending=largest)
    indices = ops.getitem(order, (slice(None),) * axis + (slice(None, k),))
    return TopKResult(ops.take_along_axis(x, indices, axis=axis), indices)


@op
def in_top_k(targets: Array, scores: Array, /, *, k: int) -> Array:
    """Whether the score of the target class is among the k largest, including ties.

    Args:
        targets: `(*batch,)`, integers: classes.
        scores: `(*batch, classes)`, real.
        k: the number of scores.

    Returns:
        bools, `(*batch,)`; False for infinite and NaN scores, and for targets out of range.

    Raises:
        DtypeError: the targets are not integers.
        ShapeError: the shapes do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> scores = np.asarray([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]])
        >>> na.in_top_k(np.asarray([2, 2]), scores, k=2)
        array([ True, False])

    References:
        https://www.tensorflow.org/api_docs/python/tf/math/in_top_k
    """
    is_empty = len(scores.shape) == 0 or scores.shape[-1] == 0
    if is_empty or tuple(scores.shape[:-1]) != tuple(targets.shape):
        raise ShapeError(
            f"in_top_k: got targets of the shape {tuple(targets.shape)} and scores of "
            f"{tuple(scores.shape)}, expected (*batch,) and (*batch, classes), one class at least"
        )
    if not dtypes.dtype_of(targets).is_integer:
        found = dtypes.dtype_of(targets)
        raise DtypeError(f"in_top_k: targets: got {found}, expected integers; cast with na.astype")
    is_class = ops.logical_and(ops.greater_equal(targets, 0), ops.less(targets, scores.shape[-1]))
    places = ops.expand_dims(ops.where(is_class, targets, 0), axis=-1)
    own = ops.take_along_axis(scores, places, axis=-1)
    before = ops.count_nonzero(ops.greater(scores, own), axis=-1)
    is_known = ops.logical_and(is_class, ops.all(ops.isfinite(scores), axis=-1))
    return ops.logical_and(ops.less(before, k), is_known)


@op(traits=Trait(0))
def bincount(
    x: Array, /, weights: Array | None = None, *, minlength: int = 0, length: int | None = None
) -> Array:
    """The count of each of the numbers 0, 1, 2, …, or the sum of its weights.

    The length depends on values; compiled code requires a `length`.

    Args:
        x: `(n,)`, integers, not negative.
        weights: `(n,)`; None means 1.
        minlength: the smallest length of the result.
        length: the static length of the result; larger numbers are dropped, negative ones count as
            0. None: the maximum of `minlength` and the largest number + 1.

    Returns:
        `(m,)`, with m from `length`; integers, or of the dtype of the weights.

    Raises:
        ArgumentError: `length` is negative; or a number, if `length` is None.
        ShapeError: `x` is not one-dimensional.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bincount(np.asarray([0, 2, 2]), minlength=4)
        array([1, 0, 2, 0])
    """
    if len(x.shape) != 1:
        raise ShapeError(f"bincount: x: got shape {tuple(x.shape)}, expected (n,)")
    if weights is None:
        weights = ops.full(ops.shape(x), 1, dtype="int64", like=x)
    if length is None:
        length = int(ops.max(x)) + 1 if x.shape[0] else 0
        least = int(ops.min(x)) if x.shape[0] else 0
        if least < 0:
            raise ArgumentError(f"bincount: x: got {least}, expected numbers from 0")
        length = length if length > minlength else minlength
        return ops.segment_sum(weights, x, num_segments=length)
    check_range("bincount", "length", length, 0)
    places = ops.clip(x, 0, length)  # the extra last bin collects the excluded values
    return ops.segment_sum(weights, places, num_segments=length + 1)[:length]


@op(traits=Trait(0))
def histogram(
    x: Array,
    /,
    bins: int | Array = 10,
    *,
    range: tuple[float, float] | None = None,
    weights: Array | None = None,
    density: bool = False,
) -> HistogramResult:
    """The number of elements in each bin; the last bin contains its upper edge.

    Args:
        x: real, of any shape; elements outside all bins are not counted.
        bins: the number of bins of equal width, or `(n + 1,)`, their edges, ascending.
        range: the lowest and the highest edge; None takes the extrema of `x`.
        weights: the weight of each element, of the shape of `x`; None means 1.
        density: divide by the total and by the widths, so that the area is 1.

    Returns:
        a named tuple: ``counts``, `(n,)`, integers or of the dtype of the weights or of
        the edges; ``edges``, `(n + 1,)`, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.histogram(np.asarray([0.0, 0.5, 3.0, 4.0]), 2)
        HistogramResult(counts=array([2, 2]), edges=array([0., 2., 4.]))
    """
    x = ops.reshape(ops.astype(x, mean_dtype(x), copy=False), (-1,))
    edges = (
        _equal_edges(x, bins, range, "histogram")
        if isinstance(bins, int)
        else ops.astype(bins, x.dtype)
    )
    places, inside = _bins(x, edges)
    if weights is None:
        each = ops.astype(inside, "int64")
    else:
        flat = ops.reshape(weights, (-1,))
        each = ops.where(inside, flat, ops.zeros_like(flat))
    counts = ops.segment_sum(each, places, num_segments=edges.shape[0] - 1)
    if density:
        counts = ops.astype(counts, edges.dtype)
        counts = ops.divide(ops.divide(counts, ops.sum(counts)), ops.diff(edges))
    return HistogramResult(counts, edges)


def _bins(x: Array, edges: Array) -> tuple[Array, Array]:
    """The number of the bin of each element, and whether it lies in any."""
    least, greatest = ops.getitem(edges, 0), ops.getitem(edges, -1)
    inside = ops.bitwise_and(ops.greater_equal(x, least), ops.less_equal(x, greatest))
    places = ops.subtract(ops.searchsorted(edges, x, side="right"), 1)
    return ops.clip(places, 0, edges.shape[0] - 2), inside


def _equal_edges(x: Array, bins: int, limits: tuple[float, float] | None, name: str) -> Array:
    """The edges of `bins` bins of equal width; of width 1 in all where the limits are equal."""
    if bins < 1:
        raise ShapeError(f"{name}: bins: got {bins}, expected at least 1")
    if limits is None and x.shape[0]:
        least, greatest = ops.min(x), ops.max(x)
    else:
        ends = (0.0, 1.0) if limits is None else limits
        least, greatest = (ops.full((), float(e), dtype=x.dtype, like=x) for e in ends)
    margin = ops.astype(ops.equal(least, greatest), x.dtype)
    least = ops.subtract(least, ops.multiply(margin, 0.5))
    greatest = ops.add(greatest, ops.multiply(margin, 0.5))
    share = ops.asarray(np.arange(bins) / bins, dtype=x.dtype, like=x)
    edges = ops.add(least, ops.multiply(share, ops.subtract(greatest, least)))
    return ops.concat(
        [edges, ops.reshape(greatest, (1,))]
    )  # the largest edge itself, without rounding


@op(traits=Trait(0))
def histogramdd(
    x: Array,
    /,
    bins: int | Sequence[int] | Sequence[Sequence[float]] = 10,
    *,
    range: Sequence[tuple[float, float]] | None = None,
    weights: Array | None = None,
    density: bool = False,
) -> tuple[Array, ...]:
    """The number of points in each cell of a grid; the last bins contain their upper edges.

    Args:
        x: `(n, d)`, real: n points in d dimensions; points outside the grid are not counted.
        bins: the number of bins of equal width, for all axes or for each; or for each axis
            a list of the edges, ascending.
        range: the lowest and the highest edge for each axis; None takes the extrema of `x`.
        weights: `(n,)`, the weight of each point; None means 1.
        density: divide by the total and by the volumes, so that the integral is 1.

    Returns:
        a tuple: the counts, `(n_1, …, n_d)`, integers or of the dtype of the weights or of
        the edges; then the edges of each axis, `(n_i + 1,)`, floating.

    Raises:
        ShapeError: `x` is not a matrix, or `bins` or `range` do not match its number of columns.

    Example:
        >>> import numpy as np, nestarray as na
        >>> points = np.asarray([[0.0, 0.0], [2.0, 1.0], [2.0, 4.0]])
        >>> na.histogramdd(points, 2)[0]
        array([[1, 0],
               [1, 1]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.histogramdd.html
    """
    if len(x.shape) != 2:
        raise ShapeError(
            f"histogramdd: x: got the shape {tuple(x.shape)}, expected (points, dimensions)"
        )
    x = ops.astype(x, mean_dtype(x), copy=False)
    columns = ops.unstack(x, axis=1)
    each_bins = [bins] * len(columns) if isinstance(bins, int) else list(bins)
    each_range = [None] * len(columns) if range is None else list(range)
    for name, given in (("bins", each_bins), ("range", each_range)):
        if len(given) != len(columns):
            raise ShapeError(
                f"histogramdd: {name}: got {len(given)} for {len(columns)} dimensions, "
                "expected one for each"
            )
    edges, position, inside = [], None, None
    for column, wanted, limits in zip(columns, each_bins, each_range):
        if isinstance(wanted, int):
            ends = _equal_edges(column, wanted, limits, "histogramdd")
        else:
            ends = ops.asarray(np.asarray(wanted), dtype=x.dtype, like=x)
        places, within = _bins(column, ends)
        edges.append(ends)
        if position is None or inside is None:
            position, inside = places, within
        else:
            position = ops.add(ops.multiply(position, ends.shape[0] - 1), places)
            inside = ops.bitwise_and(inside, within)
    if position is None or inside is None:
        raise ShapeError("histogramdd: x: got points without coordinates, expected at least one")
    each = ops.astype(inside, "int64")
    if weights is not None:
        each = ops.where(inside, weights, ops.zeros_like(weights))
    shape = tuple(ends.shape[0] - 1 for ends in edges)
    counts = ops.segment_sum(each, position, num_segments=int(np.prod(shape)))
    counts = ops.reshape(counts, shape)
    if density:
        counts = ops.astype(counts, x.dtype)
        counts = ops.divide(counts, ops.sum(counts))
        for axis, ends in enumerate(edges):
            widths = ops.reshape(ops.diff(ends), (-1,) + (1,) * (len(shape) - 1 - axis))
            counts = ops.divide(counts, widths)
    return (counts, *edges)


@op(traits=Trait(0))
def histogram2d(
    x1: Array,
    x2: Array,
    /,
    bins: int | Sequence[int] | Sequence[Sequence[float]] = 10,
    *,
    range: Sequence[tuple[float, float]] | None = None,
    weights: Array | None = None,
    density: bool = False,
) -> tuple[Array, Array, Array]:
    """The number of points in each cell of a grid in the plane: `histogramdd` in two dimensions.

    Args:
        x1: `(n,)`, real: the first coordinates.
        x2: `(n,)`, real: the second coordinates.
        bins: as for `histogramdd`.
        range: as for `histogramdd`.
        weights: `(n,)`, the weight of each point; None means 1.
        density: as for `histogramdd`.

    Returns:
        a tuple: the counts, `(n_1, n_2)`, with the first coordinate along the first axis,
        and the edges of the two axes.

    Raises:
        ShapeError: the coordinates are not two vectors of equal length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.histogram2d(np.asarray([0.0, 2.0, 2.0]), np.asarray([0.0, 1.0, 4.0]), 2)[0]
        array([[1, 0],
               [1, 1]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.histogram2d.html
    """
    if len(x1.shape) != 1 or tuple(x1.shape) != tuple(x2.shape):
        raise ShapeError(
            f"histogram2d: got the shapes {tuple(x1.shape)} and {tuple(x2.shape)}, expected "
            "two vectors of one length"
        )
    points = ops.stack([x1, x2], axis=1)
    counts, edges1, edges2 = ops.histogramdd(
        points, bins, range=range, weights=weights, density=density
    )
    return counts, edges1, edges2
