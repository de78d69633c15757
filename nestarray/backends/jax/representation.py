"""JAX: `nestarray.ops.representation`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import supports
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.promotion import promoting


def _gcd(x1: Any, x2: Any) -> Any:
    if x1.dtype.kind not in "iu":
        raise TypeError(f"gcd does not accept dtype {x1.dtype}")
    # Unsigned: jnp.gcd does not end for the smallest signed number, which has no absolute value.
    unsigned = jnp.dtype(f"uint{8 * x1.dtype.itemsize}")
    return jnp.gcd(jnp.abs(x1).astype(unsigned), jnp.abs(x2).astype(unsigned)).astype(x1.dtype)


gcd = promoting(_gcd)


@supports(lambda x: x.dtype.kind in "iu")
@compiled
def bitwise_count(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.bitwise_count.html"""
    return jnp.bitwise_count(x).astype("uint8")
