"""Blocks of the spatial axes that move to the channels, and back.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/space_to_depth
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray.errors import UnsupportedError
from nestarray.frontends.tensorflow.conversion import tensor
from nestarray.frontends.tensorflow.nn.windows import layout_of
from nestarray.typing import Array

__all__ = ["depth_to_space", "space_to_depth"]


def depth_to_space(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Array:
    """The channels as blocks of the spatial axes."""
    layout = _layout("depth_to_space", data_format)
    return na.depth_to_space(tensor(input), block_size=block_size, data_format=layout)


def space_to_depth(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Array:
    """Blocks of the spatial axes as channels."""
    layout = _layout("space_to_depth", data_format)
    return na.space_to_depth(tensor(input), block_size=block_size, data_format=layout)


def _layout(name: str, data_format: str) -> str:
    if data_format == "NCHW_VECT_C":
        raise UnsupportedError(f"{name}: data_format: got 'NCHW_VECT_C', expected 'NHWC' or 'NCHW'")
    return layout_of(name, data_format, 2).name
