"""Random numbers of primitives.

Upstream: https://docs.jax.dev/en/latest/jax.random.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.numerics import bit_generators
from nestarray.typing import Array, DTypeLike

__all__ = ["random_gamma", "rng_bit_generator", "threefry2x32"]


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
    stream = bit_generators.threefry_stream if is_threefry else bit_generators.philox_stream
    state = [na.getitem(key, i) for i in range(4)]
    words, count = stream(na, state, shape, wanted.bits == 64)
    if wanted.bits == 64:
        words = na.getitem(na.bitcast(words, dtypes.uint64), (..., 0))
    counter = bit_generators.advanced(na, state[2:], na.asarray(np.uint32(count), like=key))
    new = na.concat([na.getitem(key, slice(2)), na.stack(counter)])
    return new, na.astype(na.reshape(words, shape), wanted)


def threefry2x32(k1: Array, k2: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
    """The Threefry hash of counters (x1, x2) under keys (k1, k2), which broadcast; all are uint32."""
    shape = na.broadcast_shapes(*[tuple(x.shape) for x in (k1, k2, x1, x2)])
    is_one_key = k1.ndim == k2.ndim == 0
    keys = (k1, k2) if is_one_key else [na.broadcast_to(k, shape) for k in (k1, k2)]
    words = [na.reshape(na.broadcast_to(x, shape), (-1,)) for x in (x1, x2)]
    key = na.stack([k if is_one_key else na.reshape(k, (-1,)) for k in keys])
    high, low = na.threefry2x32(key, *words)
    return na.reshape(high, shape), na.reshape(low, shape)
