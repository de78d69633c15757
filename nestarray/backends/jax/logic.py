"""JAX: `nestarray.ops.logic`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.jax.compiled import compiled_for_any
from nestarray.backends.jax.promotion import ordering, promoting

_BOOL = jnp.dtype(bool)

isfinite = jnp.isfinite
isinf = jnp.isinf
isneginf = jnp.isneginf
isposinf = jnp.isposinf
isnan = jnp.isnan
logical_not = jnp.logical_not
signbit = jnp.signbit
bitwise_invert = jnp.bitwise_invert

equal = promoting(jnp.equal, compares=True)
not_equal = promoting(jnp.not_equal, compares=True)
less = ordering(jnp.less, compares=True)
less_equal = ordering(jnp.less_equal, compares=True)
greater = ordering(jnp.greater, compares=True)
greater_equal = ordering(jnp.greater_equal, compares=True)
bitwise_and = promoting(jnp.bitwise_and)
bitwise_or = promoting(jnp.bitwise_or)
bitwise_xor = promoting(jnp.bitwise_xor)
bitwise_left_shift = promoting(jnp.left_shift, declined=_BOOL)
bitwise_right_shift = promoting(jnp.right_shift, declined=_BOOL)

logical_and = jnp.logical_and
logical_or = jnp.logical_or
logical_xor = jnp.logical_xor


@compiled_for_any("rtol", "atol")
def isclose(
    x1: Any, x2: Any, /, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.isclose.html"""
    return jnp.isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan)
