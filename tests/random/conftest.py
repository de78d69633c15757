"""JAX draws its numbers with its own compiler settings."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest


@pytest.fixture(scope="module")
def jax_as_by_default() -> Iterator[None]:
    """JAX with its optimizations: only with these x y + z is rounded once."""
    before = jax.config.read("jax_disable_most_optimizations")
    if not before:
        yield
        return
    jax.config.update("jax_disable_most_optimizations", False)
    jax.clear_caches()
    yield
    jax.config.update("jax_disable_most_optimizations", before)
    jax.clear_caches()
