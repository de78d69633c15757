"""Normalization of axes, parts and pad widths."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from nestarray.typing import check_kind, is_symbolic_size


def one_axis(axis: Any, ndim: int, op: str, argument: str = "axis") -> int:
    """`axis` as a nonnegative number; `argument` is its name in the op.

    Raises:
        IndexingError: the array has no such axis.
    """
    if axis.__class__ is not int:
        check_kind(op, argument, "int", axis)
        axis = index(axis)
    if not -ndim <= axis < ndim:
        raise IndexingError(
            f"{op}: {argument}: got {axis} for an array of {ndim} dimensions, "
            f"expected {-ndim} <= axis < {ndim}"
        )
    return axis + ndim if axis < 0 else axis


def many_axes(axis: Any, ndim: int, op: str, argument: str = "axis") -> tuple[int, ...]:
    """One axis, several or all (None) as nonnegative numbers, in the given order.

    Raises:
        ShapeError: an axis does not exist or occurs twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, (tuple, list)):
        axes = tuple(one_axis(a, ndim, op, argument) for a in axis)
        if len(set(axes)) != len(axes):
            raise ShapeError(f"{op}: {argument}: got {tuple(axis)}, with a repeated axis")
        return axes
    return (one_axis(axis, ndim, op, argument),)


def check_contracted(axes: Any, op: str) -> None:
    """Raise ArgumentError where `axes` is neither a count nor two sequences of ints."""
    if isinstance(axes, (tuple, list)):
        fits = len(axes) == 2
    else:
        fits = isinstance(axes, int) and axes.__class__ is not bool and axes >= 0
    if not fits:
        raise ArgumentError(
            f"{op}: axes: got {axes!r}, expected a number of axes, or the axes of each array"
        )


def moved_axes(source: Any, destination: Any, ndim: int, op: str) -> tuple[int, ...]:
    """The permutation that moves the axes `source` to `destination`."""
    start = many_axes(source, ndim, op, "source")
    end = many_axes(destination, ndim, op, "destination")
    if len(start) != len(end):
        raise ShapeError(
            f"{op}: got {len(start)} source axes and {len(end)} destinations, "
            "expected equally many of both"
        )
    order = [axis for axis in range(ndim) if axis not in start]
    for place, axis in sorted(zip(end, start)):
        order.insert(place, axis)
    return tuple(order)


def expanded_shape(shape: Sequence[Any], axis: Any, op: str) -> list[Any]:
    """`shape` with a 1 at each position `axis` of the result."""
    if axis is None:
        raise TypeError("got None, expected a place")
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    places = many_axes(axis, len(shape) + count, op)
    rest = iter(shape)
    return [1 if place in places else next(rest) for place in range(len(shape) + count)]


def rolled_axes(shift: Any, axis: Any, ndim: int) -> tuple[list[Any], list[int]]:
    """The shifts and axes of `roll`; a single number is repeated."""
    axes = axis if isinstance(axis, (tuple, list)) else [axis]
    axes = [one_axis(a, ndim, "roll") for a in axes]
    if not isinstance(shift, Sequence):
        return [shift] * len(axes), axes
    shifts = list(shift)
    if len(axes) == 1:
        return [sum(shifts)], axes
    if len(shifts) not in (1, len(axes)):
        raise ShapeError(
            f"roll: shift: got {shift!r} for {len(axes)} axes, expected a number, or one for each"
        )
    return shifts * (len(axes) // len(shifts)), axes


def check_repeats(repeats: Any) -> None:
    """Check that `repeats` is a number or integers along one axis.

    Raises:
        DtypeError: the dtype is not an integer type.
        ShapeError: they have several axes.
    """
    if not hasattr(repeats, "dtype"):
        return
    found = dtypes.dtype_of(repeats)
    if not found.is_integer:
        raise DtypeError(f"repeat: repeats: got {found}, expected integers; cast with na.astype")
    if len(repeats.shape) > 1:
        raise ShapeError(
            f"repeat: repeats: got shape {tuple(repeats.shape)}, expected a number, or one for each "
            "element along the axis"
        )


def squeezed_axes(shape: Sequence[Any], axis: Any, op: str) -> tuple[int, ...]:
    """The axes that `squeeze` removes: `axis`, or all of length 1 (None).

    Raises:
        ShapeError: an axis is longer than 1.
    """
    if axis is None:
        return tuple(i for i, size in enumerate(shape) if isinstance(size, int) and size == 1)
    axes = many_axes(axis, len(shape), op)
    for i in axes:
        if isinstance(shape[i], int) and shape[i] != 1:
            raise ShapeError(
                f"{op}: axis {i} of shape {tuple(shape)} has length {shape[i]}, expected 1"
            )
    return axes


def part_sizes(sizes: Any, length: int, op: str) -> list[int]:
    """The lengths of the parts of an axis: a sequence, or equal parts with a smaller last one.

    Raises:
        ShapeError: the sizes do not sum to the length of the axis.
    """
    if isinstance(sizes, (tuple, list)):
        given = [index(size) for size in sizes]
        if sum(given) != length or any(size < 0 for size in given):
            raise ShapeError(
                f"{op}: sizes: got {given}, which add up to {sum(given)}, "
                f"expected the length of the axis, {length}"
            )
        return given
    size = index(sizes)
    if size < 1:
        raise ShapeError(f"{op}: sizes: got {size}, expected at least 1")
    full, rest = divmod(length, size)
    return [size] * full + [rest] * (rest > 0) or [0]


PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def check_pad_mode(mode: Any, op: str, argument: str = "mode") -> None:
    """Raise ArgumentError for an unknown padding mode."""
    check_kind(op, argument, "str", mode)
    if mode not in PAD_MODES:
        raise ArgumentError(
            f"{op}: {argument}: got {mode!r}, expected one of {', '.join(PAD_MODES)}"
        )


def check_order(order: Any) -> None:
    """Raise ArgumentError for an unknown `order` of `reshape`."""
    check_kind("reshape", "order", "str", order)
    if order not in ("C", "F"):
        raise ArgumentError(f"reshape: order: got {order!r}, expected 'C' or 'F'")


def pad_widths(pad_width: Any, ndim: int, op: str) -> list[tuple[int, int]]:
    """(before, after) for each axis from one number, one pair, or a pair for each axis.

    Raises:
        ShapeError: the number of pairs differs from the number of axes, or a width is negative.
    """
    if ndim == 0:
        raise ShapeError(f"{op}: x: got an array without dimensions, expected at least one")
    if isinstance(pad_width, (tuple, list)):
        pairs = list(pad_width)
        if len(pairs) == 2 and not any(isinstance(p, (tuple, list)) for p in pairs):
            pairs = [tuple(pairs)] * ndim
    else:
        pairs = [(pad_width, pad_width)] * ndim
    if len(pairs) == 1:
        pairs = pairs * ndim
    if len(pairs) != ndim or any(len(tuple(p)) != 2 for p in pairs):
        raise ShapeError(
            f"{op}: pad_width: got {pad_width!r} for an array of {ndim} dimensions, expected "
            "a number, a pair (before, after), or such a pair for each axis"
        )
    widths = [(_width(before), _width(after)) for before, after in pairs]
    if any(isinstance(w, int) and w < 0 for pair in widths for w in pair):
        raise ShapeError(
            f"{op}: pad_width: got {pad_width!r}, expected numbers that are not negative; "
            "cut off with slices instead"
        )
    return widths


def _width(value: Any) -> Any:
    return value if is_symbolic_size(value) else index(value)


def windows_of(
    shape: Sequence[Any], window_shape: Any, axis: Any, step: Any
) -> list[tuple[int, int, int]]:
    """(axis, length, step) of a sliding window, for each of its axes.

    Raises:
        ShapeError: a window is longer than its axis, or the settings have different lengths.
    """
    op = "sliding_window_view"
    axes = many_axes(axis, len(shape), op)
    sizes = list(window_shape) if isinstance(window_shape, (tuple, list)) else [window_shape]
    steps = list(step) if isinstance(step, (tuple, list)) else [step] * len(axes)
    if len(sizes) != len(axes) or len(steps) != len(axes):
        raise ShapeError(
            f"{op}: got window_shape {window_shape!r} and step {step!r} for {len(axes)} axes, "
            "expected one number for each"
        )
    for place, size in zip(axes, sizes):
        if size < 1 or (isinstance(shape[place], int) and size > shape[place]):
            raise ShapeError(
                f"{op}: window_shape: got {size} for axis {place} of shape {tuple(shape)}, "
                f"expected 1 to {shape[place]}"
            )
    if any(s < 1 for s in steps):
        raise ShapeError(f"{op}: step: got {step!r}, expected at least 1")
    return list(zip(axes, sizes, steps))


def are_plane(x: Any, axes: Any) -> bool:
    """Whether `axes` are two different axes of `x`."""
    if len(axes) != 2 or not all(-x.ndim <= a < x.ndim for a in axes):
        return False
    return (axes[0] - axes[1]) % x.ndim != 0


def has_place(x: Any, kth: int, /, *, axis: int = -1) -> bool:
    """Whether `x` has the axis, and the axis has an element `kth`."""
    if axis.__class__ is not int or kth.__class__ is bool:
        return False
    return -x.ndim <= axis < x.ndim and -x.shape[axis] <= kth < x.shape[axis]
