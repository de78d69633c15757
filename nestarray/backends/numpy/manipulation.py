"""NumPy: `nestarray.ops.manipulation`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from nestarray.backends.base import supports
from nestarray.backends.numpy.promotion import promoted
from nestarray.errors import ShapeError
from nestarray.numerics.axes import (
    check_order,
    check_repeats,
    many_axes,
    one_axis,
    pad_widths,
    part_sizes,
    windows_of,
)
from nestarray.numerics.fills import check_fill

broadcast_to = np.broadcast_to
expand_dims = partial(np.expand_dims)
flip = partial(np.flip)
moveaxis = partial(np.moveaxis)
roll = partial(np.roll)
swapaxes = partial(np.swapaxes)
tile = partial(np.tile)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ndarray.transpose.html"""
    if not isinstance(axes, (tuple, list)):
        raise TypeError("NumPy takes None for the reverse order, and sets for sequences")
    return x.transpose(axes)


@supports(lambda *_, total_repeat_length=None, **_settings: total_repeat_length is None)
def repeat(
    x: Any, repeats: Any, /, *, axis: Any = None, total_repeat_length: int | None = None
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.repeat.html"""
    if axis is not None:
        one_axis(axis, x.ndim, "repeat")  # NumPy accepts axis 0 of a 0-d array
    check_repeats(repeats)
    if isinstance(repeats, float):
        raise TypeError("NumPy cuts off the fraction")
    return x.repeat(repeats, axis)


def squeeze(x: Any, /, axis: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.squeeze.html"""
    if axis is not None and not x.ndim:
        many_axes(axis, 0, "squeeze")
    return np.squeeze(x, tuple(axis) if isinstance(axis, list) else axis)


def concat(arrays: Any, /, *, axis: Any = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.concatenate.html"""
    return np.concatenate(promoted(arrays), axis=axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.stack.html"""
    return np.stack(promoted(arrays), axis=axis)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """https://numpy.org/doc/stable/reference/generated/numpy.unstack.html"""
    return tuple(np.moveaxis(x, axis, 0))


def split(x: Any, /, sizes: Any, *, axis: int = 0) -> tuple[Any, ...]:
    """https://numpy.org/doc/stable/reference/generated/numpy.split.html"""
    cuts, end = [], 0
    for size in part_sizes(sizes, x.shape[axis], "split")[:-1]:
        cuts.append(end := end + size)
    return tuple(np.split(x, cuts, axis=axis))


def pad(x: Any, /, pad_width: Any, *, mode: str = "constant", constant_values: complex = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.pad.html"""
    check_fill("pad", "constant_values", constant_values, x.dtype)
    settings = {"constant_values": constant_values} if mode == "constant" else {}
    return np.pad(x, pad_widths(pad_width, x.ndim, "pad"), mode, **settings)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.diff.html"""
    if prepend is append is None:
        return np.diff(x, n, axis)
    ends = {"prepend": prepend, "append": append}
    ends = {name: end for name, end in ends.items() if end is not None}
    x, *arrays = promoted([x, *ends.values()])
    return np.diff(x, n=n, axis=axis, **dict(zip(ends, arrays)))


def reshape(x: Any, /, shape: Any, *, order: Any = "C", copy: bool | None = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.reshape.html"""
    if order != "C":
        check_order(order)
    reshaped = np.reshape(np.array(x) if copy else x, shape, order=order)
    if reshaped.shape != shape and (shape is None or np.min(shape, initial=0) < -1):
        raise ValueError("NumPy takes None for no change, and every negative number for -1")
    if copy is False and x.size and not np.may_share_memory(reshaped, x):
        raise ShapeError(
            f"reshape: copy=False, but {x.shape} to {tuple(shape)} copies these strides; "
            "leave copy=None"
        )
    return reshaped


def sliding_window_view(x: Any, /, window_shape: Any, *, axis: Any = None, step: Any = 1) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html"""
    windows = windows_of(x.shape, window_shape, axis, step)
    view = np.lib.stride_tricks.sliding_window_view(
        x, [size for _, size, _ in windows], axis=[place for place, _, _ in windows]
    )
    steps = [slice(None)] * x.ndim
    for place, _, stride in windows:
        steps[place] = slice(None, None, stride)
    return view[tuple(steps)]
