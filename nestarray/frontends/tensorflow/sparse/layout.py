"""Order, shape and parts of sparse tensors.

Upstream: https://www.tensorflow.org/api_docs/python/tf/sparse/reorder
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.tensorflow.conversion import integers, normal_axis, tensor
from nestarray.frontends.tensorflow.sparse.tensors import (
    SparseTensor,
    chosen,
    flat_indices,
    full_indices,
    shape_array,
)
from nestarray.typing import Array

__all__ = [
    "concat", "expand_dims", "fill_empty_rows", "reorder", "reset_shape", "reshape", "retain",
    "slice", "split", "transpose",
]  # fmt: skip


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The elements in row-major order."""
    order = na.argsort(flat_indices(sp_input.indices, sp_input.shape), stable=True)
    return _taken(sp_input, order)


def _taken(x: SparseTensor, places: Array) -> SparseTensor:
    """The elements at these places of the list of elements."""
    indices, values = [na.take(part, places, axis=0) for part in (x.indices, x.values)]
    return SparseTensor(indices, values, x.dense_shape)


def retain(sp_input: SparseTensor, to_retain: Any) -> SparseTensor:
    """The elements where a vector of bools is true."""
    return _taken(sp_input, chosen(tensor(to_retain, like=sp_input.values)))


def reset_shape(sp_input: SparseTensor, new_shape: Any = None) -> SparseTensor:
    """The elements in a larger shape; None: in the smallest that holds them.

    Raises:
        ShapeError: the shape is smaller, or has another rank.
    """
    indices, values = sp_input.indices, sp_input.values
    if new_shape is None:
        ends = integers(na.add(na.max(indices, axis=0), 1))
        return SparseTensor(indices, values, ends)
    old, new = sp_input.shape, integers(new_shape)
    if len(old) != len(new) or any(n > m for n, m in zip(old, new, strict=True)):
        raise ShapeError(
            f"reset_shape: new_shape: got {tuple(new)}, expected a shape that contains {old}"
        )
    return SparseTensor(indices, values, tuple(new))


def reshape(sp_input: SparseTensor, shape: Any, name: str | None = None) -> SparseTensor:
    """The elements in another shape; −1 is the remaining size."""
    old, new = sp_input.shape, list(integers(shape))
    if -1 in new:
        new[new.index(-1)] = math.prod(old) // max(-math.prod(new), 1)
    if math.prod(new) != math.prod(old):
        raise ShapeError(f"reshape: shape: got {tuple(new)}, expected the size of {old}")
    indices = full_indices(flat_indices(sp_input.indices, old), tuple(new))
    return SparseTensor(indices, sp_input.values, tuple(new))


def transpose(sp_input: SparseTensor, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The axes in another order, by default reversed."""
    shape = sp_input.shape
    order = integers(perm) if perm is not None else tuple(range(len(shape)))[::-1]
    indices = na.stack([na.getitem(sp_input.indices, (..., i)) for i in order], axis=1)
    sizes = tuple([shape[i] for i in order])
    return reorder(SparseTensor(indices, sp_input.values, sizes))


def expand_dims(sp_input: SparseTensor, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A tensor with an axis of size 1, by default the last."""
    shape = list(sp_input.shape)
    place = normal_axis(-1 if axis is None else integers(axis), len(shape) + 1)
    columns = list(na.unstack(sp_input.indices, axis=1))
    columns.insert(place, na.zeros_like(columns[0]))
    shape.insert(place, 1)
    return SparseTensor(na.stack(columns, axis=1), sp_input.values, tuple(shape))


def concat(
    axis: Any,
    sp_inputs: Sequence[SparseTensor],
    expand_nonconcat_dims: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Tensors after one another along an axis, without a derivative, as upstream.

    Raises:
        ShapeError: their other sizes differ, and `expand_nonconcat_dims` is False.
    """
    shapes = [list(x.shape) for x in sp_inputs]
    along, at, indices = normal_axis(integers(axis), len(shapes[0])), 0, []
    others = {tuple([n for i, n in enumerate(s) if i != along]) for s in shapes}
    if len(others) > 1 and not expand_nonconcat_dims:
        raise ShapeError(
            f"concat: sp_inputs: got the shapes {[tuple(s) for s in shapes]}, expected equal sizes "
            f"but for axis {along}, or expand_nonconcat_dims=True"
        )
    for x, shape in zip(sp_inputs, shapes, strict=True):
        offset = [at if i == along else 0 for i in range(len(shape))]
        indices.append(na.add(x.indices, shape_array(offset, x.values)))
        at += shape[along]
    sizes = [max(column) for column in zip(*shapes, strict=True)]
    sizes[along] = at
    values = na.concat([na.stop_gradient(x.values) for x in sp_inputs])
    return reorder(SparseTensor(na.concat(indices), values, tuple(sizes)))


def slice(sp_input: SparseTensor, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The block of a size from a place on, or its part within the tensor."""
    low, counts = list(integers(start)), list(integers(size))
    sizes = [
        max(0, min(n, whole - first))
        for first, n, whole in zip(low, counts, sp_input.shape, strict=True)
    ]
    offset = na.subtract(sp_input.indices, shape_array(low, sp_input.values))
    ends = shape_array(sizes, sp_input.values)
    is_inside = na.logical_and(na.greater_equal(offset, 0), na.less(offset, ends))
    kept = chosen(na.all(is_inside, axis=1))
    return _taken(SparseTensor(offset, sp_input.values, tuple(sizes)), kept)


def split(
    sp_input: SparseTensor | None = None,
    num_split: Any = None,
    axis: Any = None,
    name: str | None = None,
) -> list[SparseTensor]:
    """Parts along an axis; the first ones are longer by one if the number does not divide it.

    Raises:
        ArgumentError: an argument is missing.
    """
    if sp_input is None or num_split is None or axis is None:
        raise ArgumentError("split: got None, expected sp_input, num_split and axis")
    shape = list(sp_input.shape)
    along, count = normal_axis(integers(axis), len(shape)), integers(num_split)
    length, longer = divmod(shape[along], count)
    found, at = [], 0
    for i in range(count):
        start, size = [0] * len(shape), list(shape)
        start[along], size[along] = at, length + (i < longer)
        found.append(slice(sp_input, start, size))
        at += size[along]
    return found


def fill_empty_rows(
    sp_input: SparseTensor, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Array]:
    """A matrix with an element in each row: `default_value` in rows without, and which these are."""
    found, is_empty, _ = filled_rows(sp_input, default_value)
    return found, is_empty


def filled_rows(x: SparseTensor, default_value: Any) -> tuple[SparseTensor, Array, Array]:
    """`fill_empty_rows`, and the place of each element of `x` in the result."""
    rows = na.getitem(x.indices, (..., 0))
    numbers = na.arange(x.shape[0], dtype=dtypes.dtype_of(rows), like=rows)
    is_empty = na.logical_not(na.isin(numbers, rows))
    new = chosen(is_empty)
    zeros = [na.zeros_like(new)] * (len(x.shape) - 1)
    added = na.astype(na.stack([new, *zeros], axis=1), dtypes.dtype_of(rows))
    default = na.broadcast_to(tensor(default_value, x.dtype, x.values), (na.shape(new)[0],))
    filled = SparseTensor(
        na.concat([x.indices, added]), na.concat([x.values, default]), x.dense_shape
    )
    order = na.argsort(na.getitem(filled.indices, (..., 0)), stable=True)
    places = na.getitem(na.argsort(order), builtins.slice(na.shape(rows)[0]))
    return _taken(filled, order), is_empty, na.astype(places, dtypes.int64)
