"""Elements by index.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/GatherV2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.frontends.tensorflow.indexing import dynamic_partition
from nestarray.numerics.windows import Ints
from nestarray.typing import Array, is_unknown_size

__all__ = [
    "DynamicPartition", "DynamicStitch", "Gather", "GatherNd", "GatherV2", "InplaceAdd",
    "InplaceSub", "InplaceUpdate", "ParallelDynamicStitch", "ResourceGather", "ResourceGatherNd",
    "ScatterNd", "ScatterNdNonAliasingAdd", "Slice", "StridedSlice", "StridedSliceGrad",
    "TensorScatterAdd", "TensorScatterMax", "TensorScatterMin", "TensorScatterSub",
    "TensorScatterUpdate", "TensorStridedSliceUpdate", "Where", "XlaDynamicUpdateSlice",
]  # fmt: skip


def GatherV2(params: Array, indices: Array, axis: int, batch_dims: int = 0) -> Array:
    """The slices at `indices` along an axis."""
    axis = integers(axis)
    rank = len(na.shape(params))
    axis = axis + rank if axis < 0 else axis
    batch_dims = batch_dims + len(na.shape(indices)) if batch_dims < 0 else batch_dims
    if not batch_dims:
        return na.take(params, indices, axis=axis)
    batch = na.shape(params)[:batch_dims]
    places = na.reshape(indices, (*batch, -1))
    moved = na.moveaxis(params, axis, batch_dims)
    rest = na.shape(moved)[batch_dims + 1 :]
    index = na.reshape(places, (*na.shape(places), *[1] * len(rest)))
    index = na.broadcast_to(index, (*na.shape(places), *rest))
    found = na.take_along_axis(moved, index, axis=batch_dims)
    inner = na.shape(indices)[batch_dims:]
    found = na.reshape(found, (*batch, *inner, *rest))
    first = tuple(range(batch_dims, batch_dims + len(inner)))
    return na.moveaxis(found, first, tuple([i + axis - batch_dims for i in first]))


def Gather(params: Array, indices: Array, validate_indices: bool = True) -> Array:
    """The slices at `indices` along the first axis."""
    return na.take(params, indices, axis=0)


def ResourceGather(
    resource: Array,
    indices: Array,
    dtype: DType,
    batch_dims: int = 0,
    validate_indices: bool = True,
) -> Array:
    """The slices of a variable at `indices` along the first axis."""
    return GatherV2(resource, indices, batch_dims, batch_dims)


def GatherNd(params: Array, indices: Array) -> Array:
    """The slices at tuples of indices."""
    return na.gather_nd(params, indices)


def ResourceGatherNd(resource: Array, indices: Array, dtype: DType) -> Array:
    """The slices of a variable at tuples of indices."""
    return na.gather_nd(resource, indices)


def ScatterNd(indices: Array, updates: Array, shape: Ints) -> Array:
    """Sums of updates at tuples of indices."""
    start = na.zeros(integers(shape), dtype=dtypes.dtype_of(updates), like=updates)
    return na.scatter_nd(start, indices, updates, mode="add")


def ScatterNdNonAliasingAdd(input: Array, indices: Array, updates: Array) -> Array:
    """`input` with values added at tuples of indices."""
    return na.scatter_nd(input, indices, updates, mode="add")


def TensorScatterUpdate(tensor: Array, indices: Array, updates: Array) -> Array:
    """`tensor` with other values at tuples of indices."""
    return na.scatter_nd(tensor, indices, updates)


def TensorScatterAdd(tensor: Array, indices: Array, updates: Array) -> Array:
    """`tensor` with values added at tuples of indices."""
    return na.scatter_nd(tensor, indices, updates, mode="add")


def TensorScatterSub(tensor: Array, indices: Array, updates: Array) -> Array:
    """`tensor` with values subtracted at tuples of indices."""
    return na.scatter_nd(tensor, indices, na.negative(updates), mode="add")


def TensorScatterMax(tensor: Array, indices: Array, updates: Array) -> Array:
    """`tensor` with the larger of old and new values at tuples of indices."""
    return na.scatter_nd(tensor, indices, updates, mode="max")


def TensorScatterMin(tensor: Array, indices: Array, updates: Array) -> Array:
    """`tensor` with the smaller of old and new values at tuples of indices."""
    return na.scatter_nd(tensor, indices, updates, mode="min")


def Slice(input: Array, begin: Ints, size: Ints) -> Array:
    """The block of a size from a place on; −1 stands for the rest of an axis."""
    counts = integers(size)
    if hasattr(begin, "dtype"):
        return _moving_slice(input, na.unstack(begin), counts)  # type: ignore[arg-type]
    if any(hasattr(n, "dtype") for n in begin):  # type: ignore[union-attr]
        return _moving_slice(input, begin, counts)
    starts = integers(begin)
    ends = [None if n == -1 else low + n for low, n in zip(starts, counts, strict=True)]
    return na.getitem(input, tuple([slice(*pair) for pair in zip(starts, ends, strict=True)]))


def _moving_slice(x: Array, starts: Any, sizes: Sequence[int]) -> Array:
    """A block whose place a run decides."""
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        if is_unknown_size(size) or size != -1:
            places = na.add(
                na.arange(size, dtype=dtypes.int32, like=x), na.astype(start, dtypes.int32)
            )
            x = na.take(x, places, axis=axis)
    return x


def StridedSlice(
    input: Array,
    begin: Ints,
    end: Ints,
    strides: Ints,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Array:
    """Basic indexing: bits of the masks select the meaning of each place."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return na.getitem(input, _index(begin, end, strides, masks))


def _index(begin: Any, end: Any, strides: Any, masks: Sequence[int]) -> tuple[Any, ...]:
    """The index of basic indexing."""
    begin, end = _entries(begin), _entries(end)
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = masks
    found: list[Any] = []
    for i, (low, high, step) in enumerate(zip(begin, end, integers(strides), strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            found.append(Ellipsis)
        elif new_axis_mask & bit:
            found.append(None)
        elif shrink_axis_mask & bit:
            found.append(low)
        else:
            first = None if begin_mask & bit else low
            last = None if end_mask & bit else high
            found.append(slice(first, last, step))
    return tuple(found)


def _entries(x: Any) -> Sequence[Any]:
    return na.unstack(x) if hasattr(x, "dtype") else x


def StridedSliceGrad(
    shape: Ints,
    begin: Ints,
    end: Ints,
    strides: Ints,
    dy: Array,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Array:
    """The gradient of `StridedSlice`."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    start = na.zeros(integers(shape), dtype=dtypes.dtype_of(dy), like=dy)
    return na.setitem(start, _index(begin, end, strides, masks), dy)


def TensorStridedSliceUpdate(
    input: Array,
    begin: Ints,
    end: Ints,
    strides: Ints,
    value: Array,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Array:
    """`input` with other values in a block."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return na.setitem(input, _index(begin, end, strides, masks), value)


def InplaceUpdate(x: Array, i: Array, v: Array) -> Array:
    """`x` with other rows."""
    return na.scatter_nd(x, na.expand_dims(i, -1), v)


def InplaceAdd(x: Array, i: Array, v: Array) -> Array:
    """`x` with values added to rows."""
    return na.scatter_nd(x, na.expand_dims(i, -1), v, mode="add")


def InplaceSub(x: Array, i: Array, v: Array) -> Array:
    """`x` with values subtracted from rows."""
    return na.scatter_nd(x, na.expand_dims(i, -1), na.negative(v), mode="add")


def Where(condition: Array) -> Array:
    """The indices of the elements that are not zero, whose number a run decides."""
    return na.astype(na.argwhere(na.not_equal(condition, 0)), dtypes.int64)


def DynamicPartition(data: Array, partitions: Array, num_partitions: int) -> list[Array]:
    """The slices of each number in `partitions`."""
    return dynamic_partition(data, partitions, num_partitions)


def DynamicStitch(indices: Sequence[Array], data: Sequence[Array]) -> Array:
    """Rows at their indices; of equal indices the last one counts."""
    flat = [na.reshape(i, (-1,)) for i in indices]
    rows = [
        na.reshape(x, (-1, *na.shape(x)[len(na.shape(i)) :]))
        for i, x in zip(indices, data, strict=True)
    ]
    places, values = na.concat(flat), na.concat(rows)
    count = max([int(na.max(i)) for i in flat if 0 not in na.shape(i)], default=-1) + 1
    start = na.zeros((count, *na.shape(values)[1:]), dtype=dtypes.dtype_of(values), like=values)
    return na.scatter_nd(start, na.expand_dims(places, -1), values)


ParallelDynamicStitch = DynamicStitch


def XlaDynamicUpdateSlice(input: Array, update: Array, indices: Array) -> Array:
    """`input` with a part replaced, its start clamped so that it is within `input`."""
    parts, index = na.shape(update), []
    for axis, (size, part) in enumerate(zip(na.shape(input), parts, strict=True)):
        start = na.clip(na.getitem(indices, axis), 0, size - part)
        places = na.add(na.arange(part, dtype=na.dtype_of(indices), like=indices), start)
        index.append(na.reshape(places, [part if i == axis else 1 for i in range(len(parts))]))
    return na.setitem(input, tuple(index), update) if index else update
