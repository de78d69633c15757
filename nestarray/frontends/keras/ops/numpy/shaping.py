"""Shapes, joints and parts of arrays.

Upstream: https://keras.io/api/ops/numpy/
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.keras.promotion import (
    as_array,
    as_arrays,
    as_dtype,
    axes_of,
    cast,
    normal_axis,
    promote,
    result_type,
)
from nestarray.typing import Array, Axis, DTypeLike, Shape

__all__ = [
    "append", "array_split", "broadcast_to", "concatenate", "copy", "diagonal", "diff", "dsplit",
    "dstack", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "hstack", "moveaxis", "ndim",
    "pad", "ravel", "repeat", "reshape", "roll", "rot90", "size", "split", "squeeze", "stack",
    "swapaxes", "tile", "transpose", "view", "vsplit", "vstack",
]  # fmt: skip


def ndim(x: Array) -> int:
    """The number of axes."""
    return len(na.shape(as_array(x)))


def size(x: Array) -> Array:
    """The number of elements."""
    x = as_array(x)
    return na.asarray(math.prod(na.shape(x)), dtype=dtypes.int32, like=x)


def copy(x: Array) -> Array:
    """`x`: arrays are immutable."""
    return as_array(x)


def view(x: Array, dtype: DTypeLike | None = None) -> Array:
    """The bits of x as elements of another dtype."""
    x = as_array(x)
    return x if dtype is None else na.bitcast(x, as_dtype(dtype))


def reshape(x: Array, newshape: int | Shape) -> Array:
    """The same elements in another shape; one size may be −1."""
    x = as_array(x)
    return na.reshape(x, (newshape,) if isinstance(newshape, int) else tuple(newshape))


def ravel(x: Array) -> Array:
    """The elements as a vector."""
    return na.reshape(as_array(x), (-1,))


def broadcast_to(x: Array, shape: Shape) -> Array:
    """`x` repeated along axes of length 1."""
    return na.broadcast_to(as_array(x), tuple(shape))


def expand_dims(x: Array, axis: Any) -> Array:
    """`x` with axes of length 1 at positions of the result."""
    x = as_array(x)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return na.expand_dims(x, axes_of("expand_dims", axes, len(na.shape(x)) + len(axes)))


def squeeze(x: Array, axis: Axis = None) -> Array:
    """`x` without axes of length 1.

    Raises:
        ShapeError: an axis has another length.
    """
    x = as_array(x)
    shape = na.shape(x)
    if axis is None:
        return na.squeeze(x)
    axes = axes_of("squeeze", axis, len(shape))
    for a in axes:
        if shape[a] != 1:
            raise ShapeError(f"squeeze: axis: got {a} of the shape {shape}, expected the length 1")
    return na.squeeze(x, axes)


def transpose(x: Array, axes: Sequence[int] | None = None) -> Array:
    """The axes in another order: reversed, or as given."""
    x = as_array(x)
    rank = len(na.shape(x))
    order = axes_of("transpose", axes, rank) if axes else tuple(reversed(range(rank)))
    return na.permute_dims(x, order)


def swapaxes(x: Array, axis1: int, axis2: int) -> Array:
    """Two axes exchanged."""
    return na.swapaxes(as_array(x), axis1, axis2)


def moveaxis(x: Array, source: Any, destination: Any) -> Array:
    """Axes moved to other positions."""
    return na.moveaxis(as_array(x), source, destination)


def flip(x: Array, axis: Axis = None) -> Array:
    """The elements in reverse order along axes, or all."""
    return na.flip(as_array(x), axis=axis)


def fliplr(x: Array) -> Array:
    """The columns in reverse order."""
    return na.flip(as_array(x), axis=1)


def flipud(x: Array) -> Array:
    """The rows in reverse order."""
    return na.flip(as_array(x), axis=0)


def rot90(array: Array, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """A quarter turn in the plane of two axes, k times."""
    return na.rot90(as_array(array), k=k, axes=tuple(axes))


def roll(x: Array, shift: Any, axis: Axis = None) -> Array:
    """The elements moved along axes, those at the end to the start."""
    return na.roll(as_array(x), shift, axis=axis)


def repeat(x: Array, repeats: Any, axis: int | None = None) -> Array:
    """Each element several times, along an axis or of the flattened array."""
    x = as_array(x)
    count = repeats if isinstance(repeats, int) else as_array(repeats, like=x)
    return na.repeat(x, count, axis=axis)


def tile(x: Array, repeats: Any) -> Array:
    """The whole array several times along each axis."""
    counts = [repeats] if isinstance(repeats, int) else [int(n) for n in repeats]
    return na.tile(as_array(x), counts)


def pad(x: Array, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Array:
    """`x` with elements before and after, along each axis.

    Raises:
        ArgumentError: `constant_values` is given in another mode.
    """
    x = as_array(x)
    if constant_values is not None and mode != "constant":
        raise ArgumentError(
            f"pad: mode: got {mode!r}, expected 'constant', because constant_values is given"
        )
    if isinstance(pad_width, int):
        pad_width = [(pad_width, pad_width)] * len(na.shape(x))
    widths = [tuple(map(int, pair)) for pair in pad_width]
    fill = 0 if constant_values is None else constant_values
    return na.pad(x, widths, mode=mode.lower(), constant_values=fill)


def diff(a: Array, n: int = 1, axis: int = -1) -> Array:
    """The differences of neighbours, n times; of bools, whether they differ.

    Raises:
        ArgumentError: `n` is negative.
    """
    a = as_array(a)
    if n < 0:
        raise ArgumentError(f"diff: n: got {n}, expected at least 0")
    if dtypes.dtype_of(a) is not dtypes.bool:
        return na.diff(a, n=n, axis=axis) if n else a
    a = na.moveaxis(a, axis, -1)
    for _ in range(n):
        a = na.not_equal(a[..., 1:], a[..., :-1])
    return na.moveaxis(a, -1, axis)


def diagonal(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The elements whose positions along two axes differ by `offset`."""
    return na.diagonal(na.moveaxis(as_array(x), (axis1, axis2), (-2, -1)), offset=offset)


# -- joints --------------------------------------------------------------------------------------


def _common(arrays: Sequence[Array]) -> list[Array]:
    """Arrays of one dtype."""
    found = as_arrays(*arrays)
    dtype = result_type(*found)
    return [cast(x, dtype) for x in found]


def append(x1: Array, x2: Array, axis: int | None = None) -> Array:
    """`x2` after `x1`, along an axis or both flattened."""
    x1, x2 = promote(x1, x2)
    if axis is None:
        return na.concat([na.reshape(x1, (-1,)), na.reshape(x2, (-1,))])
    return na.concat([x1, x2], axis=axis)


def concatenate(xs: Sequence[Array], axis: int = 0) -> Array:
    """The arrays one after another along an axis."""
    return na.concat(_common(xs), axis=axis)


def stack(x: Sequence[Array], axis: int = 0) -> Array:
    """The arrays along a new axis."""
    return na.stack(_common(x), axis=axis)


def hstack(xs: Sequence[Array]) -> Array:
    """The arrays one after another along the second axis; vectors along their only one."""
    found = _common(xs)
    return na.concat(found, axis=0 if len(na.shape(found[0])) == 1 else 1)


def vstack(xs: Sequence[Array]) -> Array:
    """The arrays one after another along the first axis."""
    return na.concat(_common(xs), axis=0)


def dstack(xs: Sequence[Array]) -> Array:
    """The arrays one after another along the third axis."""
    return na.dstack(_common(xs))


# -- parts ---------------------------------------------------------------------------------------


def split(x: Array, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Equal parts along an axis, or the parts between indices.

    Raises:
        ShapeError: the number of parts does not divide the length of the axis.
    """
    x = as_array(x)
    length = na.shape(x)[normal_axis("split", axis, len(na.shape(x)))]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if isinstance(length, int) and length % count:
            raise ShapeError(
                f"split: indices_or_sections: got {count} for an axis of length {length}, expected "
                "a divisor; array_split makes parts of different lengths"
            )
        return list(na.split(x, [length // count] * count, axis=axis))
    starts = [0, *map(int, indices_or_sections)]
    ends = [*starts[1:], length]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    return list(na.split(x, sizes, axis=axis))


def array_split(x: Array, indices_or_sections: int, axis: int = 0) -> list[Array]:
    """Parts along an axis, the first ones longer by one if their number does not divide its length."""
    return list(na.array_split(as_array(x), indices_or_sections, axis=axis))


def hsplit(x: Array, indices_or_sections: Any) -> list[Array]:
    """Parts along the second axis; of a vector along its only one."""
    x = as_array(x)
    return split(x, indices_or_sections, 0 if len(na.shape(x)) == 1 else 1)


def vsplit(x: Array, indices_or_sections: Any) -> list[Array]:
    """Parts along the first axis."""
    return split(x, indices_or_sections, 0)


def dsplit(x: Array, indices_or_sections: Any) -> list[Array]:
    """Parts along the third axis."""
    return split(x, indices_or_sections, 2)
