"""JAX: `nestarray.ops.contraction`."""

from __future__ import annotations

import jax.numpy as jnp

from nestarray.backends.base import promoting
from nestarray.backends.jax.elementwise import _cast

matmul = promoting(jnp.matmul, _cast)
