"""NumPy: `nestarray.ops.random`, in place and in blocks that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends import threefry
from nestarray.backends.base import supports
from nestarray.backends.numpy.memory import blocks, longest_block, rows
from nestarray.backends.numpy.quantiles import normal_quantile as normal_quantile

_BLOCK = 1 << 16  # three blocks of words are 768 KiB; smaller ones are mostly calls of ufuncs

#: By how much each group of rounds shifts to the left and to the right, as arrays: numbers are
#: converted in each call.
_SHIFTS = [
    [(np.array(d, np.uint32), np.array(32 - d, np.uint32)) for d in distances]
    for distances in threefry.ROTATIONS
]


def threefry2x32(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """https://numpy.org/doc/stable/user/basics.ufuncs.html"""
    threefry.check_key(key, can_be_many=True)
    threefry.check_words(x0=x0, x1=x1)
    k0, k1 = np.reshape(key[0:1], (-1,)), np.reshape(key[1:2], (-1,))
    y0, y1 = np.add(x0, k0), np.add(x1, k1)
    (free,) = rows(1, longest_block(len(y0), _BLOCK), np.uint32)
    for block in blocks(len(y0), _BLOCK):
        own = (k[block] if len(k) > 1 else k for k in (k0, k1))
        _rounds(*own, y0[block], y1[block], free)
    return y0, y1


def _is_narrow(key: Any, *, shape: Any, dtype: Any = "uint32") -> bool:
    return dtypes.as_dtype(dtype) in _NARROW


def _is_float32(key: Any, *, shape: Any, dtype: Any = "float32") -> bool:
    return dtypes.as_dtype(dtype) is dtypes.float32


@supports(_is_narrow)
def random_bits(key: Any, *, shape: Any, dtype: Any = "uint32") -> Any:
    """https://numpy.org/doc/stable/user/basics.ufuncs.html"""
    bits = np.empty(threefry.count(shape), dtypes.as_dtype(dtype).name)
    for block, words in _blocks(key, bits):
        block[:] = words
    return bits.reshape(tuple(shape))


@supports(_is_float32)
def random_uniform(key: Any, *, shape: Any, dtype: Any = "float32") -> Any:
    """https://numpy.org/doc/stable/user/basics.ufuncs.html

    The mantissa's bits behind the exponent of 1 are a number in [1, 2).
    """
    numbers = np.empty(threefry.count(shape), np.float32)
    for block, words in _blocks(key, numbers):
        np.right_shift(words, 9, words)
        np.bitwise_or(words, 0x3F800000, words)
        np.subtract(words.view(np.float32), 1.0, block)
    return numbers.reshape(tuple(shape))


_NARROW = (dtypes.uint8, dtypes.uint16, dtypes.uint32)


def _blocks(key: Any, filled: Any) -> Iterator[tuple[Any, Any]]:
    """The blocks of an array with a random word for each element, which may be written."""
    threefry.check_key(key)
    size = longest_block(len(filled), _BLOCK)
    counts, y0, y1, free = rows(4, size, np.uint32)
    counts[:] = np.arange(size, dtype=np.uint32)
    for place in blocks(len(filled), _BLOCK):
        block = filled[place]
        one, two = y0[: len(block)], y1[: len(block)]
        one.fill(key[0])
        np.add(counts[: len(block)], key[1:2] + np.uint32(place.start), two)
        _rounds(key[0:1], key[1:2], one, two, free)
        yield block, np.bitwise_xor(one, two, one)


def _rounds(k0: Any, k1: Any, y0: Any, y1: Any, free: Any) -> None:
    """The 20 rounds on two blocks of words, which are written."""
    keys = (k0, k1, k0 ^ k1 ^ np.uint32(threefry.PARITY))
    free = free[: len(y0)]
    for group in range(5):
        for left, right in _SHIFTS[group % 2]:
            np.add(y0, y1, y0)
            np.left_shift(y1, left, free)
            np.right_shift(y1, right, y1)
            np.bitwise_xor(y1, free, y1)  # an "or": no bit is in both
            np.bitwise_xor(y1, y0, y1)
        np.add(y0, keys[(group + 1) % 3], y0)
        np.add(y1, keys[(group + 2) % 3] + np.uint32(group + 1), y1)
