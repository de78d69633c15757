"""Patches of images, as columns and as channels.

Upstream: https://keras.io/api/ops/nn/
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import nestarray as na
from nestarray.frontends.keras import config
from nestarray.frontends.keras.ops.nn.convolution import each_axis
from nestarray.frontends.keras.promotion import as_array
from nestarray.typing import Array

__all__ = ["depth_to_space", "fold", "space_to_depth", "unfold"]


def unfold(
    x: Array,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Array:
    """The patches of `(batch, channels, height, width)` as columns."""
    size, rate, width, step = (each_axis(v, 2) for v in (kernel_size, dilation, padding, stride))
    return na.unfold(as_array(x), kernel_size=size, dilation=rate, padding=width, stride=step)


def fold(
    x: Array,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Array:
    """The sum of patches at their positions, `(batch, channels, *output_size)`."""
    size, rate, width, step = (each_axis(v, 2) for v in (kernel_size, dilation, padding, stride))
    sizes = each_axis(output_size, 2)
    return na.fold(
        as_array(x), output_size=sizes, kernel_size=size, dilation=rate, padding=width, stride=step
    )


def depth_to_space(x: Array, block_size: int, data_format: str = "channels_last") -> Array:
    """Channels moved to blocks of the spatial axes."""
    return _in_channels_last(na.depth_to_space, "depth_to_space", x, block_size, data_format)


def space_to_depth(x: Array, block_size: int, data_format: str = "channels_last") -> Array:
    """Blocks of the spatial axes moved to channels."""
    return _in_channels_last(na.space_to_depth, "space_to_depth", x, block_size, data_format)


def _in_channels_last(
    function: Callable[..., Array], op: str, x: Array, block_size: int, data_format: str
) -> Array:
    layout = config.layout(op, data_format)
    return function(as_array(x), block_size=block_size, data_format=layout)
