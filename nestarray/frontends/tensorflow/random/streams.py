"""Streams of random words: Philox as TensorFlow's kernels read it, Threefry as XLA does.

A seed is two integers. Philox hashes it to a key and the upper half of a counter; word i of a stream
is word i mod 4 of block ⌊i / 4⌋. Threefry uses the seed as its key.

Upstream: https://www.tensorflow.org/guide/random_numbers
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import nestarray as na
from nestarray import backends, dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.tensorflow.conversion import is_tensor
from nestarray.numerics import bit_generators, rounding
from nestarray.typing import Array

#: dtype → the number of mantissa bits in one word.
MANTISSA = {dtypes.float16: 10, dtypes.bfloat16: 7, dtypes.float32: 23}
#: Box and Muller's logarithm takes no smaller numbers.
LEAST_UNIFORM = 1.0e-7
_SCRAMBLING_KEY = (0x3EC8F720, 0x02461E29)


class Algorithm(enum.Enum):
    """The bit generators; Philox is selected automatically."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


class Philox(NamedTuple):
    """A stream of Philox.

    Attributes:
        key: its two words.
        upper: the upper two words of the counter.
        lower: the lower two words of the counter at the start of the stream; None: 0.
    """

    key: tuple[Array, Array]
    upper: tuple[Array, Array]
    lower: tuple[Array, Array] | None = None

    def blocks(self, low: Array, high: Array | None = None) -> list[Array]:
        """Return the four words of each block; its position has two words."""
        high = na.zeros_like(low) if high is None else high
        upper = [na.add(na.zeros_like(low), word) for word in self.upper]
        counter = [low, high, *upper]
        if self.lower is not None:
            first, *rest = bit_generators.advanced(na, counter, self.lower[0])
            counter = [first, *bit_generators.advanced(na, rest, self.lower[1])]
        return list(na.philox4x32(na.stack(self.key), *counter))

    def words(self, count: int) -> Array:
        """Return the first words of the stream, `(count,)`."""
        blocks = na.arange(-(-count // 4), dtype=dtypes.uint32, like=self.key[0])
        flat = bit_generators.flat_words(na, self.blocks(blocks))
        return na.getitem(flat, slice(count))

    def of_each(self, count: int, reserved: int) -> Callable[[Array | int], list[Array]]:
        """Return the function from a block of each element's own part of the stream to its words.

        Args:
            count: the number of elements.
            reserved: the number of blocks between the parts of two elements.
        """
        starts = np.arange(count, dtype=np.uint64) * reserved
        low, high = [
            na.asarray((part & 0xFFFFFFFF).astype(np.uint32), like=self.key[0])
            for part in (starts, starts >> np.uint64(32))
        ]

        def words(block: Array | int) -> list[Array]:
            if isinstance(block, int):
                block = na.full_like(low, block)
            found, carried = bit_generators.advanced(na, [low, high], block)
            return self.blocks(found, carried)

        return words


def beside(seed: Any, *parameters: Any) -> Any:
    """`seed` on the backend of the first array of the parameters, if it is of Python numbers."""
    if isinstance(seed, Philox):
        return seed
    like = next((x for x in parameters if is_tensor(x)), None)
    if like is None or is_tensor(seed) or any(is_tensor(part) for part in seed):
        return seed
    numbers = np.asarray([int(part) for part in seed])
    is_narrow = np.array_equal(numbers, numbers.astype(np.int32))
    return na.asarray(numbers.astype(np.int32) if is_narrow else numbers, like=like)


def philox(seed: Any) -> Philox:
    """Return the stream of a seed; a stream is returned unchanged."""
    if isinstance(seed, Philox):
        return seed
    words = seed_words(seed)
    key = na.asarray(np.asarray(_SCRAMBLING_KEY, np.uint32), like=words[0])
    mixed = na.philox4x32(key, *words)
    return Philox((mixed[0], mixed[1]), (mixed[2], mixed[3]))


def seed_words(seed: Any) -> list[Array]:
    """Return the words of a seed: the lower and the upper one of both integers.

    Raises:
        ShapeError: the seed does not have two elements.
    """
    shape = tuple(na.shape(seed)) if is_tensor(seed) else np.shape(seed)
    if shape != (2,):
        raise ShapeError(f"random: seed: got the shape {shape}, expected (2,), as in seed=(1, 2)")
    if not is_tensor(seed):
        if any(is_tensor(part) for part in seed):
            like = next(part for part in seed if is_tensor(part))
            return seed_words(na.stack([na.asarray(part, like=like) for part in seed]))
        numbers = np.asarray([int(part) for part in seed], np.int64).view(np.uint32)
        return [na.asarray(number) for number in numbers]
    dtype = dtypes.dtype_of(seed)
    if not dtype.is_integer or dtype.bits < 32:
        raise ArgumentError(f"random: seed: got {dtype}, expected integers of 32 or 64 bits")
    if dtype.bits == 64:
        words = na.reshape(na.bitcast(seed, dtypes.uint32), (4,))
        return [na.getitem(words, i) for i in range(4)]
    low = seed if dtype is dtypes.uint32 else na.bitcast(seed, dtypes.uint32)
    high = na.zeros_like(low)
    if dtype.kind == "int":
        high = na.where(na.less(seed, 0), na.full_like(low, 0xFFFFFFFF), high)
    pairs = [na.getitem(x, i) for i in range(2) for x in (low, high)]
    return pairs


def algorithm(alg: Any) -> Algorithm:
    """Return the algorithm of a name, a number or an `Algorithm`.

    Raises:
        ArgumentError: there is no such algorithm.
    """
    if alg is None:
        return Algorithm.AUTO_SELECT
    name = str(getattr(alg, "name", alg)).upper().replace("_", "").replace("-", "")
    for member in Algorithm:
        if name in (member.name.replace("_", ""), str(member.value)):
            return member
    raise ArgumentError(f"random: alg: got {alg!r}, expected 'philox', 'threefry' or 'auto_select'")


def bits(seed: Any, shape: Sequence[int], dtype: DType, alg: Any = None) -> Array:
    """Return uniform bits of uint32 or uint64."""
    shape, is_wide = tuple(shape), dtype.bits == 64
    if algorithm(alg) is Algorithm.THREEFRY:
        low0, _, low1, _ = seed_words(seed)
        zero = na.zeros_like(low0)
        words, _ = bit_generators.threefry_stream(na, [low0, low1, zero, zero], shape, is_wide)
    else:
        words = philox(seed).words(math.prod(shape) * (2 if is_wide else 1))
        words = na.reshape(words, (-1, 2)) if is_wide else words
    if is_wide:
        words = na.getitem(na.bitcast(words, dtypes.uint64), (..., 0))
    return na.reshape(words, shape)


def uniform(seed: Any, shape: Sequence[int], dtype: DType, alg: Any = None) -> Array:
    """Return uniform numbers in [0, 1): Philox takes the lowest bits of each word, XLA the highest."""
    shape = tuple(shape)
    if algorithm(alg) is Algorithm.THREEFRY:
        return _threefry_uniform(seed, shape, dtype)
    count = math.prod(shape)
    if dtype is dtypes.float64:
        words = na.reshape(philox(seed).words(2 * count), (count, 2))
        found = fraction_of_pair(na.getitem(words, (..., 0)), na.getitem(words, (..., 1)))
    else:
        found = fraction(philox(seed).words(count), dtype)
    return na.reshape(found, shape)


def fraction(words: Array, dtype: DType) -> Array:
    """Return the lowest bits of each word as a number in [0, 1)."""
    mantissa = MANTISSA[dtype]
    numbers = na.astype(na.bitwise_and(words, (1 << mantissa) - 1), dtype)
    return na.multiply(numbers, 2.0**-mantissa)


def fraction_of_pair(upper: Array, lower: Array, dtype: DType = dtypes.float64) -> Array:
    """Return 52 bits of two words as a number in [0, 1), rounded to `dtype`."""
    first = na.multiply(na.astype(na.bitwise_and(upper, 0xFFFFF), dtype), 2.0**-20)
    return na.add(first, na.multiply(na.astype(lower, dtype), 2.0**-52))


def _threefry_uniform(seed: Any, shape: tuple[int, ...], dtype: DType) -> Array:
    if dtype is dtypes.float64:
        words = na.bitwise_right_shift(bits(seed, shape, dtypes.uint64, "threefry"), 12)
        return na.multiply(na.astype(words, dtype), 2.0**-52)
    words = bits(seed, shape, dtypes.uint32, "threefry")
    if dtype is dtypes.float16:
        return fraction(words, dtype)
    return _narrowed(fraction(na.bitwise_right_shift(words, 9), dtypes.float32), dtype)


def _narrowed(x: Array, dtype: DType) -> Array:
    """`x` in `dtype`; XLA truncates float32 to bfloat16."""
    if dtype is not dtypes.bfloat16:
        return x
    kept = na.bitwise_and(na.bitcast(x, dtypes.uint32), 0xFFFF0000)
    return na.astype(na.bitcast(kept, dtypes.float32), dtype)


def box_muller(u1: Array, u2: Array) -> tuple[Array, Array]:
    """Return two normal numbers of each pair of uniform ones."""
    log = _rounded_once(na.log, na.maximum(u1, LEAST_UNIFORM))
    radius = na.sqrt(na.multiply(log, -2.0))
    angle = _rounded_once(lambda u: na.multiply(u, 2 * math.pi), u2)
    sine, cosine = _rounded_once(na.sin, angle), _rounded_once(na.cos, angle)
    return na.multiply(sine, radius), na.multiply(cosine, radius)


def _rounded_once(function: Callable[[Array], Array], x: Array) -> Array:
    """The function with one rounding, which makes it equal on all backends."""
    return rounding.rounded_once(na, function, x, backends.widest_float(x))


def normals_of_block(block: Sequence[Array], dtype: DType) -> list[Array]:
    """Return the normal numbers of a block: four, or two of 64 bits."""
    if dtype is dtypes.float64:
        return [*box_muller(fraction_of_pair(*block[:2]), fraction_of_pair(*block[2:]))]
    u = [fraction(word, dtypes.float32) for word in block]
    return [na.astype(x, dtype) for pair in (u[:2], u[2:]) for x in box_muller(*pair)]


def normal(seed: Any, shape: Sequence[int], dtype: DType, alg: Any = None) -> Array:
    """Return normal numbers by Box and Muller's method."""
    shape = tuple(shape)
    if algorithm(alg) is Algorithm.THREEFRY:
        return _threefry_normal(seed, shape, dtype)
    count, stream = math.prod(shape), philox(seed)
    blocks = -(-count // (2 if dtype is dtypes.float64 else 4))
    position = na.arange(blocks, dtype=dtypes.uint32, like=stream.key[0])
    numbers = na.stack(normals_of_block(stream.blocks(position), dtype), axis=-1)
    return na.reshape(na.getitem(na.reshape(numbers, (-1,)), slice(count)), shape)


def _threefry_normal(seed: Any, shape: tuple[int, ...], dtype: DType) -> Array:
    wide = dtypes.float32 if dtype is dtypes.bfloat16 else dtype
    sizes, axis = list(shape) or [1], bit_generators.paired_axis(shape)
    pairs = [*sizes[:axis], -(-sizes[axis] // 2), 2, *sizes[axis + 1 :]]
    u = uniform(seed, pairs, wide, "threefry")
    halves = [na.take(u, i, axis=axis + 1) for i in range(2)]
    found = bit_generators.interleaved(na, box_muller(*halves), sizes, axis)
    return _narrowed(na.reshape(found, shape), dtype)


#: Blocks drawn for one group of truncated numbers; that they do not suffice has a probability
#: below 1e-18.
_BLOCKS_PER_GROUP = 8


def truncated_normal(seed: Any, shape: Sequence[int], dtype: DType, alg: Any = None) -> Array:
    """Return normal numbers between −2 and 2: the first accepted ones of each group."""
    shape = tuple(shape)
    if algorithm(alg) is Algorithm.THREEFRY:
        return _threefry_truncated_normal(seed, shape, dtype)
    group = 2 if dtype is dtypes.float64 else 4
    count = math.prod(shape)
    groups = -(-count // group)
    words = philox(seed).of_each(groups, 64 * group)
    drawn = dtype if dtype is dtypes.float64 else dtypes.float32
    candidates = [normals_of_block(words(block), drawn) for block in range(_BLOCKS_PER_GROUP)]
    x = na.stack([number for block in candidates for number in block], axis=-1)
    is_inside = na.less(na.abs(x), 2.0)
    order = na.argsort(na.astype(is_inside, dtypes.int32), axis=-1, descending=True, stable=True)
    kept = na.take_along_axis(x, na.getitem(order, (..., slice(group))), axis=-1)
    flat = na.getitem(na.reshape(kept, (-1,)), slice(count))
    return na.astype(na.reshape(flat, shape), dtype)


def _threefry_truncated_normal(seed: Any, shape: tuple[int, ...], dtype: DType) -> Array:
    wide = dtypes.float32 if dtype is dtypes.bfloat16 else dtype
    least = dtypes.finfo(wide).smallest_normal
    u = uniform(seed, shape, wide, "threefry")
    u = na.add(na.multiply(u, 1.0 - least), least)
    low, high = [0.5 * math.erfc(-x / math.sqrt(2)) for x in (-2.0, 2.0)]
    level = na.add(na.multiply(u, high - low), low)
    found = na.multiply(na.erfinv(na.subtract(na.multiply(level, 2.0), 1.0)), math.sqrt(2))
    return _narrowed(found, dtype)
