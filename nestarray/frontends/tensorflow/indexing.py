"""Elements by their positions.

Upstream: https://www.tensorflow.org/api_docs/python/tf/gather
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import (
    integers,
    is_tensor,
    normal_axis,
    tensors,
)
from nestarray.frontends.tensorflow.conversion import tensor as _tensor
from nestarray.typing import Array

__all__ = [
    "IndexedSlices", "boolean_mask", "dynamic_partition", "dynamic_stitch", "gather", "gather_nd", "scatter_nd",
    "slice", "strided_slice", "tensor_scatter_nd_add", "tensor_scatter_nd_max",
    "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "where",
]  # fmt: skip


class IndexedSlices(NamedTuple):
    """Some slices along the first axis of a tensor."""

    values: Any
    indices: Any
    dense_shape: Any = None


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Array:
    """The slices of `params` at the indices of an axis.

    Args:
        params: any tensor.
        indices: integers, of any shape.
        validate_indices: has no effect.
        axis: the axis, by default `batch_dims`.
        batch_dims: the number of first axes that both tensors share.
        name: has no effect.
    """
    x = _tensor(params)
    index = _tensor(indices, like=x)
    rank, of_index = len(na.shape(x)), len(na.shape(index))
    batch = normal_axis(batch_dims, of_index + 1) if batch_dims else 0
    axis = normal_axis(batch if axis is None else integers(axis), rank)
    if not batch:
        return na.take(x, index, axis=axis)
    if axis < batch:
        raise ArgumentError(f"gather: axis: got {axis}, expected at least {batch}, the batch_dims")
    rows = []
    for i in builtins.range(batch):
        sizes = [1] * of_index
        sizes[i] = na.shape(x)[i]
        rows.append(
            na.reshape(na.arange(na.shape(x)[i], dtype=na.dtype_of(index), like=index), sizes)
        )
    found = na.getitem(na.moveaxis(x, axis, batch), (*rows, index))
    # the axes between the batch and `axis` are behind those of the indices
    order = [
        *builtins.range(batch),
        *builtins.range(of_index, of_index + axis - batch),
        *builtins.range(batch, of_index),
        *builtins.range(of_index + axis - batch, rank + of_index - batch - 1),
    ]
    return na.permute_dims(found, order)


def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Array:
    """The slices of `params` at positions, which are the rows of `indices`."""
    x = _tensor(params)
    return na.gather_nd(x, _tensor(indices, like=x), batch_dims=batch_dims)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Array:
    """The elements of `tensor` where `mask` is true, along one axis in place of the mask's."""
    x = _tensor(tensor)
    chosen = _tensor(mask, like=x)
    count = len(na.shape(chosen))
    first = 0 if axis is None else normal_axis(integers(axis), len(na.shape(x)))
    sizes = na.shape(x)
    flat = math.prod(sizes[first : first + count])
    x = na.reshape(x, (*sizes[:first], flat, *sizes[first + count :]))
    (places,) = na.nonzero(na.reshape(chosen, (-1,)))
    return na.take(x, places, axis=first)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Array:
    """x where the condition is true, else y; without both, the positions of true elements."""
    chosen = _tensor(condition)
    if (x is None) != (y is None):
        raise ArgumentError("where: got one of x and y, expected both or none")
    if x is None:
        if dtypes.dtype_of(chosen) is not dtypes.bool:
            chosen = na.not_equal(chosen, 0)
        if not len(na.shape(chosen)):
            return na.zeros((int(chosen), 0), dtype=dtypes.int64, like=chosen)
        return na.astype(na.stack(na.nonzero(chosen), axis=1), dtypes.int64)
    if not is_tensor(x) and not is_tensor(y):
        like = chosen if is_tensor(condition) else None
        x, y = tensors("where", x, y)
        if like is not None:
            x, y = (na.asarray(v, like=like) for v in (x, y))
    return na.where(chosen, *tensors("where", x, y))


# -- slices ----------------------------------------------------------------------------------


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Array:
    """The elements from `begin`, as many as `size` says; −1 is all that follow."""
    x = _tensor(input_)
    pairs = zip(integers(begin), integers(size), strict=True)
    index = [builtins.slice(i, None if n == -1 else i + n) for i, n in pairs]
    return na.getitem(x, tuple(index))


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Array:
    """The elements of a slice of each axis; bits of masks mean as upstream.

    Raises:
        ArgumentError: `var` is given: arrays are not changed.
    """
    if var is not None:
        raise ArgumentError(
            "strided_slice: var: got a variable, expected None; arrays are not changed"
        )
    begin, end = integers(begin), integers(end)
    steps = (1,) * len(begin) if strides is None else integers(strides)
    index: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(begin, end, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(...)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(start)
        else:
            low = None if begin_mask & bit else start
            index.append(builtins.slice(low, None if end_mask & bit else stop, step))
    return na.getitem(_tensor(input_), tuple(index))


# -- updates ---------------------------------------------------------------------------------


def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None
) -> Array:
    """The sums of updates at positions, which are the rows of `indices`, among zeros."""
    values = _tensor(updates)
    zeros = na.zeros(tuple(integers(shape)), dtype=dtypes.dtype_of(values), like=values)
    return na.scatter_nd(zeros, _tensor(indices, like=values), values, mode="add")


def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Array:
    """`tensor` with other elements at positions, which are the rows of `indices`."""
    x, values = tensors("tensor_scatter_nd_update", tensor, updates)
    return na.scatter_nd(x, _tensor(indices, like=x), values)


def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Array:
    """`tensor` with updates added at positions."""
    x, values = tensors("tensor_scatter_nd_add", tensor, updates)
    return na.scatter_nd(x, _tensor(indices, like=x), values, mode="add")


def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Array:
    """`tensor` with updates subtracted at positions."""
    x, values = tensors("tensor_scatter_nd_sub", tensor, updates)
    return na.scatter_nd(x, _tensor(indices, like=x), na.negative(values), mode="add")


def tensor_scatter_nd_max(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Array:
    """The maxima of `tensor` and updates at positions."""
    x, values = tensors("tensor_scatter_nd_max", tensor, updates)
    return na.scatter_nd(x, _tensor(indices, like=x), values, mode="max")


def tensor_scatter_nd_min(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Array:
    """The minima of `tensor` and updates at positions."""
    x, values = tensors("tensor_scatter_nd_min", tensor, updates)
    return na.scatter_nd(x, _tensor(indices, like=x), values, mode="min")


# -- partitions ------------------------------------------------------------------------------


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Array]:
    """The slices of `data` of each number in `partitions`."""
    x = _tensor(data)
    of = _tensor(partitions, like=x)
    return [boolean_mask(x, na.equal(of, i)) for i in builtins.range(num_partitions)]


def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Array:
    """The slices of `data` at their indices; the last of equal indices remains."""
    values = tensors("dynamic_stitch", *data)
    places = [_tensor(i, like=x) for i, x in zip(indices, values, strict=True)]
    inner = na.shape(values[0])[len(na.shape(places[0])) :]
    flat = na.concat([na.reshape(x, (-1, *inner)) for x in values])
    index = na.concat([na.reshape(i, (-1,)) for i in places])
    count = int(na.max(index)) + 1 if na.shape(index)[0] else 0
    order = na.arange(na.shape(index)[0], dtype=dtypes.int32, like=index)
    last = na.segment_max(order, index, num_segments=count)
    found = na.take(flat, na.maximum(last, 0), axis=0)
    is_there = na.reshape(na.greater_equal(last, 0), (-1,) + (1,) * len(inner))
    return na.where(is_there, found, na.zeros_like(found))
