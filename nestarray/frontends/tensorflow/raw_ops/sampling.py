"""Random numbers: with a hidden state upstream, which is the argument `key` here, and of a seed.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RandomUniform
"""

from __future__ import annotations

from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow import random
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "Multinomial", "RandomShuffle", "RandomStandardNormal", "RandomUniform", "RandomUniformInt",
    "StatelessMultinomial", "StatelessRandomNormal", "StatelessRandomUniform",
    "StatelessRandomUniformFullInt", "StatelessRandomUniformInt", "StatelessTruncatedNormal",
    "TruncatedNormal",
]  # fmt: skip


def RandomUniform(
    shape: Ints, dtype: DType, seed: int = 0, seed2: int = 0, *, key: Array | None = None
) -> Array:
    """Uniform numbers in [0, 1)."""
    return random.uniform(shape, dtype=dtype, key=key)


def RandomUniformInt(
    shape: Ints,
    minval: Array,
    maxval: Array,
    seed: int = 0,
    seed2: int = 0,
    *,
    key: Array | None = None,
) -> Array:
    """Uniform integers in [minval, maxval)."""
    dtype = dtypes.dtype_of(minval) if hasattr(minval, "dtype") else dtypes.int32
    return random.uniform(shape, minval, maxval, dtype, key=key)


def RandomStandardNormal(
    shape: Ints, dtype: DType, seed: int = 0, seed2: int = 0, *, key: Array | None = None
) -> Array:
    """Normal numbers."""
    return random.normal(shape, dtype=dtype, key=key)


def TruncatedNormal(
    shape: Ints, dtype: DType, seed: int = 0, seed2: int = 0, *, key: Array | None = None
) -> Array:
    """Normal numbers between −2 and 2."""
    return random.truncated_normal(shape, dtype=dtype, key=key)


def RandomShuffle(
    value: Array, seed: int = 0, seed2: int = 0, *, key: Array | None = None
) -> Array:
    """The rows in random order."""
    return random.shuffle(value, key=key)


def Multinomial(
    logits: Array,
    num_samples: int,
    seed: int = 0,
    seed2: int = 0,
    output_dtype: DType = dtypes.int64,
    *,
    key: Array | None = None,
) -> Array:
    """Indices with the probabilities softmax(logits)."""
    return random.categorical(logits, num_samples, output_dtype, key=key)


def StatelessRandomUniform(shape: Ints, seed: Array, dtype: DType = dtypes.float32) -> Array:
    """Uniform numbers in [0, 1)."""
    return random.stateless_uniform(shape, seed, dtype=dtype)


def StatelessRandomUniformInt(shape: Ints, seed: Array, minval: Array, maxval: Array) -> Array:
    """Uniform integers in [minval, maxval)."""
    dtype = dtypes.dtype_of(minval) if hasattr(minval, "dtype") else dtypes.int32
    return random.stateless_uniform(shape, seed, minval, maxval, dtype)


def StatelessRandomUniformFullInt(shape: Ints, seed: Array, dtype: DType = dtypes.uint64) -> Array:
    """Uniform integers of all bits."""
    return random.stateless_uniform(shape, seed, None, None, dtype)


def StatelessRandomNormal(shape: Ints, seed: Array, dtype: DType = dtypes.float32) -> Array:
    """Normal numbers."""
    return random.stateless_normal(shape, seed, dtype=dtype)


def StatelessTruncatedNormal(shape: Ints, seed: Array, dtype: DType = dtypes.float32) -> Array:
    """Normal numbers between −2 and 2."""
    return random.stateless_truncated_normal(shape, seed, dtype=dtype)


def StatelessMultinomial(
    logits: Array, num_samples: int, seed: Array, output_dtype: DType = dtypes.int64
) -> Array:
    """Indices with the probabilities softmax(logits)."""
    return random.stateless_categorical(logits, num_samples, seed, output_dtype)
