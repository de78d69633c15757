"""Shapes and the arrangement of elements.

Upstream: https://www.tensorflow.org/api_docs/python/tf/reshape
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.tensorflow.conversion import (
    axes_of,
    integers,
    is_tensor,
    normal_axis,
    tensors,
)
from nestarray.frontends.tensorflow.conversion import tensor as _tensor
from nestarray.typing import Array, DTypeLike

__all__ = [
    "broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to", "concat", "ensure_shape",
    "expand_dims", "extract_volume_patches", "guarantee_const", "identity",
    "identity_n", "is_tensor", "pad", "parallel_stack", "rank", "repeat", "reshape", "reverse",
    "reverse_sequence", "roll", "shape", "shape_n", "size", "split", "squeeze", "stack", "tile",
    "transpose", "unravel_index", "unstack",
]  # fmt: skip


# -- shapes ----------------------------------------------------------------------------------


def shape(input: Any, out_type: DTypeLike | None = None, name: str | None = None) -> Array:
    """The shape as a tensor, by default of int32."""
    x = _tensor(input)
    return na.asarray(list(na.shape(x)), dtype=out_type or dtypes.int32, like=x)


def shape_n(
    input: Sequence[Any], out_type: DTypeLike = dtypes.int32, name: str | None = None
) -> list[Array]:
    """The shapes of several tensors."""
    return [shape(x, out_type) for x in input]


def rank(input: Any, name: str | None = None) -> Array:
    """The number of axes as a tensor of int32."""
    x = _tensor(input)
    return na.asarray(len(na.shape(x)), dtype=dtypes.int32, like=x)


def size(input: Any, out_type: DTypeLike | None = None, name: str | None = None) -> Array:
    """The number of elements as a tensor, by default of int32."""
    x = _tensor(input)
    return na.asarray(math.prod(na.shape(x)), dtype=out_type or dtypes.int32, like=x)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Array:
    """The elements in another shape, of which one size may be −1."""
    return na.reshape(_tensor(tensor), tuple(integers(shape)))


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Array:
    """`x`, if its sizes are those of `shape`, where None stands for any size."""
    x = _tensor(x)
    sizes = tuple(na.shape(x))
    if shape is None:
        return x
    wanted = tuple(integers(shape))
    if len(wanted) != len(sizes) or any(m not in (None, n) for n, m in zip(sizes, wanted)):
        raise ShapeError(f"ensure_shape: x: got the shape {sizes}, expected {wanted}")
    return x


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Array:
    """A new axis of size 1."""
    return na.expand_dims(_tensor(input), integers(axis))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Array:
    """`input` without axes of size 1: the given ones, or all."""
    x = _tensor(input)
    if axis is None or axis == []:
        axis = tuple([i for i, n in enumerate(na.shape(x)) if n == 1])
    return na.squeeze(x, axis=axes_of(axis, len(na.shape(x))))


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Array:
    """`input`, repeated along axes of size 1 to another shape."""
    return na.broadcast_to(_tensor(input), tuple(integers(shape)))


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> tuple[Any, ...]:
    """The shape to which two shapes broadcast."""
    return na.broadcast_shapes(tuple(integers(shape_x)), tuple(integers(shape_y)))


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Array:
    """The shape to which two shapes broadcast, as a tensor."""
    found = broadcast_static_shape(shape_x, shape_y)
    like = shape_x if is_tensor(shape_x) else shape_y if is_tensor(shape_y) else None
    dtype = dtypes.int32 if like is None else dtypes.dtype_of(like)
    return na.asarray(list(found), dtype=dtype, like=like)


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Array:
    """The coordinates of indices in a flattened array, a row for each axis."""
    x = _tensor(indices)
    found = na.stack(na.unravel_index(x, tuple(integers(dims))))
    return na.astype(found, dtypes.dtype_of(x))


# -- parts -----------------------------------------------------------------------------------


def concat(values: Any, axis: Any, name: str = "concat") -> Array:
    """Tensors one after the other along an axis."""
    if not isinstance(values, (list, tuple)):
        return _tensor(values)
    return na.concat(tensors("concat", *values), axis=integers(axis))


def stack(values: Any, axis: int = 0, name: str = "stack") -> Array:
    """Tensors side by side along a new axis."""
    if is_tensor(values):
        values = na.unstack(values)
    return na.stack(tensors("stack", *values), axis=axis)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Array:
    """Tensors side by side along a new first axis."""
    return stack(values)


def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Array]:
    """The slices along an axis."""
    x = _tensor(value)
    count = na.shape(x)[normal_axis(axis, len(na.shape(x)))]
    if num is not None and num != count:
        raise ArgumentError(f"unstack: num: got {num}, expected {count}, the size of axis {axis}")
    return list(na.unstack(x, axis=axis))


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Array]:
    """Parts along an axis: a number of equal ones, or of the given sizes, of which one may be −1."""
    x = _tensor(value)
    axis = normal_axis(integers(axis), len(na.shape(x)))
    length = na.shape(x)[axis]
    sizes = integers(num_or_size_splits)
    if not isinstance(sizes, (list, tuple)):
        if length % sizes:
            raise ShapeError(
                f"split: num_or_size_splits: got {sizes}, expected a divisor of {length}, the size of "
                f"axis {axis}"
            )
        sizes = [length // sizes] * sizes
    sizes = list(sizes)
    if -1 in sizes:
        sizes[sizes.index(-1)] = length - sum(sizes) - 1
    return list(na.split(x, sizes, axis=axis))


# -- arrangement -----------------------------------------------------------------------------


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Array:
    """`a` with its axes in another order, by default reversed."""
    x = _tensor(a)
    order = tuple(reversed(builtins.range(len(na.shape(x))))) if perm is None else integers(perm)
    x = na.permute_dims(x, order)
    return na.conj(x) if conjugate and dtypes.dtype_of(x).kind == "complex" else x


def tile(input: Any, multiples: Any, name: str | None = None) -> Array:
    """`input` repeated along each axis."""
    return na.tile(_tensor(input), tuple(integers(multiples)))


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Array:
    """Each element repeated: by one number, or by one for each along an axis."""
    x = _tensor(input)
    return na.repeat(x, _number_or_tensor(repeats, x), axis=axis)


def _number_or_tensor(x: Any, like: Array) -> Any:
    """A number of a scalar or of a sequence of one number, else an array."""
    if isinstance(x, int):
        return x
    found = _tensor(x, like=like)
    if math.prod(na.shape(found)) == 1 and len(na.shape(found)) < 2:
        return integers(na.reshape(found, ()))
    return found


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Array:
    """`tensor` with elements before and after each axis.

    Args:
        tensor: any tensor.
        paddings: a pair (before, after) for each axis.
        mode: ``"CONSTANT"``: `constant_values`; ``"REFLECT"``: the mirror image without the border
            element; ``"SYMMETRIC"``: with it.
        constant_values: a number, without a derivative.
        name: has no effect.
    """
    x = _tensor(tensor)
    if mode.upper() not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ArgumentError(
            f"pad: mode: got {mode!r}, expected 'CONSTANT', 'REFLECT' or 'SYMMETRIC'"
        )
    pairs = [(low, high) for low, high in integers(paddings)]
    if mode.upper() != "CONSTANT" or not is_tensor(constant_values):
        return na.pad(x, pairs, mode=mode.lower(), constant_values=constant_values)
    is_inside = na.pad(na.ones_like(x, dtype=dtypes.bool), pairs)
    return na.where(is_inside, na.pad(x, pairs), na.stop_gradient(constant_values))


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Array:
    """`tensor` in reverse order along axes."""
    x = _tensor(tensor)
    axes = axes_of(axis, len(na.shape(x)))
    return na.flip(x, axis=axes) if axes else x


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Array:
    """The first elements along `seq_axis` in reverse order, as many as the length of each example."""
    x = _tensor(input)
    count = len(na.shape(x))
    axis = normal_axis(0 if seq_axis is None else seq_axis, count)
    batch = normal_axis(0 if batch_axis is None else batch_axis, count)
    sizes = [1] * count
    sizes[batch] = -1
    lengths = na.reshape(_tensor(seq_lengths, like=x), sizes)
    sizes = [1] * count
    sizes[axis] = na.shape(x)[axis]
    position = na.arange(na.shape(x)[axis], dtype=na.dtype_of(lengths), like=x)
    position = na.reshape(position, sizes)
    is_inside = na.less(position, lengths)
    index = na.where(is_inside, na.subtract(na.subtract(lengths, position), 1), position)
    return na.take_along_axis(x, na.broadcast_to(index, na.shape(x)), axis=axis)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Array:
    """`input` shifted along axes, where the last elements come first."""
    return na.roll(_tensor(input), integers(shift), axis=integers(axis))


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Array:
    """The blocks of `(batch, planes, rows, columns, channels)` at each place, flattened in the last axis."""
    x = _tensor(input)
    window, steps = integers(ksizes)[1:4], integers(strides)[1:4]
    sizes = na.shape(x)[1:4]
    if padding == "SAME":
        totals = [
            max((-(-n // s) - 1) * s + k - n, 0)
            for n, k, s in zip(sizes, window, steps, strict=True)
        ]
        x = na.pad(x, [(0, 0), *[(n // 2, n - n // 2) for n in totals], (0, 0)])
    found = na.sliding_window_view(x, window, axis=(1, 2, 3), step=steps)
    found = na.moveaxis(found, 4, -1)
    shape = na.shape(found)
    return na.reshape(found, (*shape[:4], math.prod(shape[4:])))


# -- identities ------------------------------------------------------------------------------


def identity(input: Any, name: str | None = None) -> Array:
    """`input`."""
    return _tensor(input)


def guarantee_const(input: Any, name: str | None = None) -> Array:
    """`input`."""
    return _tensor(input)


def identity_n(input: Sequence[Any], name: str | None = None) -> list[Array]:
    """The tensors of a list."""
    return [_tensor(x) for x in input]
