"""Shapes, axes and parts of arrays.

Upstream, one page a function: https://docs.jax.dev/en/latest/_autosummary/jax.lax.reshape.html
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.typing import Array, Nest

__all__ = [
    "broadcast",
    "broadcast_in_dim",
    "broadcast_like",
    "broadcast_shapes",
    "broadcast_to_rank",
    "broadcasted_iota",
    "collapse",
    "concatenate",
    "dtype",
    "empty",
    "expand_dims",
    "full",
    "full_like",
    "iota",
    "iota_2x32_shape",
    "optimization_barrier",
    "pad",
    "reshape",
    "rev",
    "shape_as_value",
    "slice",
    "slice_in_dim",
    "split",
    "squeeze",
    "stack",
    "stage",
    "tile",
    "transpose",
    "unstack",
    "with_sharding_constraint",
]  # fmt: skip


def full(shape: Sequence[int], fill_value: Any, dtype: Any = None) -> Array:
    """An array of equal elements, on the default backend."""
    return na.full(tuple(shape), fill_value, dtype=dtype)


def iota(dtype: Any, size: int) -> Array:
    """0, 1, …, size − 1, on the default backend."""
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Array:
    """The positions along an axis, on the default backend."""
    dtype = dtypes.as_dtype(dtype)
    sizes = [1] * len(shape)
    sizes[dimension] = shape[dimension]
    steps = na.reshape(na.astype(na.arange(shape[dimension]), dtype), tuple(sizes))
    return na.broadcast_to(steps, tuple(shape))


def iota_2x32_shape(shape: Sequence[int]) -> tuple[Array, Array]:
    """The (upper, lower) 32 bits of the position of each element, uint32."""
    places = na.reshape(na.arange(math.prod(shape), dtype=dtypes.uint64), tuple(shape))
    upper = na.bitwise_right_shift(places, 32)
    lower = na.bitwise_and(places, (1 << 32) - 1)
    return na.astype(upper, dtypes.uint32), na.astype(lower, dtypes.uint32)


def broadcast_in_dim(
    operand: Array, shape: Sequence[int], broadcast_dimensions: Sequence[int]
) -> Array:
    """Axis i of `operand` becomes axis ``broadcast_dimensions[i]``; the others are repeated."""
    sizes = [1] * len(shape)
    for size, axis in zip(na.shape(operand), broadcast_dimensions, strict=True):
        sizes[axis] = size
    operand = na.reshape(operand, tuple(sizes))
    is_known = all(isinstance(n, int) for n in (*sizes, *shape))  # open sizes do not compare
    if is_known and tuple(sizes) == tuple(shape):
        return operand
    return na.broadcast_to(operand, tuple(shape))


def reshape(
    operand: Array, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None
) -> Array:
    """The elements in another shape, after a permutation of the axes."""
    if dimensions is not None:
        operand = na.permute_dims(operand, tuple(dimensions))
    return na.reshape(operand, tuple(new_sizes))


def squeeze(array: Array, dimensions: Sequence[int]) -> Array:
    """Without these axes, which have length 1."""
    return na.squeeze(array, axis=tuple(dimensions)) if len(dimensions) else array


def expand_dims(array: Array, dimensions: Sequence[int]) -> Array:
    """With new axes of length 1 at these places of the result."""
    return na.expand_dims(array, tuple(dimensions)) if len(dimensions) else array


def transpose(operand: Array, permutation: Sequence[int]) -> Array:
    """The axes in another order."""
    return na.permute_dims(operand, tuple(permutation))


def rev(operand: Array, dimensions: Sequence[int]) -> Array:
    """The elements in reversed order along these axes."""
    return na.flip(operand, axis=tuple(dimensions)) if len(dimensions) else operand


def concatenate(operands: Sequence[Array], dimension: int) -> Array:
    """Arrays one after another along an axis."""
    return na.concat(list(operands), axis=dimension)


def stack(operands: Sequence[Array], axis: int) -> Array:
    """Arrays along a new axis."""
    return na.stack(list(operands), axis=axis)


def tile(operand: Array, reps: Sequence[int]) -> Array:
    """`operand`, repeated along each axis."""
    return na.tile(operand, tuple(reps))


def split(operand: Array, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Parts of these sizes along an axis."""
    parts, start = [], 0
    for size in sizes:
        parts.append(na.getitem(operand, (*[builtins.slice(None)] * axis,
                                          builtins.slice(start, start + size))))  # fmt: skip
        start += size
    return parts


def slice(
    operand: Array,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array:
    """``operand[start:limit:stride]`` along each axis."""
    steps = strides or [1] * len(start_indices)
    index = map(builtins.slice, start_indices, limit_indices, steps)
    return na.getitem(operand, tuple(index))


def pad(
    operand: Array, padding_value: Array, padding_config: Sequence[tuple[int, int, int]]
) -> Array:
    """(low, high, interior) elements of `padding_value` along each axis; negative ones are cut."""
    sizes = na.shape(operand)
    if any(interior for *_, interior in padding_config):
        # a size of 1 before each interior: x 0 0 x 0 0, of which the last zeros are cut
        wide, narrow = [], []
        for size, (_, _, interior) in zip(sizes, padding_config, strict=True):
            wide += [size, 1] if interior else [size]  # TensorFlow pads up to 8 axes
            narrow += [(0, 0), (0, interior)] if interior else [(0, 0)]
        operand = _padded(na.reshape(operand, tuple(wide)), padding_value, narrow)
        shape = [s * (1 + c[2]) for s, c in zip(sizes, padding_config, strict=True)]
        operand = na.reshape(operand, tuple(shape))
        ends = [
            builtins.max(n - c[2], 0) if n else 0
            for n, c in zip(shape, padding_config, strict=True)
        ]
        operand = na.getitem(operand, tuple(map(builtins.slice, ends)))
    pairs = [(low, high) for low, high, _ in padding_config]
    operand = _padded(
        operand, padding_value, [(builtins.max(a, 0), builtins.max(b, 0)) for a, b in pairs]
    )
    if any(n < 0 for pair in pairs for n in pair):
        index = [
            builtins.slice(builtins.max(-a, 0), builtins.max(n - builtins.max(-b, 0), 0))
            for n, (a, b) in zip(na.shape(operand), pairs, strict=True)
        ]
        operand = na.getitem(operand, tuple(index))
    return operand


def _padded(x: Array, value: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    if not any(n for pair in pairs for n in pair):
        return x
    if isinstance(value, (bool, int, float, complex)):
        return na.pad(x, pairs, constant_values=value)
    is_inside = na.pad(na.ones_like(x, dtype=dtypes.bool), pairs)
    return na.where(is_inside, na.pad(x, pairs), value)


def broadcast(operand: Array, sizes: Sequence[int]) -> Array:
    """`operand` repeated along new axes of these sizes, which are the first."""
    return na.broadcast_to(operand, (*sizes, *na.shape(operand)))


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape to which arrays of these shapes broadcast."""
    return tuple(na.broadcast_shapes(*map(tuple, shapes)))


def broadcast_to_rank(x: Array, rank: int) -> Array:
    """`x` with new first axes of length 1."""
    shape = na.shape(x)
    return na.reshape(x, (*[1] * (rank - len(shape)), *shape))


def broadcast_like(arr: Array, like_arr: Array) -> Array:
    """`arr` repeated to the shape of `like_arr`."""
    return na.broadcast_to(arr, na.shape(like_arr))


def collapse(operand: Array, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """The axes from `start_dimension` to before `stop_dimension` as one axis."""
    shape = na.shape(operand)
    first, stop, _ = builtins.slice(start_dimension, stop_dimension).indices(len(shape))
    return na.reshape(operand, (*shape[:first], math.prod(shape[first:stop]), *shape[stop:]))


def dtype(x: Any) -> dtypes.DType:
    """The dtype of an array."""
    return dtypes.dtype_of(x)


def empty(shape: Sequence[int], dtype: Any) -> Array:
    """Zeros, on the default backend."""
    return na.zeros(tuple(shape), dtype=dtype)


def full_like(
    x: Array,
    fill_value: Any,
    dtype: Any = None,
    shape: Sequence[int] | None = None,
) -> Array:
    """An array of equal elements, of the dtype and shape of `x` by default."""
    dtype = dtypes.dtype_of(x) if dtype is None else dtypes.as_dtype(dtype)
    shape = na.shape(x) if shape is None else tuple(shape)
    return na.full(shape, fill_value, dtype=dtype, like=x)


def optimization_barrier(operand: Nest) -> Nest:
    """`operand`: no framework here moves operations across calls."""
    return operand


def shape_as_value(shape: Sequence[int]) -> Array:
    """The sizes as an array of int32, on the default backend."""
    return na.asarray(list(shape), dtype=dtypes.int32)


def stage(x: Array, /) -> Array:
    """`x` as an array."""
    return na.asarray(x)


def with_sharding_constraint(x: Nest, shardings: Any) -> Nest:
    """`x`: arrays here have no shardings."""
    return x


def slice_in_dim(
    operand: Array,
    start_index: int | None,
    limit_index: int | None,
    stride: int = 1,
    axis: int = 0,
) -> Array:
    """``operand[start:limit:stride]`` along one axis."""
    index = [builtins.slice(None)] * len(na.shape(operand))
    index[axis] = builtins.slice(start_index, limit_index, stride)
    return na.getitem(operand, tuple(index))


def unstack(x: Array, axis: int = 0) -> tuple[Array, ...]:
    """The slices along an axis."""
    return tuple(na.unstack(x, axis=axis))
