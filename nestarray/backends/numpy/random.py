"""NumPy: `nestarray.ops.random`, in place and in blocks that fit in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends.base import supports
from nestarray.backends.numpy.memory import blocks, longest_block, rows
from nestarray.backends.numpy.quantiles import normal_quantile as normal_quantile
from nestarray.numerics import threefry
from nestarray.numerics.bit_generators import FACTORS, STEPS

_BLOCK = 1 << 17  # three blocks are 1.5 MiB; smaller blocks spend their time in calls

#: The left and right shifts of each group of rounds, as arrays: ufuncs convert numbers in each
#: call.
_SHIFTS = [
    [(np.array(d, np.uint32), np.array(32 - d, np.uint32)) for d in distances]
    for distances in threefry.ROTATIONS
]

#: The constants of Philox, of the word pairs (0, 2) and (1, 3): factors, and the increments
#: of the key in each round.
_FACTORS = np.array(FACTORS, np.uint64)[:, None]
_ADDED = [np.array(STEPS, np.uint64)[:, None] * np.uint64(i) for i in range(10)]
_WORD, _MASK = np.uint64(32), np.uint64(0xFFFFFFFF)


def threefry2x32(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """https://numpy.org/doc/stable/user/basics.ufuncs.html"""
    threefry.check_key(key, can_be_many=True)
    threefry.check_words(x0=x0, x1=x1)
    k0, k1 = np.reshape(key[0:1], (-1,)), np.reshape(key[1:2], (-1,))
    y0, y1 = np.add(x0, k0), np.add(x1, k1)
    (free,) = rows(1, longest_block(len(y0), _BLOCK), np.uint32)
    for block in blocks(len(y0), _BLOCK):
        own = (k[block] if len(k) > 1 else k for k in (k0, k1))
        np.add(y0[block], y1[block], y0[block])
        _rounds(*own, y0[block], y1[block], free)
    return y0, y1


def philox4x32(key: Any, x0: Any, x1: Any, x2: Any, x3: Any) -> tuple[Any, Any, Any, Any]:
    """https://numpy.org/doc/stable/user/basics.ufuncs.html"""
    threefry.check_key(key, can_be_many=True)
    threefry.check_words(x0=x0, x1=x1, x2=x2, x3=x3)
    shape = np.shape(x0)
    even, odd = np.array([[x0, x2], [x1, x3]], np.uint64).reshape(2, 2, -1)
    keys = np.reshape(key, (2, -1)).astype(np.uint64)
    for added in _ADDED:
        product = (even * _FACTORS)[::-1]
        even, odd = product >> _WORD ^ odd ^ (keys + added & _MASK), product & _MASK
    even, odd = (words.astype(np.uint32).reshape(2, *shape) for words in (even, odd))
    return even[0, ...], odd[0, ...], even[1, ...], odd[1, ...]


def _is_unsigned(key: Any, *, shape: Any, dtype: Any = "uint32") -> bool:
    return dtypes.as_dtype(dtype).kind == "uint"


def _is_float32_or_64(key: Any, *, shape: Any, dtype: Any = "float32") -> bool:
    return dtypes.as_dtype(dtype) in (dtypes.float32, dtypes.float64)


@supports(_is_unsigned)
def random_bits(key: Any, *, shape: Any, dtype: Any = "uint32") -> Any:
    """https://numpy.org/doc/stable/user/basics.ufuncs.html"""
    bits = _unfilled(shape, dtypes.as_dtype(dtype).name)
    for block, high, low in _blocks(key, bits):
        _join(high, low, block)
    return bits[: prod(shape)].reshape(tuple(shape))


@supports(_is_float32_or_64)
def random_uniform(key: Any, *, shape: Any, dtype: Any = "float32") -> Any:
    """https://numpy.org/doc/stable/user/basics.ufuncs.html

    Mantissa bits with the exponent of 1 are a number in [1, 2).
    """
    wanted = dtypes.as_dtype(dtype)
    mantissa, width = threefry.MANTISSA[wanted]
    numbers = _unfilled(shape, wanted.name)
    one = np.ones((), wanted.name)
    for block, high, low in _blocks(key, numbers):
        bits = high if width == 32 else block.view(np.uint64)
        _join(high, low, bits)
        np.right_shift(bits, width - mantissa, bits)
        np.bitwise_or(bits, one.view(bits.dtype), bits)
        np.subtract(bits.view(block.dtype), one, block)
    return numbers[: prod(shape)].reshape(tuple(shape))


def _unfilled(shape: Any, dtype: str) -> Any:
    """Memory for the elements of `shape`, at least two: one element takes NumPy twice as long."""
    return rows(1, max(threefry.count(shape), 2), dtype)[0]


def _join(high: Any, low: Any, bits: Any) -> None:
    """Write two words as 64 bits, or their exclusive or as fewer bits."""
    if bits.itemsize == 8:
        np.copyto(bits, high)
        np.left_shift(bits, 32, bits)
        np.bitwise_or(bits, low, bits)
    else:
        np.bitwise_xor(high, low, bits, casting="unsafe")


def _blocks(key: Any, filled: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The blocks of an array, each with two writable arrays of random words.

    If an element is a word, the first words share the memory of the block.
    """
    threefry.check_key(key)
    k0, k1 = key[0, ...], key[1, ...]  # 0-d arrays: faster than numbers
    is_word = filled.itemsize == 4
    *first, low, free = rows(2 if is_word else 3, longest_block(len(filled), _BLOCK), np.uint32)
    for place in blocks(len(filled), _BLOCK):
        block = filled[place]
        one = block.view(np.uint32) if is_word else first[0][: len(block)]
        two = low[: len(block)]
        np.add(_counts()[: len(block)], np.add(k1, np.uint32(place.start)), two)
        np.add(two, k0, one)  # the first words are all `k0`
        _rounds(k0, k1, one, two, free)
        yield block, one, two


@cache
def _counts() -> Any:
    """The positions of the elements of a block."""
    (counts,) = rows(1, _BLOCK, np.uint32)
    counts[:] = np.arange(_BLOCK, dtype=np.uint32)
    return counts


def _rounds(k0: Any, k1: Any, y0: Any, y1: Any, free: Any) -> None:
    """The 20 rounds in place on two blocks of words; y0 already has the first sum."""
    keys = (k0, k1, k0 ^ k1 ^ np.uint32(threefry.PARITY))
    free = free[: len(y0)]
    for group in range(5):
        for place, (left, right) in enumerate(_SHIFTS[group % 2]):
            if group or place:
                np.add(y0, y1, y0)
            np.left_shift(y1, left, free)
            np.right_shift(y1, right, y1)
            np.bitwise_xor(y1, free, y1)  # an "or" of disjoint bits
            np.bitwise_xor(y1, y0, y1)
        np.add(y0, keys[(group + 1) % 3], y0)
        np.add(y1, np.add(keys[(group + 2) % 3], np.uint32(group + 1)), y1)
