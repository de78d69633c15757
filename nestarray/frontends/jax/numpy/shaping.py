"""Shapes: reshape, order of axes, joining and splitting.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.jax.in_place import refuse_in_place
from nestarray.frontends.jax.promotion import as_array, cast, cast_all, normal_axis, promote
from nestarray.typing import Array, DTypeLike

__all__ = [
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block",
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "column_stack", "concat",
    "concatenate", "delete", "diagonal", "dsplit", "dstack", "expand_dims", "flip", "fliplr",
    "flipud", "hsplit", "hstack", "insert", "matrix_transpose", "moveaxis", "pad", "permute_dims",
    "ravel", "repeat", "reshape", "resize", "roll", "rollaxis", "rot90", "split", "squeeze",
    "stack", "swapaxes", "tile", "transpose", "trim_zeros", "unstack", "vsplit", "vstack",
]  # fmt: skip

# -- shape and order -----------------------------------------------------------------------------


def reshape(a: Array, shape: Any, order: str = "C", *, copy: builtins.bool | None = None) -> Array:
    """The elements in another shape."""
    sizes = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    return na.reshape(as_array(a), sizes, order=order)


def ravel(a: Array, order: str = "C") -> Array:
    """All elements along one axis."""
    return na.reshape(as_array(a), (-1,), order=order)


def resize(a: Array, new_shape: Any) -> Array:
    """The elements in another shape, repeated or cut."""
    sizes = tuple(new_shape) if hasattr(new_shape, "__iter__") else (new_shape,)
    flat, count = ravel(a), math.prod(sizes)
    length = na.shape(flat)[0]
    if length == 0 or count == 0:
        return na.zeros(sizes, dtype=dtypes.dtype_of(flat), like=flat)
    return na.reshape(na.getitem(na.tile(flat, (-(-count // length),)), slice(count)), sizes)


def transpose(a: Array, axes: Sequence[int] | None = None) -> Array:
    """The axes in another order, by default reversed."""
    rank = len(na.shape(a))
    return na.permute_dims(a, tuple(range(rank))[::-1] if axes is None else tuple(axes))


def permute_dims(a: Array, /, axes: Sequence[int]) -> Array:
    """The axes in another order."""
    return na.permute_dims(a, tuple(axes))


matrix_transpose = na.matrix_transpose


def swapaxes(a: Array, axis1: int, axis2: int) -> Array:
    """Two axes interchanged."""
    return na.swapaxes(a, axis1, axis2)


def moveaxis(a: Array, source: Any, destination: Any) -> Array:
    """Axes at other positions."""
    return na.moveaxis(a, source, destination)


def rollaxis(a: Array, axis: int, start: int = 0) -> Array:
    """An axis moved before the axis `start`."""
    rank = len(na.shape(a))
    axis, start = normal_axis(axis, rank), start + rank if start < 0 else start
    return na.moveaxis(a, axis, start - 1 if axis < start else start)


def squeeze(a: Array, axis: Any = None) -> Array:
    """Without axes of length 1."""
    a = as_array(a)
    if axis is None:
        axis = tuple([i for i, size in enumerate(na.shape(a)) if size == 1])
    return na.squeeze(a, axis=tuple(axis) if isinstance(axis, list) else axis)


def expand_dims(a: Array, axis: Any) -> Array:
    """With new axes of length 1."""
    return na.expand_dims(as_array(a), tuple(axis) if isinstance(axis, list) else axis)


def atleast_1d(*arys: Array) -> Any:
    """At least one axis."""
    return _each(na.atleast_1d, arys)


def atleast_2d(*arys: Array) -> Any:
    """At least two axes."""
    return _each(na.atleast_2d, arys)


def atleast_3d(*arys: Array) -> Any:
    """At least three axes."""
    return _each(na.atleast_3d, arys)


def _each(function: Any, arrays: Sequence[Any]) -> Any:
    found = [function(as_array(x)) for x in arrays]
    return found[0] if len(found) == 1 else found


def broadcast_to(array: Array, shape: Any) -> Array:
    """Repeated along axes of length 1, to `shape`."""
    sizes = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    return na.broadcast_to(as_array(array), sizes)


def broadcast_arrays(*args: Array) -> list[Array]:
    """Arrays of their common shape."""
    return list(na.broadcast_arrays(*map(as_array, args))) if args else []


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The common shape."""
    return na.broadcast_shapes(*shapes)


def flip(m: Array, axis: Any = None) -> Array:
    """Reversed along axes, by default all."""
    return na.flip(as_array(m), axis=axis)


def fliplr(m: Array) -> Array:
    """Reversed along axis 1."""
    return na.flip(m, axis=1)


def flipud(m: Array) -> Array:
    """Reversed along axis 0."""
    return na.flip(m, axis=0)


def rot90(m: Array, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Rotated by k · 90°."""
    return na.rot90(m, k=k, axes=axes)


def roll(a: Array, shift: Any, axis: Any = None) -> Array:
    """Shifted along axes; elements that leave at one end return at the other."""
    numbers = _whole(shift)
    if numbers is not None:
        return na.roll(a, numbers, axis=axis)
    return _rolled(a, shift, axis)


def _whole(shift: Any) -> Any:
    """Shifts as Python numbers; None if one is an array."""
    if isinstance(shift, int):
        return shift
    is_sequence = isinstance(shift, (tuple, list))
    return tuple(shift) if is_sequence and all(isinstance(s, int) for s in shift) else None


def _rolled(a: Array, shift: Any, axis: Any) -> Array:
    if axis is None:
        return na.reshape(_rolled(na.reshape(a, (-1,)), shift, 0), na.shape(a))
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    is_list = isinstance(shift, (tuple, list))
    shifts = list(shift) if is_list else list(na.unstack(na.broadcast_to(shift, (len(axes),))))
    for s, one in zip(shifts, axes, strict=True):
        size = na.shape(a)[one]
        places = na.subtract(na.arange(size, dtype=dtypes.int32, like=a), s)
        a = na.take(a, na.remainder(places, size), axis=one)
    return a


def diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal of two axes, along a new last axis."""
    return na.diagonal(na.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


# -- joining -------------------------------------------------------------------------------------


def concatenate(
    arrays: Sequence[Array], axis: int | None = 0, dtype: DTypeLike | None = None
) -> Array:
    """Arrays joined along an axis; flattened first if it is None."""
    parts = promote(*_parts(arrays)) if dtype is None else cast_all(dtype, *_parts(arrays))
    if axis is None:
        return na.concat([na.reshape(x, (-1,)) for x in parts])
    _check_rank("concatenate", parts[0], 1)
    return na.concat(list(parts), axis=axis)


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Arrays joined along an axis; flattened first if it is None."""
    return concatenate(arrays, axis)


def stack(
    arrays: Sequence[Array], axis: int = 0, out: None = None, dtype: DTypeLike | None = None
) -> Array:
    """Arrays of one shape along a new axis."""
    refuse_in_place("stack", out)
    parts = promote(*_parts(arrays)) if dtype is None else cast_all(dtype, *_parts(arrays))
    return na.stack(list(parts), axis=axis)


def _parts(arrays: Any) -> list[Array]:
    """A list of arrays, or the elements of one along its first axis."""
    return list(na.unstack(arrays)) if hasattr(arrays, "shape") else list(arrays)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The arrays along an axis."""
    return tuple(na.unstack(x, axis=axis))


def vstack(tup: Sequence[Array], dtype: DTypeLike | None = None) -> Array:
    """Arrays one below the other."""
    return concatenate([na.atleast_2d(as_array(x)) for x in _parts(tup)], 0, dtype)


def hstack(tup: Sequence[Array], dtype: DTypeLike | None = None) -> Array:
    """Arrays side by side; vectors one after the other."""
    parts = [na.atleast_1d(as_array(x)) for x in _parts(tup)]
    return concatenate(parts, 0 if len(na.shape(parts[0])) == 1 else 1, dtype)


def dstack(tup: Sequence[Array], dtype: DTypeLike | None = None) -> Array:
    """Arrays one behind the other."""
    return concatenate([na.atleast_3d(as_array(x)) for x in _parts(tup)], 2, dtype)


def column_stack(tup: Sequence[Array]) -> Array:
    """Vectors as the columns of a matrix, and matrices side by side."""
    return na.column_stack(list(promote(*_parts(tup))))


def block(arrays: Any) -> Array:
    """Nested lists of arrays, joined: the innermost lists along the last axis."""
    depth = _depth(arrays)
    rank = max(depth, max(len(na.shape(x)) for x in _blocks(arrays)))
    return _joined(arrays, depth, rank)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _blocks(arrays: Any) -> list[Array]:
    return (
        [x for a in arrays for x in _blocks(a)] if isinstance(arrays, list) else [as_array(arrays)]
    )


def _joined(arrays: Any, depth: int, rank: int) -> Array:
    if not isinstance(arrays, list):
        x = as_array(arrays)
        return na.reshape(x, (1,) * (rank - len(na.shape(x))) + na.shape(x))
    return concatenate([_joined(x, depth - 1, rank) for x in arrays], -depth)


def tile(A: Array, reps: Any) -> Array:
    """Repeated `reps` times along the axes."""
    counts = tuple(reps) if hasattr(reps, "__iter__") else (reps,)
    A = as_array(A)
    rank = len(na.shape(A))
    return na.tile(A, (1,) * (rank - len(counts)) + counts)


def repeat(
    a: Array, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None
) -> Array:
    """Each element repeated."""
    return na.repeat(as_array(a), repeats, axis=axis, total_repeat_length=total_repeat_length)


def append(arr: Array, values: Array, axis: int | None = None) -> Array:
    """`values` after the elements of `arr`."""
    return concatenate([arr, values], axis)


def insert(arr: Array, obj: Any, values: Array, axis: int | None = None) -> Array:
    """`values` before the positions `obj`."""
    arr, axis = _along(arr, axis)
    shape, obj = na.shape(arr), _on_host(obj)
    rank, length = len(shape), shape[axis]
    values = na.astype(_new(values, arr), dtypes.dtype_of(arr))
    count = np.insert(np.empty(length, bool), obj, False).size - length
    if count == 1:  # all values go before one position
        values = na.reshape(values, (1,) * (rank - len(na.shape(values))) + na.shape(values))
        values = values if hasattr(obj, "__len__") else na.moveaxis(values, 0, axis)
        count = na.shape(values)[axis]
    values = na.broadcast_to(values, (*shape[:axis], count, *shape[axis + 1 :]))
    order = np.insert(np.arange(length), obj, np.arange(length, length + count))
    return _taken(na.concat([arr, values], axis=axis), order, axis)


def _along(arr: Array, axis: int | None) -> tuple[Array, int]:
    """The array and the axis, counted from 0; all elements along one axis if it is None."""
    arr = as_array(arr)
    if axis is None:
        return na.reshape(arr, (-1,)), 0
    return arr, normal_axis(axis, len(na.shape(arr)))


def _on_host(obj: Any) -> Any:
    """Positions as NumPy takes them: the values of an array."""
    return na.to_backend(obj, "numpy").tolist() if hasattr(obj, "dtype") else obj


def _new(x: Any, like: Array) -> Array:
    return na.asarray(x, like=like) if isinstance(x, (list, tuple, int, float)) else x


def _between(x: Array, start: int, stop: int, axis: int) -> Array:
    return na.getitem(x, (slice(None),) * axis + (slice(start, stop),))


def _taken(x: Array, order: np.ndarray, axis: int) -> Array:
    return na.take(x, na.asarray(order, dtype=dtypes.int64, like=x), axis=axis)


def delete(
    arr: Array,
    obj: Any,
    axis: int | None = None,
    *,
    assume_unique_indices: builtins.bool = False,
) -> Array:
    """Without the elements at the positions `obj`."""
    arr, axis = _along(arr, axis)
    return _taken(arr, np.delete(np.arange(na.shape(arr)[axis]), _on_host(obj)), axis)


# -- splitting -----------------------------------------------------------------------------------


def split(ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Equal parts, or the parts between positions."""
    size = na.shape(ary)[axis]
    if isinstance(indices_or_sections, int) and size % indices_or_sections:
        raise ArgumentError(
            f"split: indices_or_sections: got {indices_or_sections} for an axis of length {size}, "
            "expected a divisor; array_split takes others"
        )
    return array_split(ary, indices_or_sections, axis)


def array_split(ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Parts of nearly equal length, or the parts between positions."""
    if isinstance(indices_or_sections, int):
        return list(na.array_split(ary, indices_or_sections, axis=axis))
    axis = normal_axis(axis, len(na.shape(ary)))
    ends = [0, *map(operator.index, indices_or_sections), na.shape(ary)[axis]]
    return [_between(ary, start, stop, axis) for start, stop in itertools.pairwise(ends)]


def _check_rank(name: str, ary: Array, rank: int) -> None:
    if len(na.shape(ary)) < rank:
        raise ShapeError(f"{name}: got shape {na.shape(ary)}, expected {rank} axes or more")


def hsplit(ary: Array, indices_or_sections: Any) -> list[Array]:
    """Split along axis 1, a vector along axis 0."""
    _check_rank("hsplit", ary, 1)
    return split(ary, indices_or_sections, 0 if len(na.shape(ary)) == 1 else 1)


def vsplit(ary: Array, indices_or_sections: Any) -> list[Array]:
    """Split along axis 0."""
    _check_rank("vsplit", ary, 2)
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Array, indices_or_sections: Any) -> list[Array]:
    """Split along axis 2."""
    _check_rank("dsplit", ary, 3)
    return split(ary, indices_or_sections, 2)


def trim_zeros(filt: Array, trim: str = "fb", axis: Any = None) -> Array:
    """Without zeros at the front ("f") and the back ("b")."""
    return na.trim_zeros(filt, trim=trim, axis=axis)


# -- borders -------------------------------------------------------------------------------------


def pad(array: Array, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """With elements added at both ends of each axis."""
    array = as_array(array)
    rank = len(na.shape(array))
    widths = _pairs(pad_width, rank)
    if callable(mode):
        return _padded_by(array, widths, mode, kwargs)
    if mode == "empty":
        mode = "constant"
    if mode == "constant":
        return _padded_constant(array, widths, _pairs(kwargs.get("constant_values", 0), rank))
    for axis, (before, after) in enumerate(widths):
        if (before or after) and not na.shape(array)[axis]:
            raise ShapeError(f"pad: got an axis without elements for mode {mode!r}")
        if before or after:
            array = _padded(array, axis, before, after, mode, kwargs, rank)
    return array


def _pairs(value: Any, rank: int) -> list[tuple[Any, Any]]:
    """One pair for each axis, from a number, a pair or pairs."""
    if isinstance(value, dict):
        given = {normal_axis(axis, rank): pair for axis, pair in value.items()}
        return [_pair(given.get(axis, 0)) for axis in range(rank)]
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return [(value, value)] * rank
    if len(value) == 1:
        return _pairs(value[0], rank)
    if not isinstance(value[0], (list, tuple)):
        return [_pair(value)] * rank
    if len(value) != rank:
        raise ArgumentError(f"pad: got {len(value)} pairs, expected one for each of {rank} axes")
    return [_pair(pair) for pair in value]


def _pair(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, (list, tuple)):
        return value, value
    if not 1 <= len(value) <= 2:
        raise ArgumentError(f"pad: got {value}, expected a number, or one before and one after")
    return value[0], value[-1]


def _padded_constant(x: Array, widths: Any, values: Any) -> Array:
    dtype = dtypes.dtype_of(x)
    for axis, ((before, after), (low, high)) in enumerate(zip(widths, values)):
        parts = [x]
        for count, value, position in ((before, low, 0), (after, high, 1)):
            if not count:
                continue
            sizes = [count if i == axis else n for i, n in enumerate(na.shape(x))]
            filled = (
                cast(value, dtype)
                if hasattr(value, "dtype")
                else na.full((), value, dtype=dtype, like=x)
            )
            parts.insert(position * len(parts), na.broadcast_to(filled, sizes))
        x = na.concat(parts, axis=axis) if len(parts) > 1 else x
    return x


def _padded(
    x: Array, axis: int, before: int, after: int, mode: str, settings: Any, rank: int
) -> Array:
    length = na.shape(x)[axis]
    if mode in ("reflect", "symmetric", "wrap", "edge"):
        places = [_source(i, length, mode) for i in range(-before, length + after)]
        index = na.asarray(places, dtype=dtypes.int64, like=x)
        if settings.get("reflect_type", "even") == "even":
            return na.take(x, index, axis=axis)
        return _padded_odd(x, axis, before, after, mode)
    if mode == "linear_ramp":
        return _padded_ramp(
            x, axis, before, after, _pairs(settings.get("end_values", 0), rank)[axis]
        )
    return _padded_statistic(x, axis, before, after, mode, settings.get("stat_length"), rank)


def _source(i: int, length: int, mode: str) -> int:
    """The position that an added element repeats."""
    if mode == "edge" or length == 1:
        return min(max(i, 0), length - 1)
    if mode == "wrap":
        return i % length
    period = 2 * length if mode == "symmetric" else 2 * length - 2
    i %= period
    return i if i < length else (2 * length - 1 if mode == "symmetric" else period) - i


def _padded_odd(x: Array, axis: int, before: int, after: int, mode: str) -> Array:
    """Reflection at the point of the edge element: 2 · edge − element."""
    offset = 1 if mode == "reflect" else 0
    while before or after:
        length = na.shape(x)[axis]
        reach = length - offset
        if reach == 0:
            return _padded(x, axis, before, after, "edge", {}, len(na.shape(x)))
        first, last = _between(x, 0, 1, axis), _between(x, length - 1, length, axis)
        low, high = min(before, reach), min(after, reach)
        left = na.flip(_between(x, offset, offset + low, axis), axis=axis)
        right = na.flip(_between(x, reach - high, reach, axis), axis=axis)
        x = na.concat([2 * first - left, x, 2 * last - right], axis=axis)
        before, after = before - low, after - high
    return x


def _padded_ramp(x: Array, axis: int, before: int, after: int, ends: tuple[Any, Any]) -> Array:
    dtype = dtypes.dtype_of(x)
    length, rank = na.shape(x)[axis], len(na.shape(x))
    wide = x if dtype.is_inexact else na.astype(x, dtypes.float32)
    sizes = [1] * rank
    sizes[axis] = -1

    def ramp(end: Any, edge: Array, count: int) -> Array:
        steps = na.arange(count, dtype=dtypes.dtype_of(wide), like=x)
        weight = na.reshape(na.divide(steps, max(count, 1)), sizes)
        found = na.add(na.multiply(na.subtract(1.0, weight), end), na.multiply(weight, edge))
        return na.astype(found if dtype.is_inexact else na.floor(found), dtype)

    left = ramp(ends[0], _between(wide, 0, 1, axis), before)
    right = na.flip(ramp(ends[1], _between(wide, length - 1, length, axis), after), axis=axis)
    return na.concat([left, x, right], axis=axis)


def _padded_statistic(
    x: Array, axis: int, before: int, after: int, mode: str, stat_length: Any, rank: int
) -> Array:
    function = {"maximum": na.max, "minimum": na.min, "mean": na.mean, "median": na.median}[mode]
    dtype, length = dtypes.dtype_of(x), na.shape(x)[axis]
    low, high = (length, length) if stat_length is None else _pairs(stat_length, rank)[axis]

    def filled(part: Array, count: int) -> Array:
        value = function(part, axis=axis, keepdims=True)
        if dtypes.dtype_of(value) is not dtype:
            value = na.astype(value if dtype is dtypes.bool else na.round(value), dtype)
        sizes = [count if i == axis else n for i, n in enumerate(na.shape(x))]
        return na.broadcast_to(value, sizes)

    left = filled(_between(x, 0, min(low, length), axis), before)
    right = filled(_between(x, max(length - high, 0), length, axis), after)
    return na.concat([left, x, right], axis=axis)


def _padded_by(x: Array, widths: Any, function: Any, settings: Any) -> Array:
    """Padded by a function of (vector, widths, axis, settings), as ``numpy.pad``."""
    x = _padded_constant(x, widths, [(0, 0)] * len(widths))
    for axis, pair in enumerate(widths):
        moved = na.moveaxis(x, axis, -1)
        rows = na.reshape(moved, (-1, na.shape(moved)[-1]))
        rows = na.stack([function(row, pair, axis, settings) for row in na.unstack(rows)])
        x = na.moveaxis(na.reshape(rows, na.shape(moved)), -1, axis)
    return x
