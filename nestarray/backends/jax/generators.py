"""JAX: its own generator RBG, for keys of four words.

https://docs.jax.dev/en/latest/jax.random.html#advanced-rng-configuration
"""

from __future__ import annotations

from typing import Any

import jax
from jax import random as _random

from nestarray.backends.jax.core import native_dtype


def _typed(key: Any) -> Any:
    return _random.wrap_key_data(key, impl="rbg")


def bits(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.bits.html"""
    return _random.bits(_typed(key), shape, native_dtype(dtype))


def uniform(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.uniform.html"""
    return _random.uniform(_typed(key), shape, native_dtype(dtype))


def normal(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.normal.html"""
    return _random.normal(_typed(key), shape, native_dtype(dtype))


def gamma(key: Any, a: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.gamma.html"""
    return _random.gamma(_typed(key), a, dtype=a.dtype)


def poisson(key: Any, lam: Any, dtype: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.poisson.html

    JAX supports it for Threefry only, so half of the key is a Threefry key.
    """
    with jax.threefry_partitionable(True):
        own = _random.wrap_key_data(key[:2], impl="threefry2x32")
        return _random.poisson(own, lam, dtype=native_dtype(dtype))


def integers(key: Any, low: int, high: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.randint.html"""
    return _random.randint(_typed(key), shape, low, high, native_dtype(dtype))


def order(key: Any, size: int) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.permutation.html"""
    return _random.permutation(_typed(key), size)
