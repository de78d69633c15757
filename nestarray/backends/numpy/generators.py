"""NumPy: its own generator, for keys of four words.

https://numpy.org/doc/stable/reference/random/bit_generators/philox.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends import xp
from nestarray.backends.numpy.core import native_dtype
from nestarray.numerics import rejection


def _generator(key: Any) -> np.random.Generator:
    words = np.ascontiguousarray(key).astype(np.uint64)
    return np.random.Generator(np.random.Philox(key=words[:2] << np.uint64(32) | words[2:]))


def bits(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.integers.html"""
    most = 2**dtype.bits
    return np.asarray(_generator(key).integers(0, most, shape, native_dtype(dtype)))


def uniform(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.random.html

    Narrow dtypes truncate instead of rounding, so that 1 does not occur.
    """
    if dtype.bits >= 32:
        return np.asarray(_generator(key).random(shape, native_dtype(dtype)))
    mantissa = {"float16": 10, "bfloat16": 7}[dtype.name]
    words = np.asarray(_generator(key).integers(0, 2**mantissa, shape, np.uint16))
    return (words.astype(np.float32) * np.float32(2.0**-mantissa)).astype(native_dtype(dtype))


def normal(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.standard_normal.html"""
    wide = np.float64 if dtype.bits == 64 else np.float32
    drawn = np.asarray(_generator(key).standard_normal(shape, wide))
    return drawn.astype(native_dtype(dtype), copy=False)


def gamma(key: Any, a: Any) -> Any:
    """https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.standard_gamma.html"""
    return np.asarray(_generator(key).standard_gamma(a)).astype(a.dtype)


def poisson(key: Any, lam: Any, dtype: Any) -> Any:
    """https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.poisson.html"""
    is_rate = lam >= 0
    drawn = _generator(key).poisson(np.where(is_rate, lam, 0.0))
    return rejection.as_counts(xp, np.where(is_rate, drawn, -1.0), dtype)


def integers(key: Any, low: int, high: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.integers.html"""
    return np.asarray(_generator(key).integers(low, high, shape, native_dtype(dtype)))


def order(key: Any, size: int) -> Any:
    """https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.permutation.html"""
    return _generator(key).permutation(size)
