"""JAX: `nestarray.ops.transcendental`."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from nestarray.backends.base import floating, floating_pair, promoting
from nestarray.backends.jax.elementwise import _cast

acos = floating(jnp.arccos, _cast)
acosh = floating(jnp.arccosh, _cast)
asin = floating(jnp.arcsin, _cast)
asinh = floating(jnp.arcsinh, _cast)
atan = floating(jnp.arctan, _cast)
atanh = floating(jnp.arctanh, _cast)
cos = floating(jnp.cos, _cast)
cosh = floating(jnp.cosh, _cast)
exp = floating(jnp.exp, _cast)
exp2 = floating(jnp.exp2, _cast)
expm1 = floating(jnp.expm1, _cast)
log = floating(jnp.log, _cast)
log10 = floating(jnp.log10, _cast)
log1p = floating(jnp.log1p, _cast)
log2 = floating(jnp.log2, _cast)
sin = floating(jnp.sin, _cast)
sinh = floating(jnp.sinh, _cast)
sqrt = floating(jnp.sqrt, _cast)
tan = floating(jnp.tan, _cast)
tanh = floating(jnp.tanh, _cast)
rsqrt = floating(jax.lax.rsqrt, _cast)

atan2 = promoting(floating_pair(jnp.arctan2, _cast), _cast)
hypot = promoting(floating_pair(jnp.hypot, _cast), _cast)
logaddexp = promoting(floating_pair(jnp.logaddexp, _cast), _cast)
