"""JAX: `nestarray.ops.elementwise`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import promoting
from nestarray.backends.jax.core import native_dtype


def _cast(x: Any, dtype: Any) -> Any:
    return jnp.asarray(x, dtype=native_dtype(dtype))


abs = jnp.abs
exp = jnp.exp
negative = jnp.negative
positive = jnp.positive
bitwise_invert = jnp.bitwise_invert

add = promoting(jnp.add, _cast)
subtract = promoting(jnp.subtract, _cast)
multiply = promoting(jnp.multiply, _cast)
divide = promoting(jnp.divide, _cast)
floor_divide = promoting(jnp.floor_divide, _cast)
remainder = promoting(jnp.remainder, _cast)
pow = promoting(jnp.power, _cast)
bitwise_and = promoting(jnp.bitwise_and, _cast)
bitwise_or = promoting(jnp.bitwise_or, _cast)
bitwise_xor = promoting(jnp.bitwise_xor, _cast)
bitwise_left_shift = promoting(jnp.left_shift, _cast)
bitwise_right_shift = promoting(jnp.right_shift, _cast)
equal = promoting(jnp.equal, _cast)
not_equal = promoting(jnp.not_equal, _cast)
less = promoting(jnp.less, _cast)
less_equal = promoting(jnp.less_equal, _cast)
greater = promoting(jnp.greater, _cast)
greater_equal = promoting(jnp.greater_equal, _cast)
