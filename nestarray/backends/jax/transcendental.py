"""JAX: `nestarray.ops.transcendental`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends import xp
from nestarray.backends.jax.promotion import floating, floating_pair, ordering, promoting
from nestarray.numerics.nonfinite import completed


def _completed(name: str, native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, with the standard's values for complex infinities and NaN."""
    return floating(native, completed(xp, name, native, jax.lax.complex))


acos = _completed("acos", jnp.arccos)
acosh = _completed("acosh", jnp.arccosh)
asin = _completed("asin", jnp.arcsin)
asinh = _completed("asinh", jnp.arcsinh)
atan = _completed("atan", jnp.arctan)
cbrt = floating(jnp.cbrt)
atanh = _completed("atanh", jnp.arctanh)
cos = _completed("cos", jnp.cos)
cosh = _completed("cosh", jnp.cosh)
exp = _completed("exp", jnp.exp)
exp2 = floating(jnp.exp2)
expm1 = _completed("expm1", jnp.expm1)
log = _completed("log", jnp.log)
log10 = floating(jnp.log10)
log1p = _completed("log1p", jnp.log1p)
log2 = floating(jnp.log2)
sin = _completed("sin", jnp.sin)
sinh = _completed("sinh", jnp.sinh)
sqrt = _completed("sqrt", jnp.sqrt)
tan = _completed("tan", jnp.tan)
tanh = _completed("tanh", jnp.tanh)
rsqrt = floating(jax.lax.rsqrt)

atan2 = ordering(floating_pair(jnp.arctan2))
hypot = promoting(floating_pair(jnp.hypot))
logaddexp = promoting(floating_pair(jnp.logaddexp))
logaddexp2 = ordering(floating_pair(jnp.logaddexp2))
