"""Choosing and finding elements; counting them into bins."""

# pyright: reportReturnType=false
# a primitive has no body: the backends return
from __future__ import annotations

import numpy as np

from nestarray.backends.axes import one_axis
from nestarray.backends.base import mean_dtype
from nestarray.backends.results import HistogramResult, TopKResult
from nestarray.dispatch import op, primitive
from nestarray.errors import ShapeError
from nestarray.typing import Array, Axis

__all__ = [
    "argmax",
    "argmin",
    "argwhere",
    "bincount",
    "count_nonzero",
    "histogram",
    "nonzero",
    "searchsorted",
    "top_k",
    "where",
]


@primitive
def where(condition: Array, x1: Array, x2: Array, /) -> Array:
    """x1 where `condition` is True, x2 where it is False.

    Both are computed, and the gradient of the one not taken is 0 · d: keep what is not
    taken finite where gradients are needed.

    Args:
        condition: bool; all three broadcast against each other.
        x1: array or number; the dtypes of `x1` and `x2` promote.
        x2: array or number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.where(np.asarray([True, False]), np.asarray([1.0, 2.0]), 0.0)
        array([1., 0.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.where.html
    """


@primitive
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The first position of the greatest element; of the first NaN, if there is one.

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


@primitive
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The first position of the least element; of the first NaN, if there is one.

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


@primitive
def nonzero(x: Array, /) -> tuple[Array, ...]:
    """The positions of the elements that are not 0, in C order.

    Their number depends on values, which `jax.jit` cannot compile.

    Args:
        x: array of at least one dimension.

    Returns:
        for each axis an array `(n,)` of integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nonzero(np.asarray([[0, 1], [2, 0]]))
        (array([0, 1]), array([1, 0]))

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.nonzero.html
    """


@op
def argwhere(x: Array, /) -> Array:
    """The positions of the elements that are not 0, one in each row.

    Args:
        x: array of at least one dimension.

    Returns:
        `(n, axes)`, integers: the arrays of `nonzero` side by side.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.argwhere(np.asarray([[0, 1], [2, 0]]))
        array([[0, 1],
               [1, 0]])
    """
    from nestarray import ops

    return ops.stack(ops.nonzero(x), axis=-1)


@op
def count_nonzero(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """How many elements are not 0.

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
    from nestarray import ops

    return ops.sum(ops.astype(x, "bool"), axis=axis, keepdims=keepdims)


@primitive
def searchsorted(
    x1: Array, x2: Array, /, *, side: str = "left", sorter: Array | None = None
) -> Array:
    """Where the elements of `x2` would have to go into `x1` to keep it in order.

    Args:
        x1: `(n,)`, real, ascending, or made so by `sorter`.
        x2: array of any shape, or a number; the dtypes promote.
        side: ``"left"``: before equal elements, ``"right"``: behind them.
        sorter: the positions that put `x1` in order.

    Returns:
        integers from 0 to n, of the shape of `x2`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.searchsorted(np.asarray([1.0, 2.0, 4.0]), np.asarray([2.0, 3.0]))
        array([1, 2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.searchsorted.html
    """


@op
def top_k(x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> TopKResult:
    """The `k` greatest elements along an axis, the greatest first, and their positions.

    Args:
        x: real, of at least one dimension, without NaN.
        k: how many, at most the length of the axis.
        axis: the axis to search along.
        largest: False takes the least, the least first.

    Returns:
        a named tuple of ``values`` and ``indices``, of length `k` along `axis`. Of equal
        elements the one that comes first, but on PyTorch, where it is not said.

    Raises:
        ShapeError: `k` is negative, or greater than the axis is long.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.top_k(np.asarray([3.0, 1.0, 4.0]), 2)
        TopKResult(values=array([4., 3.]), indices=array([2, 0]))
    """
    from nestarray import ops

    axis = one_axis(axis, len(x.shape), "top_k")
    if not 0 <= k <= x.shape[axis]:
        raise ShapeError(f"top_k: k: got {k}, expected 0 to {x.shape[axis]}, the axis' length")
    order = ops.argsort(x, axis=axis, descending=largest)
    indices = ops.getitem(order, (slice(None),) * axis + (slice(None, k),))
    return TopKResult(ops.take_along_axis(x, indices, axis=axis), indices)


@op
def bincount(x: Array, /, weights: Array | None = None, *, minlength: int = 0) -> Array:
    """How often each of the numbers 0, 1, 2, … comes; or the sum of its weights.

    The length depends on values, which `jax.jit` cannot compile; `segment_sum` takes the
    length as an argument.

    Args:
        x: `(n,)`, integers, not negative.
        weights: `(n,)`; None counts.
        minlength: the least length of the result.

    Returns:
        `(m,)`, where m is `minlength` or the greatest number plus 1; integers, or of the
        dtype of the weights.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bincount(np.asarray([0, 2, 2]), minlength=4)
        array([1, 0, 2, 0])
    """
    from nestarray import ops

    length = int(ops.max(x)) + 1 if x.shape[0] else 0
    length = length if length > minlength else minlength
    if weights is None:
        weights = ops.full(tuple(x.shape), 1, dtype="int64", like=x)
    return ops.segment_sum(weights, x, num_segments=length)


@op
def histogram(
    x: Array,
    /,
    bins: int | Array = 10,
    *,
    range: tuple[float, float] | None = None,
    weights: Array | None = None,
    density: bool = False,
) -> HistogramResult:
    """How many elements lie in each bin; the last bin contains its upper edge.

    Args:
        x: real, of any shape; elements outside all bins are not counted.
        bins: the number of bins of equal width, or `(n + 1,)`, their edges, ascending.
        range: the least and the greatest edge; None takes the extrema of `x`.
        weights: what each element counts, of the shape of `x`; None means 1.
        density: divide by the total and by the widths, so that the area is 1.

    Returns:
        a named tuple: ``counts``, `(n,)`, integers or of the dtype of the weights or of
        the edges; ``edges``, `(n + 1,)`, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.histogram(np.asarray([0.0, 0.5, 3.0, 4.0]), 2)
        HistogramResult(counts=array([2, 2]), edges=array([0., 2., 4.]))
    """
    from nestarray import ops

    x = ops.reshape(ops.astype(x, mean_dtype(x), copy=False), (-1,))
    edges = _equal_edges(x, bins, range) if isinstance(bins, int) else ops.astype(bins, x.dtype)
    count = edges.shape[0] - 1
    least, greatest = ops.getitem(edges, 0), ops.getitem(edges, -1)
    inside = ops.bitwise_and(ops.greater_equal(x, least), ops.less_equal(x, greatest))
    places = ops.subtract(ops.searchsorted(edges, x, side="right"), 1)
    places = ops.clip(places, 0, count - 1)
    if weights is None:
        each = ops.astype(inside, "int64")
    else:
        flat = ops.reshape(weights, (-1,))
        each = ops.where(inside, flat, ops.zeros_like(flat))
    counts = ops.segment_sum(each, places, num_segments=count)
    if density:
        counts = ops.astype(counts, edges.dtype)
        counts = ops.divide(ops.divide(counts, ops.sum(counts)), ops.diff(edges))
    return HistogramResult(counts, edges)


def _equal_edges(x: Array, bins: int, limits: tuple[float, float] | None) -> Array:
    """The edges of `bins` bins of equal width; of width 1 in all where the limits are equal."""
    from nestarray import ops

    if bins < 1:
        raise ShapeError(f"histogram: bins: got {bins}, expected at least 1")
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
    return ops.concat([edges, ops.reshape(greatest, (1,))])  # the greatest itself, not rounded
