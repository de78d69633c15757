"""JAX: conversion between typed keys and words.

https://docs.jax.dev/en/latest/jep/9263-typed-keys.html
"""

from __future__ import annotations

from typing import Any

import jax


def is_typed(key: Any) -> bool:
    """Whether `key` is an array of typed keys from ``jax.random.key``."""
    return isinstance(key, jax.Array) and jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key)


def words_of(key: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.key_data.html"""
    return jax.random.key_data(key) if is_typed(key) else key


def typed_like(key: Any, words: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.wrap_key_data.html"""
    return jax.random.wrap_key_data(words, impl=jax.random.key_impl(key))
