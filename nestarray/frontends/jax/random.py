"""Random keys, and their bits: those of upstream's Threefry keys.

Upstream: https://docs.jax.dev/en/latest/jax.random.html. A key is an array uint32[2].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.typing import Array

__all__ = ["bits", "fold_in", "key", "key_data", "split", "wrap_key_data"]


def key(seed: Array) -> Array:
    """The key of a seed."""
    low = na.astype(seed, dtypes.uint32)
    is_wide = dtypes.dtype_of(seed).bits == 64
    high = na.astype(na.bitwise_right_shift(seed, 32), dtypes.uint32) if is_wide else low * 0
    return na.stack([high, low], axis=-1)


def wrap_key_data(key_bits_array: Array) -> Array:
    """A key of these bits."""
    return key_bits_array


def key_data(keys: Array) -> Array:
    """The bits of a key."""
    return keys


def bits(key: Array, shape: Sequence[int] = (), dtype: Any = dtypes.uint32) -> Array:
    """Random bits."""
    return na.random_bits(key, shape=tuple(shape), dtype=dtype)


def fold_in(key: Array, data: Array) -> Array:
    """A key made of a key and a number."""
    return na.random.fold_in(key, data)


def split(key: Array, num: int | Sequence[int] = 2) -> Array:
    """Keys made of a key, along new axes."""
    shape = (num,) if isinstance(num, int) else tuple(num)
    count = 1
    for size in shape:
        count *= size
    return na.reshape(na.random_split(key, num=count), (*shape, 2))
