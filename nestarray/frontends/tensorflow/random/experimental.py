"""`tf.random.experimental`: seeds and permutations.

Upstream: https://www.tensorflow.org/api_docs/python/tf/random/experimental
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import UnsupportedError
from nestarray.frontends.tensorflow.conversion import is_tensor, tensor
from nestarray.frontends.tensorflow.random import streams
from nestarray.frontends.tensorflow.random.stateless import fold_in, split
from nestarray.frontends.tensorflow.random.streams import Algorithm as Algorithm
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array

__all__ = [
    "Algorithm",
    "index_shuffle",
    "stateless_fold_in",
    "stateless_shuffle",
    "stateless_split",
]

stateless_fold_in = fold_in
stateless_split = split


def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Array:
    """The slices along axis 0 in random order: the exchanges of Fisher and Yates, one by one."""
    if streams.algorithm(alg) is Algorithm.THREEFRY:
        raise UnsupportedError("stateless_shuffle: alg: got 'threefry', expected 'philox'")
    value = tensor(value)
    size = na.shape(value)[0]
    if size < 2:
        return value
    words = streams.philox(streams.beside(seed, value)).words(size - 1)
    left = na.arange(size, 1, -1, dtype=dtypes.uint32, like=words)
    offsets = na.astype(na.remainder(words, left), dtypes.int32)
    places = na.arange(size, dtype=dtypes.int32, like=words)
    partners = na.add(offsets, na.getitem(places, slice(size - 1)))

    def exchange(order: Array, pair: tuple[Array, Array]) -> tuple[Array, None]:
        i, j = pair
        is_i, is_j = na.equal(places, i), na.equal(places, j)
        at_i, at_j = na.take(order, i, axis=0), na.take(order, j, axis=0)
        return na.where(is_i, at_j, na.where(is_j, at_i, order)), None

    order, _ = na.scan(exchange, places, (na.getitem(places, slice(size - 1)), partners))
    return na.take(value, order, axis=0)


#: A word before the seed, which makes it the key of three words of upstream's operation.
_FIRST_WORD = 498247692
#: Below, the cipher of 2¹⁶ numbers rarely returns an index: a loop would take thousands of steps.
_FEW = 1 << 12


def index_shuffle(index: Any, seed: Any, max_index: Any) -> Array:
    """The place of `index` in a permutation of 0 … max_index that the seed determines.

    A block cipher of 2ᵇ numbers is applied until it returns a number of at most `max_index`.

    Args:
        index: integers from 0 to `max_index`.
        seed: two integers.
        max_index: an integer.

    References:
        Beaulieu et al., The SIMON and SPECK families of lightweight block ciphers.
        https://eprint.iacr.org/2013/404
    """
    seed = na.asarray(seed) if is_tensor(seed) else seed
    return shuffled_index(index, [_FIRST_WORD, *[int(part) for part in seed]], int(max_index))


def shuffled_index(index: Any, words: Sequence[int], largest: int, rounds: int = 4) -> Array:
    """`index_shuffle` with a key of three words; `rounds` of the cipher is even."""
    index = tensor(index)
    if largest == 0:
        return na.zeros_like(index)
    bits = math.ceil(math.log2(largest))
    width = max(bits + bits % 2, 16) // 2
    if width > 16:
        raise UnsupportedError(
            f"index_shuffle: max_index: got {largest}, expected at most 2**32: the cipher has words "
            "of 16 bits or fewer"
        )
    keys = _round_keys([word & 0xFFFFFFFF for word in words], width, rounds)
    limit = na.asarray(np.uint32(largest), like=index)

    def encrypted(x: Array) -> Array:
        left, right = na.bitwise_right_shift(x, width), na.bitwise_and(x, (1 << width) - 1)
        for first, second in zip(keys[::2], keys[1::2], strict=True):
            left = na.bitwise_xor(na.bitwise_xor(left, _mixed(right, width)), first)
            right = na.bitwise_xor(na.bitwise_xor(right, _mixed(left, width)), second)
        return na.bitwise_or(na.bitwise_left_shift(left, width), right)

    def step(x: Array) -> Array:
        return na.where(na.greater(x, limit), encrypted(x), x)

    start = encrypted(na.astype(index, dtypes.uint32))
    if largest < _FEW:
        return na.astype(_repeated(step, start, width), dtypes.dtype_of(index))
    found = na.while_loop(lambda x: na.any(na.greater(x, limit)), step, start)
    return na.astype(found, dtypes.dtype_of(index))


def _repeated(step: Callable[[Array], Array], start: Array, width: int) -> Array:
    """The fixed points that the cipher's numbers reach, by a table of all steps squared."""
    numbers = 1 << 2 * width
    table = na.astype(step(na.arange(numbers, dtype=dtypes.uint32, like=start)), dtypes.int32)
    for _ in range(2 * width):
        table = na.take(table, table, axis=0)
    return na.take(table, na.astype(start, dtypes.int32), axis=0)


def _rotated(x: Any, steps: int, width: int) -> Any:
    """A word of `width` bits rotated to the left."""
    if isinstance(x, int):
        return (x << steps | x >> width - steps) & (1 << width) - 1
    up, down = na.bitwise_left_shift(x, steps), na.bitwise_right_shift(x, width - steps)
    return na.bitwise_and(na.bitwise_or(up, down), (1 << width) - 1)


def _mixed(x: Array, width: int) -> Array:
    one, eight, two = [_rotated(x, steps % width, width) for steps in (1, 8, 2)]
    return na.bitwise_xor(na.bitwise_and(one, eight), two)


def _round_keys(key: list[int], width: int, rounds: int) -> list[int]:
    """The words of the rounds, of `width` bits."""
    mask, sequence = (1 << width) - 1, 0x7369F885192C0EF5
    found = [word & mask for word in key]
    while len(found) < rounds:
        constant = (0xFFFFFFFC & mask) ^ (sequence & 1)
        last = found[-1]
        turned = _rotated(last, width - 3, width) ^ _rotated(last, width - 4, width)
        found.append(constant ^ found[-3] ^ turned)
        sequence >>= 1
    return found


_public_namespace(__name__)
