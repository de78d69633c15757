"""JAX: `nestarray.ops.logic`."""

from __future__ import annotations

import jax.numpy as jnp

from nestarray.backends.base import promoting
from nestarray.backends.jax.elementwise import _cast

isfinite = jnp.isfinite
isinf = jnp.isinf
isnan = jnp.isnan
logical_not = jnp.logical_not
signbit = jnp.signbit
bitwise_invert = jnp.bitwise_invert

equal = promoting(jnp.equal, _cast)
not_equal = promoting(jnp.not_equal, _cast)
less = promoting(jnp.less, _cast)
less_equal = promoting(jnp.less_equal, _cast)
greater = promoting(jnp.greater, _cast)
greater_equal = promoting(jnp.greater_equal, _cast)
bitwise_and = promoting(jnp.bitwise_and, _cast)
bitwise_or = promoting(jnp.bitwise_or, _cast)
bitwise_xor = promoting(jnp.bitwise_xor, _cast)
bitwise_left_shift = promoting(jnp.left_shift, _cast)
bitwise_right_shift = promoting(jnp.right_shift, _cast)

logical_and = jnp.logical_and
logical_or = jnp.logical_or
logical_xor = jnp.logical_xor

isclose = jnp.isclose
