"""Random numbers of primitives.

Upstream: https://docs.jax.dev/en/latest/jax.random.html
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.jax.lax.elementwise import mulhi
from nestarray.typing import Array, DTypeLike

__all__ = ["random_gamma", "rng_bit_generator"]


def random_gamma(key: Array, a: Array, log_space: bool = False) -> Array:
    """Numbers of the density xᵃ⁻¹ e⁻ˣ / Γ(a), or their logarithms: upstream's for the key."""
    return na.random_gamma(key, a, log_space=log_space)


def rng_bit_generator(
    key: Array, shape: Sequence[int], dtype: DTypeLike = "uint32", algorithm: Any = "default"
) -> tuple[Array, Array]:
    """(new state, random bits) of the compiler's generators; the default one of a CPU is Philox.

    The bits are XLA's: https://openxla.org/xla/operation_semantics#rngbitgenerator

    Args:
        key: state of the generator, uint32[4].
        shape: of the bits.
        dtype: uint8, uint16, uint32 or uint64.
        algorithm: ``"three_fry"``, ``"philox"`` or ``"default"``; or upstream's value.
    """
    shape, wanted = tuple(shape), dtypes.as_dtype(dtype)
    is_threefry = str(algorithm).lower().endswith("three_fry")
    generate = _threefry_words if is_threefry else _philox_words
    words, count = generate(key, shape, wanted.bits == 64)
    if wanted.bits == 64:
        words = na.getitem(na.bitcast(words, dtypes.uint64), (..., 0))
    counter = _sum(_words(key)[2:], na.asarray(np.uint32(count), like=key))
    new = na.concat([na.getitem(key, slice(2)), na.stack(counter)])
    return new, na.astype(na.reshape(words, shape), wanted)


def _words(key: Array) -> list[Array]:
    return [na.getitem(key, i) for i in range(4)]


def _sum(words: Sequence[Array], number: Array) -> list[Array]:
    """A number in words of 32 bits, the lowest first, plus one below 2³²."""
    found = []
    for word in words:
        found.append(na.add(word, number))
        number = na.astype(na.less(found[-1], number), dtypes.uint32)  # the carry
    return found


def _threefry_words(key: Array, shape: tuple[int, ...], is_wide: bool) -> tuple[Array, int]:
    """(words, blocks): two words of each block follow each other along one even axis."""
    sizes = list(shape) or [1]
    axis = next((i for i, n in enumerate(sizes) if n % 2 == 0), sizes.index(max(sizes)))
    halves = list(sizes)
    halves[axis] = sizes[axis] if is_wide else -(-sizes[axis] // 2)
    count = math.prod(halves)
    counters = _sum(_words(key)[2:], na.arange(count, dtype=dtypes.uint32, like=key))
    words = [na.reshape(x, halves) for x in na.threefry2x32(na.getitem(key, slice(2)), *counters)]
    if is_wide:
        return na.stack(words, axis=-1), count
    full = na.stack(words, axis=axis + 1)
    full = na.reshape(full, [*halves[:axis], 2 * halves[axis], *halves[axis + 1 :]])
    return na.getitem(full, tuple([slice(n) for n in sizes])), count


def _philox_words(key: Array, shape: tuple[int, ...], is_wide: bool) -> tuple[Array, int]:
    """(words, blocks): four words of each block follow each other.

    The counter has 128 bits: the last two words of the state, then the first two, the key.
    """
    size = math.prod(shape) * (2 if is_wide else 1)
    count = -(-size // 4)
    first, second, low, high = _words(key)
    blocks = na.arange(count, dtype=dtypes.uint32, like=key)
    counters = _sum([low, high, first, second], blocks)
    keys = [na.add(na.zeros_like(blocks), word) for word in (first, second)]
    blocks = na.stack(_philox4x32(counters, keys), axis=1)
    words = na.getitem(na.reshape(blocks, (4 * count,)), slice(size))
    return na.reshape(words, (-1, 2)) if is_wide else words, count


def _philox4x32(counters: Sequence[Array], key: Sequence[Array]) -> list[Array]:
    """Ten rounds of Philox4x32 (Salmon et al. 2011, doi:10.1145/2063384.2063405)."""
    x, key = list(counters), list(key)
    for _ in range(10):
        factors = [na.full_like(x[0], factor) for factor in (0xD2511F53, 0xCD9E8D57)]
        upper = [mulhi(x[0], factors[0]), mulhi(x[2], factors[1])]
        lower = [na.multiply(x[0], factors[0]), na.multiply(x[2], factors[1])]
        mixed = [na.bitwise_xor(na.bitwise_xor(upper[1], x[1]), key[0]),
                 na.bitwise_xor(na.bitwise_xor(upper[0], x[3]), key[1])]  # fmt: skip
        x = [mixed[0], lower[1], mixed[1], lower[0]]
        steps = zip(key, (0x9E3779B9, 0xBB67AE85), strict=True)
        key = [na.add(k, na.full_like(k, step)) for k, step in steps]
    return x
