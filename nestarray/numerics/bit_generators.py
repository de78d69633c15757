"""Counter-based bit generators over a namespace `xp`: Philox4x32, and XLA's streams of both kinds.

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

_FACTORS = (0xD2511F53, 0xCD9E8D57)
_STEPS = (0x9E3779B9, 0xBB67AE85)


def philox4x32(xp: Any, counters: Sequence[Any], key: Sequence[Any]) -> list[Any]:
    """Return four words for each counter, by ten rounds.

    Args:
        xp: a namespace of ops.
        counters: four words, arrays of one shape, the lowest first.
        key: two words, arrays that broadcast to the shape of the counters.
    """
    x, key = list(counters), list(key)
    for _ in range(10):
        factors = [xp.full_like(x[0], factor) for factor in _FACTORS]
        upper = [_upper_half(xp, x[0], factors[0]), _upper_half(xp, x[2], factors[1])]
        lower = [xp.multiply(x[0], factors[0]), xp.multiply(x[2], factors[1])]
        mixed = [xp.bitwise_xor(xp.bitwise_xor(upper[1], x[1]), key[0]),
                 xp.bitwise_xor(xp.bitwise_xor(upper[0], x[3]), key[1])]  # fmt: skip
        x = [mixed[0], lower[1], mixed[1], lower[0]]
        key = [xp.add(k, xp.full_like(k, step)) for k, step in zip(key, _STEPS, strict=True)]
    return x


def _upper_half(xp: Any, x: Any, y: Any) -> Any:
    """The upper word of the product of two words."""
    low = 0xFFFF
    x0, x1 = xp.bitwise_and(x, low), xp.bitwise_right_shift(x, 16)
    y0, y1 = xp.bitwise_and(y, low), xp.bitwise_right_shift(y, 16)
    first = xp.add(xp.multiply(x1, y0), xp.bitwise_right_shift(xp.multiply(x0, y0), 16))
    second = xp.add(xp.multiply(x0, y1), xp.bitwise_and(first, low))
    carried = xp.add(xp.bitwise_right_shift(first, 16), xp.bitwise_right_shift(second, 16))
    return xp.add(xp.multiply(x1, y1), carried)


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
    words = xp.getitem(flat_words(xp, philox4x32(xp, counters, [first, second])), slice(size))
    return (xp.reshape(words, (-1, 2)) if is_wide else words), count


def flat_words(xp: Any, blocks: Sequence[Any]) -> Any:
    """The words of blocks one after the other."""
    return xp.reshape(xp.stack(list(blocks), axis=-1), (-1,))
