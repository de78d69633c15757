"""JAX: `nestarray.ops.sorting`."""

from __future__ import annotations

import jax.numpy as jnp

sort = jnp.sort
argsort = jnp.argsort
