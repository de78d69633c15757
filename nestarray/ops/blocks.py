"""Rearrangement of spatial blocks into channels and back.

`pixel_shuffle` and `pixel_unshuffle` use the other channel order, (channels, r²); here it is
(r², channels).
"""

from __future__ import annotations

from nestarray import ops
from nestarray.dispatch import Trait, op
from nestarray.errors import ShapeError
from nestarray.numerics.windows import channels_are_last
from nestarray.typing import Array

__all__ = ["depth_to_space", "space_to_depth"]
TRAITS = Trait.HALF_SAFE | Trait.LINEAR

Sizes = tuple[int, ...]


@op
def depth_to_space(x: Array, /, *, block_size: int, data_format: str = "channels_first") -> Array:
    """Move channels to space: element (i, j) of a block takes the (i · r + j)-th group of channels.

    Args:
        x: `(*batch, r² · channels, height, width)`, or with the channels last, any dtype.
        block_size: r, the length of a block.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.

    Returns:
        `(*batch, channels, height · r, width · r)`, or with the channels last.

    Raises:
        ShapeError: r² does not divide the number of channels.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.depth_to_space(np.arange(8).reshape(1, 8, 1, 1), block_size=2)[0, 0]
        array([[0, 2],
               [4, 6]])

    References:
        https://www.tensorflow.org/api_docs/python/tf/nn/depth_to_space
    """
    is_last, lead, (height, width, channels) = _read("depth_to_space", x, data_format)
    r = _checked("depth_to_space", block_size)
    if channels % (r * r):
        raise ShapeError(
            f"depth_to_space: x has {channels} channels, expected a multiple of block_size² = {r * r}"
        )
    rest = channels // (r * r)
    if is_last:
        cut, order = (height, width, r, r, rest), (0, 2, 1, 3, 4)
        shape = (height * r, width * r, rest)
    else:
        cut, order = (r, r, rest, height, width), (2, 3, 0, 4, 1)
        shape = (rest, height * r, width * r)
    return _regrouped(x, lead, cut, order, shape)


@op
def space_to_depth(x: Array, /, *, block_size: int, data_format: str = "channels_first") -> Array:
    """Move spatial blocks to channels: the inverse of `depth_to_space`.

    Args:
        x: `(*batch, channels, height · r, width · r)`, or with the channels last, any dtype.
        block_size: r, the length of a block.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.

    Returns:
        `(*batch, r² · channels, height, width)`, or with the channels last.

    Raises:
        ShapeError: r does not divide the height and the width.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.space_to_depth(np.arange(4).reshape(1, 1, 2, 2), block_size=2).ravel()
        array([0, 1, 2, 3])

    References:
        https://www.tensorflow.org/api_docs/python/tf/nn/space_to_depth
    """
    is_last, lead, (height, width, channels) = _read("space_to_depth", x, data_format)
    r = _checked("space_to_depth", block_size)
    if height % r or width % r:
        raise ShapeError(
            f"space_to_depth: x is {height} × {width}, expected multiples of block_size = {r}"
        )
    rows, columns = height // r, width // r
    if is_last:
        cut, order = (rows, r, columns, r, channels), (0, 2, 1, 3, 4)
        shape = (rows, columns, r * r * channels)
    else:
        cut, order = (channels, rows, r, columns, r), (2, 4, 0, 1, 3)
        shape = (r * r * channels, rows, columns)
    return _regrouped(x, lead, cut, order, shape)


def _read(name: str, x: Array, data_format: str) -> tuple[bool, Sizes, tuple[int, int, int]]:
    """Whether the channels are last, the axes before, and height, width and channels."""
    is_last = channels_are_last(name, "data_format", data_format)
    if len(x.shape) < 3:
        expected = (
            "(*batch, height, width, channels)" if is_last else "(*batch, channels, height, width)"
        )
        raise ShapeError(f"{name}: x: got the shape {tuple(x.shape)}, expected {expected}")
    *lead, first, second, third = x.shape
    # reshape infers a size that is unknown in a tf.function
    lead = tuple(-1 if n is None else n for n in lead)
    return is_last, lead, (first, second, third) if is_last else (second, third, first)


def _regrouped(x: Array, lead: Sizes, cut: Sizes, order: Sizes, shape: Sizes) -> Array:
    """The axes behind `lead` cut into smaller ones, put into another order and joined to `shape`."""
    front = len(lead)
    x = ops.reshape(x, (*lead, *cut))
    x = ops.permute_dims(x, (*range(front), *(front + i for i in order)))
    return ops.reshape(x, (*lead, *shape))


def _checked(name: str, block_size: int) -> int:
    if block_size < 1:
        raise ShapeError(f"{name}: block_size: got {block_size}, expected at least 1")
    return block_size
