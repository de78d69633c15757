"""The counter-based bit generators of XLA, over a namespace `xp`.

All words are uint32, because JAX may have no wider integers.

References:
    Salmon et al., Parallel random numbers: as easy as 1, 2, 3. SC 2011.
    https://doi.org/10.1145/2063384.2063405
    https://openxla.org/xla/operation_semantics#rngbitgenerator
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nestarray import dtypes

#: Philox4x32: the factors of a round, and the increments of the key.
FACTORS = (0xD2511F53, 0xCD9E8D57)
STEPS = (0x9E3779B9, 0xBB67AE85)


def advanced(xp: Any, words: Sequence[Any], number: Any) -> list[Any]:
    """Add a number below 2³² to a number in words, the lowest first."""
    found = []
    for word in words:
        found.append(xp.add(word, number))
        number = xp.astype(xp.less(found[-1], number), dtypes.uint32)  # the carry
    return found


def threefry_stream(
    xp: Any, state: Sequence[Any], shape: tuple[int, ...], is_wide: bool
) -> tuple[Any, int]:
    """Return the words of XLA's Threefry generator, and the number of blocks.

    Two words of each block follow each other along one even axis.

    Args:
        xp: a namespace of ops.
        state: four words: the key, and the counter of the first block.
        shape: of the bits.
        is_wide: whether an element has two words, which then are the last axis.
    """
    axis = paired_axis(shape)
    halves = list(shape) or [1]
    sizes = list(halves)
    halves[axis] = sizes[axis] if is_wide else -(-sizes[axis] // 2)
    count = math.prod(halves)
    blocks = xp.arange(count, dtype=dtypes.uint32, like=state[0])
    counters = advanced(xp, state[2:], blocks)
    words = xp.threefry2x32(xp.stack(list(state[:2])), *counters)
    words = [xp.reshape(x, halves) for x in words]
    return (xp.stack(words, axis=-1) if is_wide else interleaved(xp, words, sizes, axis)), count


def paired_axis(shape: Sequence[int]) -> int:
    """The axis along which XLA draws pairs: the first even one, else the longest."""
    sizes = list(shape) or [1]
    return next((i for i, n in enumerate(sizes) if n % 2 == 0), sizes.index(max(sizes)))


def interleaved(xp: Any, pair: Sequence[Any], sizes: Sequence[int], axis: int) -> Any:
    """Two arrays element by element along an axis, cut to `sizes`."""
    halves = tuple(pair[0].shape)
    full = xp.stack(list(pair), axis=axis + 1)
    full = xp.reshape(full, [*halves[:axis], 2 * halves[axis], *halves[axis + 1 :]])
    return xp.getitem(full, tuple([slice(n) for n in sizes]))


def philox_stream(
    xp: Any, state: Sequence[Any], shape: tuple[int, ...], is_wide: bool
) -> tuple[Any, int]:
    """Return the words of XLA's Philox generator, and the number of blocks.

    Four words of each block follow each other. The counter has 128 bits: the last two words of the
    state, then the first two, which are the key.

    Args:
        xp, state, shape, is_wide: as in `threefry_stream`.
    """
    size = math.prod(shape) * (2 if is_wide else 1)
    count = -(-size // 4)
    first, second, low, high = state
    blocks = xp.arange(count, dtype=dtypes.uint32, like=first)
    counters = advanced(xp, [low, high, first, second], blocks)
    words = xp.philox4x32(xp.stack([first, second]), *counters)
    words = xp.getitem(flat_words(xp, words), slice(size))
    return (xp.reshape(words, (-1, 2)) if is_wide else words), count


def flat_words(xp: Any, blocks: Sequence[Any]) -> Any:
    """The words of blocks one after the other."""
    return xp.reshape(xp.stack(list(blocks), axis=-1), (-1,))
