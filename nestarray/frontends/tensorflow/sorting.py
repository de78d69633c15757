"""Order, distinct elements, and histograms.

Upstream: https://www.tensorflow.org/api_docs/python/tf/sort
"""

from __future__ import annotations

from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, tensor, tensors
from nestarray.frontends.tensorflow.math.segments import unsorted_segment_sum
from nestarray.typing import Array, DTypeLike

__all__ = [
    "argsort", "histogram_fixed_width", "histogram_fixed_width_bins", "searchsorted", "sort",
    "unique", "unique_with_counts",
]  # fmt: skip


class Unique(NamedTuple):
    """Distinct elements, and the index of each element among them."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """Distinct elements, the index of each element among them, and their numbers."""

    y: Any
    idx: Any
    count: Any


def _is_descending(name: str, direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ArgumentError(
            f"{name}: direction: got {direction!r}, expected 'ASCENDING' or 'DESCENDING'"
        )
    return direction == "DESCENDING"


def sort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Array:
    """The elements in order along an axis."""
    return na.sort(tensor(values), axis=axis, descending=_is_descending("sort", direction))


def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Array:
    """The indices that sort along an axis; equal elements keep their order."""
    is_descending = _is_descending("argsort", direction)
    return na.astype(na.argsort(tensor(values), axis=axis, descending=is_descending), dtypes.int32)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Array:
    """The positions at which values keep a sequence sorted, along the last axis.

    Args:
        sorted_sequence: `(*batch, n)`.
        values: `(*batch, m)`.
        side: ``"left"``, before equal elements, or ``"right"``, after them.
        out_type: int32 or int64.
        name: has no effect.
    """
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted: side: got {side!r}, expected 'left' or 'right'")
    x, v = tensors("searchsorted", sorted_sequence, values)
    if len(na.shape(x)) == 1:
        return na.astype(na.searchsorted(x, v, side=side), out_type)
    compare = na.less if side == "left" else na.less_equal
    is_before = compare(na.expand_dims(x, -2), na.expand_dims(v, -1))
    return na.sum(na.astype(is_before, out_type), axis=-1, dtype=out_type)


def unique(x: Any, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Unique:
    """The distinct elements of a vector in order of appearance, and the index of each element."""
    return Unique(*_unique(x, out_idx)[:2])


def unique_with_counts(
    x: Any, out_idx: DTypeLike = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """`unique`, and the number of times that each occurs."""
    return UniqueWithCounts(*_unique(x, out_idx))


def _unique(x: Any, dtype: DTypeLike) -> tuple[Array, Array, Array]:
    found = na.unique_all(tensor(x))
    order = na.argsort(found.indices)  # by the first appearance
    place = na.argsort(order)
    idx = na.take(place, found.inverse_indices, axis=0)
    values, counts = (na.take(v, order, axis=0) for v in (found.values, found.counts))
    return values, na.astype(idx, dtype), na.astype(counts, dtype)


def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Array:
    """The bin of each value, of equal bins in a range; values outside belong to the nearest."""
    x, limits = tensors("histogram_fixed_width_bins", values, value_range)
    low, high = na.getitem(limits, 0), na.getitem(limits, 1)
    count = integers(nbins)
    wide = dtypes.float64 if dtypes.dtype_of(x) is dtypes.float64 else dtypes.float32
    scaled = na.divide(
        na.astype(na.subtract(x, low), wide), na.astype(na.subtract(high, low), wide)
    )
    index = na.clip(na.floor(na.multiply(scaled, count)), 0, count - 1)
    return na.astype(index, dtype)


def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Array:
    """The number of values in each bin, of equal bins in a range."""
    bins = na.reshape(histogram_fixed_width_bins(values, value_range, nbins), (-1,))
    return unsorted_segment_sum(na.ones_like(bins, dtype=dtype), bins, nbins)
