"""PyTorch: `nestarray.ops.manipulation`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from nestarray.backends import portable
from nestarray.backends.base import supports
from nestarray.backends.checks.shapes import check_concatenated
from nestarray.backends.torch.integers import LACKING, by_bits, through_int64
from nestarray.backends.torch.promotion import promoted
from nestarray.numerics.axes import (
    check_order,
    check_repeats,
    expanded_shape,
    many_axes,
    moved_axes,
    one_axis,
    pad_widths,
    part_sizes,
    rolled_axes,
    squeezed_axes,
    windows_of,
)
from nestarray.numerics.fills import check_fill

permute_dims = torch.permute


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.broadcast_to.html"""
    return torch.broadcast_to(x, (shape,) if isinstance(shape, int) else shape)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.movedim.html"""
    if not x.ndim:  # torch accepts axes 0 and -1 of a 0-d tensor
        many_axes(source, 0, "moveaxis", "source")
    try:
        return torch.movedim(x, source, destination)
    except TypeError:  # an axis and a list of one axis
        return x.permute(moved_axes(source, destination, x.ndim, "moveaxis"))


def swapaxes(x: Any, axis1: int, axis2: int, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.swapaxes.html"""
    if not x.ndim:
        one_axis(axis1, 0, "swapaxes", "axis1")
    return torch.swapaxes(x, axis1, axis2)


def reshape(x: Any, /, shape: Any, *, order: str = "C", copy: bool | None = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.reshape.html"""
    if copy is None and order == "C":
        return x.reshape(shape)
    check_order(order)
    if copy:
        x = x.clone()
    if isinstance(shape, int):
        shape = (shape,)
    if order == "F":
        return (
            x.permute(tuple(reversed(range(x.ndim))))
            .reshape(shape[::-1])
            .permute(tuple(reversed(range(len(shape)))))
        )
    return x.view(shape) if copy is False else x.reshape(shape)


def expand_dims(x: Any, /, axis: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.unsqueeze.html"""
    if isinstance(axis, int):
        return torch.unsqueeze(x, axis)
    return x.reshape(expanded_shape(x.shape, axis, "expand_dims"))


def squeeze(x: Any, /, axis: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.squeeze.html"""
    if axis is None and x.__class__ is torch.Tensor:  # no symbolic length
        return torch.squeeze(x)
    return torch.squeeze(x, squeezed_axes(x.shape, axis, "squeeze"))


def concat(arrays: Any, /, *, axis: Any = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cat.html"""
    arrays = promoted(arrays)
    if axis is None:
        return torch.cat([x.reshape(-1) for x in arrays])
    joined = torch.cat(arrays, axis)
    if joined.ndim > 1 and 1 in [x.ndim for x in arrays]:  # torch ignores shape (0,)
        check_concatenated("concat", {"arrays": arrays, "axis": axis})
    return joined


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.stack.html"""
    return torch.stack(promoted(arrays), axis)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """https://docs.pytorch.org/docs/stable/generated/torch.unbind.html"""
    return torch.unbind(x, axis)


def split(x: Any, /, sizes: Any, *, axis: int = 0) -> tuple[Any, ...]:
    """https://docs.pytorch.org/docs/stable/generated/torch.split.html"""
    return torch.split(x, part_sizes(sizes, x.shape[axis], "split"), axis)


_flip = by_bits(torch.flip)


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.flip.html"""
    return _flip(x, many_axes(axis, x.ndim, "flip"))


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.roll.html"""
    if axis is None:
        return torch.roll(x, sum(shift) if isinstance(shift, Sequence) else shift)
    if isinstance(axis, int) and isinstance(shift, int):
        return torch.roll(x, shift, axis)
    shifts, axes = rolled_axes(shift, axis, x.ndim)
    if portable.are_wanted() and not all(isinstance(n, int) for n in shifts):
        return portable.roll(x, shifts, axes)
    return torch.roll(x, shifts, axes) if axes else torch.clone(x)


def tile(x: Any, repetitions: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.tile.html"""
    return torch.tile(x, tuple(repetitions))


_repeat_interleave = through_int64(torch.repeat_interleave)


@supports(lambda *_, total_repeat_length=None, **_settings: total_repeat_length is None)
def repeat(
    x: Any, repeats: Any, /, *, axis: Any = None, total_repeat_length: int | None = None
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.repeat_interleave.html"""
    check_repeats(repeats)
    if isinstance(repeats, torch.Tensor) and repeats.dtype is not torch.int32:
        repeats = repeats.to(torch.int64)
    return _repeat_interleave(x, repeats, axis)


def _is_constant(x: Any, /, pad_width: Any, *, mode: str = "constant", **_: Any) -> bool:
    return mode == "constant"


@supports(_is_constant)
def pad(x: Any, /, pad_width: Any, *, mode: str = "constant", constant_values: complex = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html"""
    widths = [w for pair in reversed(pad_widths(pad_width, x.ndim, "pad")) for w in pair]
    check_fill("pad", "constant_values", constant_values, x.dtype)
    return torch.constant_pad_nd(x, widths, constant_values)


_diff = through_int64(torch.diff)


@supports(
    lambda *_, prepend=None, append=None, **_settings: (
        (prepend is None or prepend.ndim) and (append is None or append.ndim)
    )
)
def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.diff.html"""
    if prepend is append is None and x.dtype not in LACKING:
        return torch.diff(x, n, axis)
    given = iter(promoted([a for a in (x, prepend, append) if a is not None]))
    x, *ends = (a if a is None else next(given) for a in (x, prepend, append))
    return _diff(x, n, axis, *ends)


def sliding_window_view(x: Any, /, window_shape: Any, *, axis: Any = None, step: Any = 1) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.Tensor.unfold.html"""
    for place, size, stride in windows_of(x.shape, window_shape, axis, step):
        x = x.unfold(place, size, stride)
    return x
