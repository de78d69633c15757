"""JAX: `nestarray.ops.representation`."""

from __future__ import annotations

import jax.numpy as jnp

from nestarray.backends.base import promoting
from nestarray.backends.jax.elementwise import _cast

gcd = promoting(jnp.gcd, _cast)
lcm = promoting(jnp.lcm, _cast)
