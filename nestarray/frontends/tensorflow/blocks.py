"""Blocks of the spatial axes that move to the batch or to the channels, and back.

Upstream: https://www.tensorflow.org/api_docs/python/tf/space_to_batch
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.typing import Array

__all__ = [
    "batch_to_space", "required_space_to_batch_paddings", "space_to_batch", "space_to_batch_nd",
]  # fmt: skip


def space_to_batch_nd(
    input: Any, block_shape: Any, paddings: Any, name: str | None = None
) -> Array:
    """The elements at each place of blocks as images of their own, in the batch.

    Args:
        input: `(batch, *spatial, *rest)`.
        block_shape: the sizes of the blocks.
        paddings: the zeros before and after each spatial axis.
        name: has no effect.
    """
    x, blocks = tensor(input), integers(block_shape)
    count = len(blocks)
    rest = len(na.shape(x)) - 1 - count
    pads = [(low, high) for low, high in integers(paddings)]
    x = na.pad(x, [(0, 0), *pads, *[(0, 0)] * rest])
    batch, *sizes = na.shape(x)
    split = [n for size, block in zip(sizes, blocks) for n in (size // block, block)]
    x = na.reshape(x, (batch, *split, *sizes[count:]))
    inside, outside = range(2, 2 * count + 1, 2), range(1, 2 * count, 2)
    behind = range(2 * count + 1, 2 * count + 1 + rest)
    x = na.permute_dims(x, (*inside, 0, *outside, *behind))
    small = [size // block for size, block in zip(sizes, blocks)]
    return na.reshape(x, (-1, *small, *sizes[count:]))


def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Array:
    """`space_to_batch_nd`."""
    return space_to_batch_nd(input, block_shape, paddings)


def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Array:
    """The inverse of `space_to_batch`.

    Args:
        input: `(batch, *spatial, *rest)`.
        block_shape: the sizes of the blocks.
        crops: the elements to leave out before and after each spatial axis.
        name: has no effect.
    """
    x, blocks = tensor(input), integers(block_shape)
    count = len(blocks)
    _, *sizes = na.shape(x)
    rest = len(sizes) - count
    x = na.reshape(x, (*blocks, -1, *sizes))
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    behind = range(2 * count + 1, 2 * count + 1 + rest)
    x = na.permute_dims(x, (count, *pairs, *behind))
    large = [size * block for size, block in zip(sizes, blocks)]
    x = na.reshape(x, (-1, *large, *sizes[count:]))
    index = [slice(low, n - high) for n, (low, high) in zip(large, integers(crops), strict=True)]
    return na.getitem(x, (slice(None), *index))


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Array, Array]:
    """The paddings for `space_to_batch`, with which blocks divide the sizes, and the crops that undo them."""
    sizes, blocks = integers(input_shape), integers(block_shape)
    if len(sizes) != len(blocks):
        raise ArgumentError(
            f"required_space_to_batch_paddings: input_shape: got {len(sizes)} sizes, expected "
            f"{len(blocks)}, one for each block size"
        )
    base = [(0, 0)] * len(sizes) if base_paddings is None else integers(base_paddings)
    more = [-(n + sum(pair)) % block for n, pair, block in zip(sizes, base, blocks, strict=True)]
    paddings = [[low, high + extra] for (low, high), extra in zip(base, more, strict=True)]
    return tensor(paddings), tensor([[0, extra] for extra in more])
