"""NumPy: `nestarray.ops.random`, in place and in blocks that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends import logarithms, threefry
from nestarray.backends.base import supports

_BLOCK = 1 << 15  # three blocks of words are 384 KiB; smaller ones are mostly calls of ufuncs

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
    free = np.empty(min(len(y0), _BLOCK), np.uint32)
    for start in range(0, len(y0), _BLOCK):
        block = slice(start, start + _BLOCK)
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
    size = min(len(filled), _BLOCK)
    counts = np.arange(size, dtype=np.uint32)
    y0, y1, free = np.empty((3, size), np.uint32)
    for start in range(0, len(filled), _BLOCK):
        block = filled[start : start + _BLOCK]
        one, two = y0[: len(block)], y1[: len(block)]
        one.fill(key[0])
        np.add(counts[: len(block)], key[1:2] + np.uint32(start), two)
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


@supports(lambda u: u.dtype == np.float32)
def normal_quantile(u: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.log1p.html

    One branch for all, the other for the few in 1000 that need it.
    """
    x, found = u.reshape(-1), np.empty(u.size, np.float32)
    for start in range(0, u.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        _quantiles(x[block], found[block])
    return found.reshape(u.shape)


def _quantiles(x: Any, found: Any) -> None:
    """Write the normal numbers of a block of uniform ones."""
    np.multiply(x, x, out=found)
    np.negative(found, out=found)
    np.negative(_log1p(found), out=found)
    wide = np.empty(found.shape, np.float64)
    tail = np.flatnonzero(found >= 5.0)
    far, ends = np.sqrt(found[tail]) - np.float32(3.0), x[tail]
    np.subtract(found, np.float32(2.5), out=found)
    _polynomial(threefry.GILES_CENTRAL, found, wide)
    if len(tail):
        _polynomial(threefry.GILES_TAIL, far, far.astype(np.float64))
        found[tail] = np.where(np.abs(ends) == 1.0, np.float32(np.inf), far)
    np.multiply(found, x, out=found)
    np.multiply(found, np.float32(2.0**0.5), out=found)


def _log1p(x: Any) -> Any:
    """`logarithms.log1p` of negative numbers: each formula where it is needed."""
    is_near = x > -logarithms.BOUND
    near = x[is_near]
    square = near * near
    wide = np.empty(near.shape, np.float64)
    above, below = near.copy(), near.copy()
    _polynomial(logarithms.P, above, wide)
    _polynomial(logarithms.Q, below, wide)
    np.divide(above, below, out=above)
    np.multiply(above, near * square, out=above)
    np.multiply(square, np.float32(0.5), out=square)
    result = np.empty_like(x)
    result[is_near] = near + (above - square)
    far = np.logical_not(is_near, out=is_near)
    rest = x[far] + np.float32(1.0)
    at_ends = rest == 0.0
    rest[at_ends] = 1.0
    found = logarithms.log(rest)
    found[at_ends] = -np.inf
    result[far] = found
    return result


def _polynomial(coefficients: Any, w: Any, wide: Any) -> None:
    """Write the polynomial at `w` in its place: each step has one rounding; `wide` is memory."""
    power = w.astype(np.float64)
    first, *others = coefficients
    w.fill(first)
    for c in others:
        np.multiply(w, power, out=wide)
        np.add(wide, c, out=w, casting="same_kind")
