"""Sets along the last axis: rows of integers, whose order and repetitions do not count.

Upstream: https://www.tensorflow.org/api_docs/python/tf/sets
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.tensorflow.conversion import tensor
from nestarray.frontends.tensorflow.sparse.tensors import (
    SparseTensor,
    chosen,
    flat_indices,
    full_indices,
)
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array

__all__ = ["difference", "intersection", "size", "union"]


class _Elements(NamedTuple):
    """The row and the value of each element, and the shape without the last axis."""

    rows: Any
    values: Any
    lead: Any


def _elements(x: Any) -> _Elements:
    if isinstance(x, SparseTensor):
        lead = x.shape[:-1]
        rows = flat_indices(na.getitem(x.indices, (slice(None), slice(-1))), lead)
        return _Elements(rows, x.values, lead)
    x = tensor(x)
    lead, width = tuple(na.shape(x)[:-1]), na.shape(x)[-1]
    rows = na.repeat(na.arange(math.prod(lead), dtype=dtypes.int64, like=x), width)
    return _Elements(rows, na.reshape(x, (-1,)), lead)


def size(a: SparseTensor, validate_indices: bool = True) -> Array:
    """The number of distinct elements of each row, int32."""
    rows, values, lead = _elements(a)
    found = na.unique_all(values)
    count = na.shape(found.values)[0]
    keys = na.unique_values(_keys(rows, na.reshape(found.inverse_indices, (-1,)), count))
    ones = na.ones_like(keys, dtype=dtypes.int32)
    sizes = na.segment_sum(ones, na.floor_divide(keys, count), num_segments=math.prod(lead))
    return na.reshape(sizes, lead)


def _keys(rows: Array, ranks: Array, count: int) -> Array:
    """Numbers that are ordered as pairs of a row and the rank of a value."""
    return na.add(na.multiply(rows, count), na.astype(ranks, dtypes.dtype_of(rows)))


def combined(a: Any, b: Any, operation: str) -> SparseTensor:
    """The set of each row, in ascending order.

    Args:
        a, b: dense or sparse, of one shape but for the last axis.
        operation: ``"a-b"``, ``"b-a"``, ``"intersection"`` or ``"union"``.

    Raises:
        ShapeError: their first axes differ.
    """
    first, second = _elements(a), _elements(b)
    if first.lead != second.lead:
        raise ShapeError(
            f"sets: a, b: got the shapes {first.lead} and {second.lead} without the last axis, "
            "expected equal ones"
        )
    found = na.unique_all(na.concat([first.values, second.values]))
    ranks, count = na.reshape(found.inverse_indices, (-1,)), na.shape(found.values)[0]
    split = na.shape(first.values)[0]
    of_first = na.unique_values(_keys(first.rows, na.getitem(ranks, slice(split)), count))
    of_second = na.unique_values(_keys(second.rows, na.getitem(ranks, slice(split, None)), count))
    if operation == "b-a":
        of_first, of_second = of_second, of_first
    if operation == "union":
        keys = na.unique_values(na.concat([of_first, of_second]))
    else:
        is_kept = na.isin(of_first, of_second, invert=operation != "intersection")
        keys = na.take(of_first, chosen(is_kept), axis=0)
    rows, lead = na.floor_divide(keys, max(count, 1)), first.lead
    values = na.take(found.values, na.remainder(keys, max(count, 1)), axis=0)
    ones = na.ones_like(rows)
    sizes = na.segment_sum(ones, rows, num_segments=math.prod(lead))
    starts = na.subtract(na.cumulative_sum(sizes), sizes)
    place = na.subtract(na.arange(na.shape(rows)[0], like=rows), na.take(starts, rows, axis=0))
    places = na.concat([full_indices(rows, lead), na.expand_dims(place, 1)], axis=1)
    longest = int(na.max(sizes)) if math.prod(lead) else 0
    return SparseTensor(na.astype(places, dtypes.int64), values, (*lead, longest))


def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements of each row of both."""
    return combined(a, b, "intersection")


def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements of each row of either."""
    return combined(a, b, "union")


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements of each row of `a` that `b` lacks, or of `b` that `a` lacks."""
    return combined(a, b, "a-b" if aminusb else "b-a")


_public_namespace(__name__)
