"""Order, sets and segments.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/TopKV2
"""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow import math, sorting
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.typing import Array

__all__ = [
    "ApproxTopK", "Bincount", "Bucketize", "DenseBincount", "DenseCountSparseOutput",
    "HistogramFixedWidth", "InTopK", "InTopKV2", "ListDiff", "LowerBound", "NearestNeighbors",
    "NthElement", "SegmentMax", "SegmentMaxV2", "SegmentMean", "SegmentMin", "SegmentMinV2",
    "SegmentProd", "SegmentProdV2", "SegmentSum", "SegmentSumV2", "SobolSample", "TopKV2", "Unique",
    "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "UnravelIndex", "UnsortedSegmentMax",
    "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum", "UpperBound",
]  # fmt: skip


def TopKV2(
    input: Array, k: int, sorted: bool = True, index_type: DType = dtypes.int32
) -> tuple[Array, Array]:
    """The largest elements of the last axis, and their indices."""
    found = math.top_k(input, integers(k), sorted, index_type)
    return found[0], found[1]


def NearestNeighbors(points: Array, centers: Array, k: int) -> tuple[Array, Array]:
    """The indices of the nearest centers of each point, and the squares of the distances.

    Args:
        points: `(n, d)`.
        centers: `(m, d)`.
        k: the number of centers, at most m of which are returned.
    """
    offset = na.subtract(na.expand_dims(points, 1), na.expand_dims(centers, 0))
    squares = na.sum(na.square(offset), axis=-1)
    count = min(integers(k), na.shape(centers)[0])
    order = na.getitem(na.argsort(squares, axis=-1, stable=True), (slice(None), slice(count)))
    return na.astype(order, dtypes.int64), na.take_along_axis(squares, order, axis=-1)


def SobolSample(dim: int, num_results: int, skip: int, dtype: DType = dtypes.float32) -> Array:
    """Points of the Sobol sequence."""
    return math.sobol_sample(dim, num_results, skip, dtype)


def InTopKV2(predictions: Array, targets: Array, k: int) -> Array:
    """Whether each target is among the largest predictions."""
    return math.in_top_k(targets, predictions, integers(k))


InTopK = InTopKV2


def NthElement(input: Array, n: int, reverse: bool = False) -> Array:
    """The element at place `n` in ascending or descending order."""
    return na.take(na.sort(input, axis=-1, descending=reverse), integers(n), axis=-1)


def LowerBound(sorted_inputs: Array, values: Array, out_type: DType = dtypes.int32) -> Array:
    """The first place of each value in its sorted row."""
    return _bound(sorted_inputs, values, out_type, "left")


def UpperBound(sorted_inputs: Array, values: Array, out_type: DType = dtypes.int32) -> Array:
    """The place after the last equal element of each value in its sorted row."""
    return _bound(sorted_inputs, values, out_type, "right")


def _bound(rows: Array, values: Array, dtype: DType, side: str) -> Array:
    compare = na.less if side == "left" else na.less_equal
    below = compare(na.expand_dims(rows, 1), na.expand_dims(values, -1))
    return na.sum(na.astype(below, dtype), axis=-1, dtype=dtype)


def Bucketize(input: Array, boundaries: Sequence[float]) -> Array:
    """The number of boundaries that are not above each element."""
    limits = na.asarray(list(boundaries), dtype=dtypes.float32, like=input)
    is_above = na.greater_equal(na.expand_dims(na.astype(input, dtypes.float32), -1), limits)
    return na.sum(na.astype(is_above, dtypes.int32), axis=-1, dtype=dtypes.int32)


def Unique(x: Array, out_idx: DType = dtypes.int32) -> tuple[Array, Array]:
    """The elements in the order in which they occur first, and the index of each."""
    return UniqueWithCounts(x, out_idx)[:2]


def UniqueV2(x: Array, axis: Sequence[int], out_idx: DType = dtypes.int32) -> tuple[Array, Array]:
    """`Unique` of the slices along an axis; `axis` is empty for a vector."""
    return UniqueWithCountsV2(x, axis, out_idx)[:2]


def UniqueWithCountsV2(
    x: Array, axis: Sequence[int], out_idx: DType = dtypes.int32
) -> tuple[Array, Array, Array]:
    """`UniqueWithCounts` of the slices along an axis; `axis` is empty for a vector."""
    if len(na.shape(x)) == 1:
        return UniqueWithCounts(x, out_idx)
    (along,) = integers(axis)
    rows = na.moveaxis(x, along, 0)
    count = na.shape(rows)[0]
    flat = na.reshape(rows, (count, -1))
    is_same = na.all(na.equal(na.expand_dims(flat, 1), na.expand_dims(flat, 0)), axis=-1)
    first = na.argmax(na.astype(is_same, dtypes.int32), axis=1)  # the first equal slice
    is_new = na.equal(first, na.arange(count, dtype=dtypes.dtype_of(first), like=x))
    kept = na.reshape(na.argwhere(is_new), (-1,))
    number = na.subtract(na.cumulative_sum(na.astype(is_new, out_idx), dtype=out_idx), 1)
    counts = na.sum(na.astype(na.take(is_same, kept, axis=0), out_idx), axis=-1, dtype=out_idx)
    return na.take(x, kept, axis=along), na.take(number, first, axis=0), counts


def UniqueWithCounts(x: Array, out_idx: DType = dtypes.int32) -> tuple[Array, Array, Array]:
    """`Unique`, and how often each element occurs."""
    values, inverse, counts = _by_value(x)
    places = na.arange(na.shape(x)[0], dtype=dtypes.int32, like=x)
    first = na.segment_min(places, inverse, num_segments=na.shape(values)[0])
    order = na.argsort(first)
    rank = na.argsort(order)
    indices = na.astype(na.take(rank, inverse, axis=0), out_idx)
    found = na.take(values, order, axis=0)
    return found, indices, na.astype(na.take(counts, order, axis=0), out_idx)


def _by_value(x: Array) -> tuple[Array, Array, Array]:
    found = na.unique_all(x)
    return found.values, na.reshape(found.inverse_indices, (-1,)), found.counts


def ListDiff(x: Array, y: Array, out_idx: DType = dtypes.int32) -> tuple[Array, Array]:
    """The elements of `x` that are not in `y`, and their indices."""
    kept = na.reshape(na.argwhere(na.isin(x, y, invert=True)), (-1,))
    return na.take(x, kept, axis=0), na.astype(kept, out_idx)


def UnravelIndex(indices: Array, dims: Sequence[int]) -> Array:
    """The index along each axis of flat indices."""
    found = na.unravel_index(indices, tuple(integers(dims)))
    return na.astype(na.stack(found), dtypes.dtype_of(indices))


def Bincount(arr: Array, size: int, weights: Array) -> Array:
    """The number, or the sum of weights, of each integer below `size`."""
    dtype, count = dtypes.dtype_of(weights), integers(size)
    flat = na.reshape(arr, (-1,))
    values = na.ones_like(flat, dtype=dtype)
    if 0 not in na.shape(weights):
        values = na.reshape(weights, (-1,))
    inside = na.logical_and(na.greater_equal(flat, 0), na.less(flat, count))
    values = na.where(inside, values, na.zeros_like(values))
    return na.segment_sum(values, na.where(inside, flat, na.zeros_like(flat)), num_segments=count)


def DenseBincount(input: Array, size: int, weights: Array, binary_output: bool = False) -> Array:
    """`Bincount` of a vector, or of each row of a matrix."""
    if len(na.shape(input)) == 1:
        found = Bincount(input, size, weights)
    else:
        rows, count = na.shape(input)[0], integers(size)
        number = na.expand_dims(na.arange(rows, dtype=dtypes.dtype_of(input), like=input), 1)
        shifted = na.add(input, na.multiply(number, count))
        inside = na.less(input, count)
        shifted = na.where(inside, shifted, na.full_like(shifted, rows * count))
        found = na.reshape(Bincount(shifted, rows * count, weights), (rows, count))
    if binary_output:
        found = na.astype(na.greater(found, 0), dtypes.dtype_of(weights))
    return found


def HistogramFixedWidth(
    values: Array, value_range: Array, nbins: int, dtype: DType = dtypes.int32
) -> Array:
    """The number of values in each bin, of equal bins in a range."""
    return sorting.histogram_fixed_width(values, value_range, integers(nbins), dtype)


def DenseCountSparseOutput(
    values: Array, weights: Array, binary_output: bool, minlength: int = -1, maxlength: int = -1
) -> tuple[Array, Array, Array]:
    """`DenseBincount` as indices, values and a shape, for the integers that occur."""
    size = int(na.max(values)) + 1 if 0 not in na.shape(values) else 0
    size = max(size, minlength)
    size = size if maxlength < 0 else min(size, maxlength)
    occurs = DenseBincount(values, size, weights[:0], binary_output=True)  # type: ignore[index]
    counts = occurs if binary_output else DenseBincount(values, size, weights)
    places = na.nonzero(occurs)
    found = na.getitem(counts, places)
    shape = na.asarray(na.shape(occurs), dtype=dtypes.int64, like=values)
    return na.astype(na.stack(places, axis=-1), dtypes.int64), found, shape


def ApproxTopK(
    input: Array,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """The largest or smallest elements of an axis and their indices, exactly."""
    function = math.approx_max_k if is_max_k else math.approx_min_k
    return function(input, k, reduction_dimension)


def SegmentSum(data: Array, segment_ids: Array) -> Array:
    """The sums of rows with equal numbers."""
    return math.segment_sum(data, segment_ids)


def SegmentMean(data: Array, segment_ids: Array) -> Array:
    """The means of rows with equal numbers."""
    return math.segment_mean(data, segment_ids)


def SegmentProd(data: Array, segment_ids: Array) -> Array:
    """The products of rows with equal numbers."""
    return math.segment_prod(data, segment_ids)


def SegmentMax(data: Array, segment_ids: Array) -> Array:
    """The maxima of rows with equal numbers."""
    return math.segment_max(data, segment_ids)


def SegmentMin(data: Array, segment_ids: Array) -> Array:
    """The minima of rows with equal numbers."""
    return math.segment_min(data, segment_ids)


def UnsortedSegmentSum(data: Array, segment_ids: Array, num_segments: int) -> Array:
    """The sums of rows with equal numbers, in any order."""
    return math.unsorted_segment_sum(data, segment_ids, integers(num_segments))


def UnsortedSegmentProd(data: Array, segment_ids: Array, num_segments: int) -> Array:
    """The products of rows with equal numbers, in any order."""
    return math.unsorted_segment_prod(data, segment_ids, integers(num_segments))


def UnsortedSegmentMax(data: Array, segment_ids: Array, num_segments: int) -> Array:
    """The maxima of rows with equal numbers, in any order."""
    return math.unsorted_segment_max(data, segment_ids, integers(num_segments))


def UnsortedSegmentMin(data: Array, segment_ids: Array, num_segments: int) -> Array:
    """The minima of rows with equal numbers, in any order."""
    return math.unsorted_segment_min(data, segment_ids, integers(num_segments))


# upstream's second versions have sorted numbers, and the values of empty segments of the functions above
SegmentSumV2, SegmentProdV2 = UnsortedSegmentSum, UnsortedSegmentProd
SegmentMaxV2, SegmentMinV2 = UnsortedSegmentMax, UnsortedSegmentMin
