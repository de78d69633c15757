"""JAX: `nestarray.ops.representation`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.jax.elementwise import _promoting


def _gcd(x1: Any, x2: Any) -> Any:
    # Unsigned: of the smallest signed number, which has no absolute value, jnp.gcd never returns.
    unsigned = jnp.dtype(f"uint{8 * x1.dtype.itemsize}")
    return jnp.gcd(jnp.abs(x1).astype(unsigned), jnp.abs(x2).astype(unsigned)).astype(x1.dtype)


gcd = _promoting(_gcd)
