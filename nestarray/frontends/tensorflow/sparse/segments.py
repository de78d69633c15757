"""Reductions of rows by index, and counts.

Upstream: https://www.tensorflow.org/api_docs/python/tf/sparse/segment_sum
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.frontends.tensorflow.math import segments
from nestarray.frontends.tensorflow.sparse.tensors import (
    SparseTensor,
    chosen,
    full_indices,
)
from nestarray.typing import Array

__all__ = ["bincount", "segment_mean", "segment_sqrt_n", "segment_sum"]


def _reduced(
    op: Callable[..., Array], data: Any, indices: Any, segment_ids: Any, num_segments: Any
) -> Array:
    """The reductions of the rows at `indices` by sorted numbers of segments."""
    x = tensor(data)
    ids = tensor(segment_ids, like=x)
    count = integers(num_segments)
    if count is None:
        count = int(na.getitem(ids, -1)) + 1 if na.shape(ids)[0] else 0
    return op(na.take(x, tensor(indices, like=x), axis=0), ids, count)


def segment_sum(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Array:
    """The sums of the rows at `indices`, by segments."""
    return _reduced(segments.unsorted_segment_sum, data, indices, segment_ids, num_segments)


def segment_mean(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Array:
    """The means of the rows at `indices`, by segments; 0 if empty."""
    return _reduced(segments.unsorted_segment_mean, data, indices, segment_ids, num_segments)


def segment_sqrt_n(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Array:
    """The sums of the rows at `indices`, divided by the roots of the sizes of segments."""
    return _reduced(segments.unsorted_segment_sqrt_n, data, indices, segment_ids, num_segments)


def bincount(
    values: Any,
    weights: Any = None,
    axis: int = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each integer occurs, of all elements (axis 0) or of each row (axis −1).

    Args:
        values: integers, dense or sparse, a vector or a matrix.
        weights: numbers that are added in place of ones, of the form of `values`.
        axis: 0 or −1.
        minlength: the least size of the result.
        maxlength: the size of the result; larger integers are left out.
        binary_output: 1 in place of the number.
        name: has no effect.

    Returns:
        a sparse vector or matrix, in the dtype of the weights, or else of `values`.
    """
    if axis not in (0, -1):
        raise ArgumentError(f"bincount: axis: got {axis}, expected 0 or -1")
    if isinstance(values, SparseTensor):
        shape, flat = list(values.shape), values.values
        rows = na.getitem(values.indices, (..., 0))
    else:
        x = tensor(values)
        shape, flat = list(na.shape(x)), na.reshape(x, (-1,))
        numbers = na.arange(shape[0], dtype=dtypes.int64, like=x)
        rows = na.repeat(numbers, math.prod(shape[1:]))
    factors = weights.values if isinstance(weights, SparseTensor) else weights
    if factors is not None:
        factors = na.reshape(tensor(factors, like=flat), (-1,))
    is_by_row = axis == -1 and len(shape) > 1
    return counted(
        rows if is_by_row else na.zeros_like(rows),
        flat,
        factors,
        shape[0] if is_by_row else None,
        -1 if minlength is None else integers(minlength),
        -1 if maxlength is None else integers(maxlength),
        binary_output,
    )


def counted(
    rows: Array,
    values: Array,
    weights: Array | None,
    count: int | None,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> SparseTensor:
    """The number of occurrences of each value in each row.

    Args:
        rows: the row of each value.
        values: integers.
        weights: numbers that are added in place of ones; None: ones.
        count: the number of rows; None: the result is a vector.
        minlength, maxlength: −1 for none.
        binary_output: 1 in place of the number.
    """
    dtype, values = dtypes.dtype_of(values), na.astype(values, dtypes.int64)
    if maxlength > 0:
        kept = chosen(na.less(values, maxlength))
        rows, values = na.take(rows, kept, axis=0), na.take(values, kept, axis=0)
        weights = None if weights is None else na.take(weights, kept, axis=0)
        size = maxlength
    else:
        largest = int(na.max(values)) if na.shape(values)[0] else -1
        size = max(largest + 1, minlength)
    found = na.unique_all(na.add(na.multiply(na.astype(rows, dtypes.int64), size), values))
    if weights is None:
        numbers = na.astype(found.counts, dtype)
    else:
        places = na.reshape(found.inverse_indices, (-1,))
        numbers = na.segment_sum(weights, places, num_segments=na.shape(found.values)[0])
    shape = (size,) if count is None else (count, size)
    numbers = na.ones_like(numbers) if binary_output else numbers
    return SparseTensor(full_indices(found.values, shape), numbers, shape)
