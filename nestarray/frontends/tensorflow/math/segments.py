"""Reductions of segments, and counts.

Upstream: https://www.tensorflow.org/api_docs/python/tf/math/unsorted_segment_sum
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.typing import Array, DTypeLike

__all__ = [
    "bincount", "confusion_matrix", "segment_max", "segment_mean", "segment_min", "segment_prod",
    "segment_sum", "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min",
    "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum",
]  # fmt: skip


def _reduced(op: Callable[..., Array], data: Any, segment_ids: Any, num_segments: int) -> Array:
    """The reductions of segments; negative ids are left out."""
    x, ids = tensor(data), tensor(segment_ids)
    inner = na.shape(x)[len(na.shape(ids)) :]
    ids = na.reshape(ids, (-1,))
    ids = na.where(na.less(ids, 0), na.full_like(ids, num_segments), ids)
    found = op(na.reshape(x, (na.shape(ids)[0], *inner)), ids, num_segments=num_segments + 1)
    return na.getitem(found, slice(num_segments))


def _counts(x: Array, segment_ids: Any, num_segments: int) -> Array:
    """The sizes of segments in the dtype of `x`, with axes of size 1 for its rows."""
    ids = tensor(segment_ids)
    ones = na.ones(na.shape(ids), dtype=dtypes.dtype_of(x), like=x)
    found = _reduced(na.segment_sum, ones, ids, num_segments)
    rest = len(na.shape(x)) - len(na.shape(ids))
    return na.reshape(found, (num_segments,) + (1,) * rest)


def _unsorted(op: Callable[..., Array], title: str, summary: str) -> Callable[..., Array]:
    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Array:
        return _reduced(op, data, segment_ids, integers(num_segments))

    function.__name__ = function.__qualname__ = title
    function.__doc__ = summary
    return function


def _extreme(op: Callable[..., Array], sign: int, title: str, summary: str) -> Callable[..., Array]:
    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Array:
        x, count = tensor(data), integers(num_segments)
        found = _reduced(op, x, segment_ids, count)
        dtype = dtypes.dtype_of(x)
        if not dtype.is_floating:
            return found
        is_empty = na.equal(_counts(x, segment_ids, count), 0)
        limit = na.full_like(found, -sign * float(dtypes.finfo(dtype).max))
        return na.where(is_empty, limit, found)

    function.__name__ = function.__qualname__ = title
    function.__doc__ = summary
    return function


unsorted_segment_sum = _unsorted(
    na.segment_sum, "unsorted_segment_sum", "The sums of segments; 0 without elements."
)
unsorted_segment_prod = _unsorted(
    na.segment_prod, "unsorted_segment_prod", "The products of segments; 1 without elements."
)
unsorted_segment_max = _extreme(
    na.segment_max,
    1,
    "unsorted_segment_max",
    "The maxima of segments; the lowest finite number without elements.",
)
unsorted_segment_min = _extreme(
    na.segment_min,
    -1,
    "unsorted_segment_min",
    "The minima of segments; the largest finite number without elements.",
)


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Array:
    """The means of segments; 0 without elements."""
    x, count = tensor(data), integers(num_segments)
    sizes = na.maximum(_counts(x, segment_ids, count), 1)
    return na.divide(_reduced(na.segment_sum, x, segment_ids, count), sizes)


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Array:
    """The sums of segments divided by the roots of their sizes; 0 without elements."""
    x, count = tensor(data), integers(num_segments)
    sizes = na.maximum(_counts(x, segment_ids, count), 1)
    return na.divide(_reduced(na.segment_sum, x, segment_ids, count), na.sqrt(sizes))


def _sorted(
    op: Callable[..., Array], empty: float, title: str, summary: str
) -> Callable[..., Array]:
    """A reduction of as many segments as the last id says."""

    def function(data: Any, segment_ids: Any, name: str | None = None) -> Array:
        x, ids = tensor(data), tensor(segment_ids)
        count = int(na.getitem(ids, -1)) + 1 if na.shape(ids)[0] else 0
        found = op(x, ids, count)
        is_empty = na.equal(_counts(x, ids, count), 0)
        return na.where(is_empty, na.full_like(found, empty), found)

    function.__name__ = function.__qualname__ = title
    function.__doc__ = summary
    return function


segment_sum = _sorted(unsorted_segment_sum, 0, "segment_sum", "The sums of segments of sorted ids.")
segment_prod = _sorted(
    unsorted_segment_prod, 1, "segment_prod", "The products of segments of sorted ids."
)
segment_max = _sorted(
    unsorted_segment_max, 0, "segment_max", "The maxima of segments of sorted ids; 0 if empty."
)
segment_min = _sorted(
    unsorted_segment_min, 0, "segment_min", "The minima of segments of sorted ids; 0 if empty."
)
segment_mean = _sorted(
    unsorted_segment_mean, 0, "segment_mean", "The means of segments of sorted ids; 0 if empty."
)


# -- counts ----------------------------------------------------------------------------------


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Array:
    """The number of occurrences of each integer, of all elements or of each row.

    Args:
        arr: integers from 0.
        weights: numbers that are added in place of ones, of the shape of `arr`.
        minlength: the least size of the result.
        maxlength: the largest size of the result; larger integers are left out.
        dtype: the dtype of counts.
        name: has no effect.
        axis: 0 or None for all elements, −1 for each row.
        binary_output: whether an integer occurs, as 1 or 0, in place of the number.
    """
    x = tensor(arr)
    if axis not in (None, 0, -1):
        raise ArgumentError(f"bincount: axis: got {axis}, expected None, 0 or -1")
    if binary_output and weights is not None:
        raise ArgumentError("bincount: weights: got weights with binary_output, expected None")
    is_by_row = axis == -1 and len(na.shape(x)) > 1
    shape = na.shape(x)
    rows, columns = (shape[0], math.prod(shape[1:])) if is_by_row else (1, math.prod(shape))
    size = 0 if 0 in shape else int(na.max(x)) + 1
    if minlength is not None:
        size = max(size, integers(minlength))
    if maxlength is not None:
        size = min(size, integers(maxlength))
    x = na.reshape(x, (rows, columns))
    if weights is None:
        values = na.ones_like(x, dtype=dtype)
    else:
        values = na.reshape(tensor(weights), na.shape(x))
    start = na.reshape(na.arange(rows, dtype=na.dtype_of(x), like=x), (-1, 1))
    is_left_out = na.logical_or(na.less(x, 0), na.greater_equal(x, size))
    ids = na.where(is_left_out, na.full_like(x, -1), na.add(x, na.multiply(start, size)))
    found = _reduced(na.segment_sum, values, ids, rows * size)
    if binary_output:
        found = na.astype(na.greater(found, 0), dtype)
    return na.reshape(found, (rows, size) if is_by_row else (size,))


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Array:
    """The number of predictions (columns) of each class for the labels (rows)."""
    rows, columns = tensor(labels), tensor(predictions)
    count = integers(num_classes)
    if count is None:
        count = 1 + max(int(na.max(rows)), int(na.max(columns)))
    rows, columns = (na.astype(na.reshape(x, (-1,)), dtypes.int64) for x in (rows, columns))
    if weights is None:
        values = na.ones_like(rows, dtype=dtype)
    else:
        values = na.astype(na.reshape(tensor(weights), (-1,)), dtype)
    ids = na.add(na.multiply(rows, count), columns)
    return na.reshape(_reduced(na.segment_sum, values, ids, count**2), (count, count))
