"""JAX: `nestarray.ops.sets`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.promotion import promoted

#: Up to this number, comparing all pairs is as fast as a binary search.
_PAIRS = 300


@compiled
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.isin.html"""
    is_large = isinstance(x2.size, int) and x2.size > _PAIRS  # else an open size
    method = "binary_search" if is_large else "compare_all"
    return jnp.isin(*promoted((x1, x2)), invert=invert, method=method)
