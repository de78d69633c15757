"""Shapes and positions: reshape, join, split, repeat, move, pad."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.dispatch import Trait, op, primitive
from nestarray.dtypes import dtype_of
from nestarray.errors import ShapeError
from nestarray.numerics.axes import (
    check_pad_mode,
    moved_axes,
    one_axis,
    pad_widths,
    part_sizes,
    windows_of,
)
from nestarray.numerics.windows import Ints
from nestarray.typing import Array, Axes, Axis, Shape, check_range, is_symbolic_size

__all__ = [
    "array_split",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "diff",
    "expand_dims",
    "flatten",
    "flip",
    "moveaxis",
    "pad",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "shape",
    "sliding_window_view",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "unstack",
]
TRAITS = Trait.HALF_SAFE | Trait.LINEAR


@op(traits=Trait.HALF_SAFE | Trait.POSITIONS)
def shape(x: Array, /) -> tuple[Any, ...]:
    """The lengths of the axes of `x`, as a tuple.

    Known lengths are ints; inside a `tf.function` with unknown shapes an unknown length is a scalar
    tensor.

    Args:
        x: array of any shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.shape(np.zeros((2, 3)))
        (2, 3)
    """
    return tuple(x.shape)


@primitive(traits=Trait.HALF_SAFE | Trait.RESHAPE)
def reshape(x: Array, /, shape: Shape, *, order: str = "C", copy: bool | None = None) -> Array:
    """The elements of `x` in another shape.

    Args:
        x: array of any shape.
        shape: the new lengths; one may be −1 and is inferred.
        order: ``"C"`` reads and writes with the last axis fastest, ``"F"`` with the first.
        copy: True always copies; False raises if a copy is needed. JAX and TensorFlow, whose arrays
            are immutable, ignore it.

    Returns:
        array of shape `shape` and the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.reshape(np.arange(6), (2, -1))
        array([[0, 1, 2],
               [3, 4, 5]])
        >>> na.reshape(np.arange(6), (2, 3), order="F")
        array([[0, 2, 4],
               [1, 3, 5]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.reshape.html
    """


@primitive(traits=Trait.HALF_SAFE | Trait.VIEW)
def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """The axes of `x` in the order `axes`.

    Args:
        x: array of any shape.
        axes: a permutation of the axes; negative ones count from the end.

    Returns:
        array of the same elements; a view where the framework has views.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.permute_dims(np.zeros((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.permute_dims.html
    """


@primitive(traits=Trait.HALF_SAFE | Trait.RESHAPE)
def expand_dims(x: Array, /, axis: Axes) -> Array:
    """`x` with new axes of length 1.

    Args:
        x: array of any shape.
        axis: the position of the new axis in the result, or several positions.

    Returns:
        array with the new axes; a view where the framework has views.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.expand_dims(np.zeros((2, 3)), 1).shape
        (2, 1, 3)
        >>> na.expand_dims(np.zeros((2, 3)), (0, -1)).shape
        (1, 2, 3, 1)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.expand_dims.html
    """


@primitive(traits=Trait.HALF_SAFE | Trait.RESHAPE)
def squeeze(x: Array, /, axis: Axis = None) -> Array:
    """`x` without axes of length 1.

    Args:
        x: array of any shape.
        axis: the axis to drop, or several; None drops all of length 1.

    Returns:
        array without these axes; a view where the framework has views.

    Raises:
        ValueError: an axis of `axis` is longer than 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.squeeze(np.zeros((1, 3, 1)), 0).shape
        (3, 1)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.squeeze.html
    """


@op(traits=Trait.HALF_SAFE | Trait.RESHAPE)
def flatten(x: Array, /, *, start_axis: int = 0, end_axis: int = -1) -> Array:
    """Merge the axes from `start_axis` to `end_axis`.

    Args:
        x: array of any shape; a scalar becomes an array of one element.
        start_axis: the first axis to merge.
        end_axis: the last axis to merge, included.

    Raises:
        ShapeError: `end_axis` comes before `start_axis`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.flatten(np.zeros((2, 3, 4)), start_axis=1).shape
        (2, 12)
    """
    lengths = ops.shape(x)
    if not lengths:
        return ops.reshape(x, (1,))
    start = one_axis(start_axis, len(lengths), "flatten")
    end = one_axis(end_axis, len(lengths), "flatten")
    if start > end:
        raise ShapeError(
            f"flatten: start_axis {start_axis} comes after end_axis {end_axis} "
            f"in an array of {len(lengths)} dimensions"
        )
    merged = 1
    for length in lengths[start : end + 1]:
        merged = merged * length
    return ops.reshape(x, (*lengths[:start], merged, *lengths[end + 1 :]))


@primitive(traits=TRAITS | Trait.NONNEGATIVE)
def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Concatenate arrays along an existing axis.

    Args:
        arrays: a list or tuple of arrays; the dtypes promote, and the shapes agree except along
            `axis`.
        axis: the axis to join; None flattens first.

    Returns:
        array of the promoted dtype; its length along `axis` is the sum of the lengths.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.concat([np.asarray([1, 2]), np.asarray([3])])
        array([1, 2, 3])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.concat.html
    """


@op(traits=TRAITS | Trait.NONNEGATIVE)
def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Stack arrays along a new axis.

    Args:
        arrays: a list or tuple of arrays of one shape; the dtypes promote.
        axis: the position of the new axis in the result.

    Returns:
        array of the promoted dtype, with a new axis of length ``len(arrays)``.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.stack([np.asarray([1, 2]), np.asarray([3, 4])], axis=1)
        array([[1, 3],
               [2, 4]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.stack.html
    """
    return ops.concat(
        [ops.expand_dims(x, axis) for x in arrays],
        axis=one_axis(axis, len(arrays[0].shape) + 1, "stack"),
    )


@op
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of `x` along an axis: the inverse of `stack`.

    Args:
        x: array of at least one dimension.
        axis: the axis to unstack.

    Returns:
        a tuple of one array for each index of the axis, without that axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unstack(np.asarray([[1, 2], [3, 4]]), axis=1)
        (array([1, 3]), array([2, 4]))

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unstack.html
    """
    axis = one_axis(axis, len(x.shape), "unstack")
    before = (slice(None),) * axis
    return tuple(ops.getitem(x, (*before, i)) for i in range(x.shape[axis]))


@op
def split(x: Array, /, sizes: int | Sequence[int], *, axis: int = 0) -> tuple[Array, ...]:
    """Consecutive parts of `x` along an axis: the inverse of `concat`.

    Args:
        x: array of at least one dimension.
        sizes: the lengths of the parts, whose sum is the length of the axis; or one length for all
            parts, of which the last may be shorter.
        axis: the axis to split.

    Returns:
        a tuple of arrays, views where the framework has views.

    Raises:
        ShapeError: the sum of the sizes differs from the length of the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.split(np.arange(5), 2)
        (array([0, 1]), array([2, 3]), array([4]))
        >>> na.split(np.arange(5), [1, 4])
        (array([0]), array([1, 2, 3, 4]))
    """
    axis = one_axis(axis, len(x.shape), "split")
    parts, start = [], 0
    for size in part_sizes(sizes, x.shape[axis], "split"):
        parts.append(ops.getitem(x, (slice(None),) * axis + (slice(start, start + size),)))
        start += size
    return tuple(parts)


@op
def array_split(
    x: Array, /, indices_or_sections: int | Sequence[int], *, axis: int = 0
) -> tuple[Array, ...]:
    """Split `x` at given positions, or into a given number of parts.

    Args:
        x: array of at least one dimension.
        indices_or_sections: the number of parts, whose lengths differ by at most 1, the
            longer ones first; or the indices before which to split.
        axis: the axis to split.

    Returns:
        a tuple of arrays, views where the framework has views.

    Raises:
        ShapeError: the number of parts is less than one, or the indices do not ascend.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.array_split(np.arange(5), 2)
        (array([0, 1, 2]), array([3, 4]))
        >>> na.array_split(np.arange(5), [1, 3])
        (array([0]), array([1, 2]), array([3, 4]))
    """
    length = x.shape[one_axis(axis, len(x.shape), "array_split")]
    if isinstance(indices_or_sections, (tuple, list)):
        cuts = [slice(int(i)).indices(length)[1] for i in indices_or_sections]
        starts, stops = [0, *cuts], [*cuts, length]
        sizes = [max(stop - start, 0) for start, stop in zip(starts, stops)]
        if sum(sizes) != length:
            raise ShapeError(
                f"array_split: indices_or_sections: got {list(indices_or_sections)}, "
                "expected indices in ascending order"
            )
        return ops.split(x, sizes, axis=axis)
    parts = operator.index(indices_or_sections)  # type: ignore[arg-type]
    if parts < 1:
        raise ShapeError(f"array_split: indices_or_sections: got {parts}, expected at least 1")
    size, longer = divmod(length, parts)
    return ops.split(x, [size + 1] * longer + [size] * (parts - longer), axis=axis)


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """The shape that arrays of the given shapes broadcast to.

    Raises:
        ShapeError: two lengths differ and neither is 1.

    Example:
        >>> import nestarray as na
        >>> na.broadcast_shapes((2, 1), (3,))
        (2, 3)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.broadcast_shapes.html
    """
    try:
        if any(is_symbolic_size(n) for shape in shapes for n in shape):
            return _joined_shapes(shapes)
        return np.broadcast_shapes(*(tuple(s) for s in shapes))
    except ValueError:
        raise ShapeError(
            f"broadcast_shapes: got {', '.join(str(tuple(s)) for s in shapes)}, which cannot be "
            "broadcast; expected equal lengths, or 1, at each place counted from the end"
        ) from None


def _joined_shapes(shapes: Sequence[Any]) -> tuple[Any, ...]:
    """`broadcast_shapes` of open sizes."""
    rank = max(map(len, shapes), default=0)
    sizes: list[Any] = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if (isinstance(sizes[i], int) and sizes[i] == 1) or (sizes[i] != n and sizes[i] == 1):
                sizes[i] = n
            elif not (isinstance(n, int) and n == 1) and sizes[i] != n and n != 1:
                raise ValueError
    return tuple(sizes)


@primitive(traits=Trait.HALF_SAFE | Trait.VIEW)
def broadcast_to(x: Array, /, shape: Shape) -> Array:
    """`x` repeated along new axes and axes of length 1, without copying where possible.

    Args:
        x: array that broadcasts to `shape`.
        shape: the shape of the result.

    Returns:
        array of `shape`, of the dtype of `x`; a view where the framework has views.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.broadcast_to(np.asarray([1, 2]), (2, 2))
        array([[1, 2],
               [1, 2]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.broadcast_to.html
    """


@op
def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Broadcast arrays to their common shape.

    Args:
        arrays: arrays whose shapes broadcast; each keeps its dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import numpy as np, nestarray as na
        >>> [x.shape for x in na.broadcast_arrays(np.zeros((2, 1)), np.zeros(3))]
        [(2, 3), (2, 3)]

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.broadcast_arrays.html
    """
    common = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(ops.broadcast_to(x, common) for x in arrays)


@primitive
def flip(x: Array, /, *, axis: Axis = None) -> Array:
    """The elements of `x` in reverse order along some axes.

    Args:
        x: array of any shape.
        axis: the axis to reverse, or several; None reverses all.

    Returns:
        array of the shape and the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.flip(np.asarray([[1, 2], [3, 4]]), axis=1)
        array([[2, 1],
               [4, 3]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.flip.html
    """


@primitive
def roll(x: Array, /, shift: Ints, *, axis: Axis = None) -> Array:
    """Shift the elements of `x` along axes, cyclically.

    Args:
        x: array of any shape.
        shift: the distance, for all axes or one for each.
        axis: the axis to shift along, or several; None shifts in the flattened array.

    Returns:
        array of the shape and the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.roll(np.arange(5), 2)
        array([3, 4, 0, 1, 2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.roll.html
    """


@primitive(traits=TRAITS | Trait.NONNEGATIVE)
def tile(x: Array, repetitions: Sequence[int], /) -> Array:
    """Repeat the whole of `x` along its axes.

    Args:
        x: array of any shape.
        repetitions: the number of repetitions along each axis, counted from the last; missing
            leading axes of `x` are added.

    Returns:
        array of the dtype of `x`; each axis is longer by its number of repetitions.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.tile(np.asarray([1, 2]), (2, 2))
        array([[1, 2, 1, 2],
               [1, 2, 1, 2]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.tile.html
    """


@op(traits=TRAITS | Trait.NONNEGATIVE)
def repeat(
    x: Array,
    repeats: int | Array,
    /,
    *,
    axis: int | None = None,
    total_repeat_length: int | None = None,
) -> Array:
    """Repeat each element of `x`.

    The length of the result depends on the values of `repeats`, which compiled code cannot
    know: give it a `total_repeat_length`.

    Args:
        x: array of any shape.
        repeats: the number of repetitions, for all elements or one for each along the axis.
        axis: the axis to repeat along; None flattens first.
        total_repeat_length: the length of the result along the axis; a longer result is truncated,
            a shorter one padded with the last element; None: the sum of `repeats`.

    Returns:
        array of the dtype of `x`, longer along `axis`; a vector if `axis` is None.

    Raises:
        ShapeError: the array is empty, and the mode pads with its values.
        ArgumentError: `total_repeat_length` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.repeat(np.asarray([1, 2]), np.asarray([1, 3]))
        array([1, 2, 2, 2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.repeat.html
        https://docs.jax.dev/en/latest/_autosummary/jax.numpy.repeat.html
    """
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    axis = one_axis(axis, len(x.shape), "repeat")
    length = ops.shape(x)[axis]
    total = total_repeat_length
    if not hasattr(repeats, "shape"):
        total = repeats * length if total is None else total
        repeats = ops.full((), repeats, dtype="int64", like=x)
    ends = ops.cumulative_sum(ops.broadcast_to(ops.astype(repeats, "int64"), (length,)))
    if total is None:
        total = int(ops.getitem(ends, -1)) if length else 0
    check_range("repeat", "total_repeat_length", total, 0)
    if length == 0 and total:
        raise ShapeError(
            f"repeat: total_repeat_length: got {total} for an axis of length 0, which has no "
            "element to fill up with"
        )
    wanted = ops.arange(total, dtype=ends.dtype, like=x)
    places = ops.searchsorted(ends, wanted, side="right")
    return ops.take(x, ops.minimum(places, max(length - 1, 0)), axis=axis)


@op(traits=Trait.HALF_SAFE | Trait.VIEW)
def moveaxis(x: Array, source: Axes, destination: Axes, /) -> Array:
    """Move axes to new positions; the others keep their order.

    Args:
        x: array of any shape.
        source: the axis to move, or several.
        destination: its position in the result, or one position for each axis.

    Returns:
        array of the same elements; a view where the framework has views.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.moveaxis.html
    """
    return ops.permute_dims(x, moved_axes(source, destination, len(x.shape), "moveaxis"))


@op(traits=Trait.HALF_SAFE | Trait.VIEW)
def swapaxes(x: Array, axis1: int, axis2: int, /) -> Array:
    """`x` with two axes exchanged.

    Args:
        x: array of any shape.
        axis1: one axis.
        axis2: the other.

    Returns:
        array of the same elements; a view where the framework has views.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    order = list(range(len(x.shape)))
    first = one_axis(axis1, len(order), "swapaxes", "axis1")
    second = one_axis(axis2, len(order), "swapaxes", "axis2")
    order[first], order[second] = second, first
    return ops.permute_dims(x, order)


@op(traits=Trait.HALF_SAFE)
def pad(
    x: Array,
    /,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    *,
    mode: str = "constant",
    constant_values: complex = 0,
) -> Array:
    """Pad `x` along its axes.

    Args:
        x: array of any shape; a padded axis may be empty in mode ``"constant"`` only.
        pad_width: the padding: a number for all sides, ``(before, after)`` for all axes, or such a
            pair for each axis.
        mode: the values of the padding. ``"constant"``: `constant_values`; ``"edge"``: the nearest
            element; ``"reflect"``: the mirror image without the border element; ``"symmetric"``:
            with it; ``"wrap"``: the opposite end.
        constant_values: the number for mode ``"constant"``, cast to the dtype of `x`.

    Returns:
        array of the dtype of `x`, longer by the padding along each axis.

    Raises:
        ArgumentError: `mode` is unknown.
        ShapeError: `pad_width` does not match the axes, or is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.pad(np.asarray([1, 2, 3]), (1, 2))
        array([0, 1, 2, 3, 0, 0])
        >>> na.pad(np.asarray([1, 2, 3]), (1, 2), mode="reflect")
        array([2, 1, 2, 3, 2, 1])
    """
    check_pad_mode(mode, "pad")
    for axis, widths in enumerate(pad_widths(pad_width, len(x.shape), "pad")):
        if all(isinstance(width, int) and width == 0 for width in widths):
            continue
        if mode == "constant":
            margins = [
                ops.full(
                    (*x.shape[:axis], width, *x.shape[axis + 1 :]),
                    constant_values,
                    dtype=x.dtype,
                    like=x,
                )
                for width in widths
            ]
            x = ops.concat([margins[0], x, margins[1]], axis=axis)
        else:
            size = ops.shape(x)[axis]
            if isinstance(size, int) and size == 0:
                raise ShapeError(
                    f"pad: x: got shape {tuple(x.shape)}, whose axis {axis} has no element for mode "
                    f"{mode!r}; pad it with mode='constant'"
                )
            places = ops.arange(-widths[0], size + widths[1], like=x)
            x = ops.take(x, _inside(places, size, mode), axis=axis)
    return x


def _inside(places: Array, size: int, mode: str) -> Array:
    """The positions in an axis whose elements a mode of `pad` puts at positions outside of it."""
    if mode == "edge":
        return ops.clip(places, 0, size - 1)
    if mode == "wrap":
        return ops.remainder(places, size)
    period, last = (2 * size, 2 * size - 1) if mode == "symmetric" else (2 * size - 2,) * 2
    if isinstance(period, int):
        period = max(period, 1)  # an axis of one element has no mirror image
    places = ops.remainder(places, period)
    return ops.minimum(places, ops.subtract(last, places))


@op
def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """The n-th discrete difference, xᵢ₊₁ − xᵢ repeated `n` times; exclusive or for bools.

    Args:
        x: array of at least one dimension.
        axis: the axis of the differences.
        n: the order of the difference, not negative.
        prepend: an array to prepend along the axis, of the dtype of `x`; a 0-d array is broadcast to
            length 1 along it.
        append: an array to append along the axis.

    Returns:
        array whose `axis` is shorter by `n`.

    Raises:
        ArgumentError: `n` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.diff(np.asarray([1, 4, 9]))
        array([3, 5])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.diff.html
    """
    check_range("diff", "n", n, 0)
    axis = one_axis(axis, len(x.shape), "diff")
    if n == 0:
        return x
    if prepend is not None or append is not None:
        one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        ends = [
            a if a is None or len(a.shape) else ops.broadcast_to(a, one) for a in (prepend, append)
        ]
        x = ops.concat([a for a in (ends[0], x, ends[1]) if a is not None], axis=axis)
    before = (slice(None),) * axis
    for _ in range(n):
        later = ops.getitem(x, (*before, slice(1, None)))
        earlier = ops.getitem(x, (*before, slice(None, -1)))
        difference = ops.not_equal if dtype_of(x) is dtypes.bool else ops.subtract
        x = difference(later, earlier)
    return x


@op
def sliding_window_view(
    x: Array,
    /,
    window_shape: int | Sequence[int],
    *,
    axis: Axis = None,
    step: int | Sequence[int] = 1,
) -> Array:
    """All sliding windows of a given shape; a view of `x` where the framework has views.

    Args:
        x: array of at least one dimension.
        window_shape: the length of the window along each of `axis`.
        axis: the axes that the window slides along; None means all.
        step: the step between windows, for all axes or for each.

    Returns:
        array of the windows: each of `axis` indexes windows, and the axes of a window are appended.

    Raises:
        ShapeError: a window is longer than its axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sliding_window_view(np.arange(5), 3, step=2)
        array([[0, 1, 2],
               [2, 3, 4]])
    """
    for place, size, stride in windows_of(x.shape, window_shape, axis, step):
        count = (ops.shape(x)[place] - size) // stride + 1
        starts = ops.expand_dims(ops.multiply(ops.arange(count, like=x), stride), -1)
        places = ops.add(starts, ops.arange(size, like=x))
        x = ops.moveaxis(ops.take(x, places, axis=place), place + 1, -1)
    return x
