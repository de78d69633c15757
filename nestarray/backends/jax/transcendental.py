"""JAX: `nestarray.ops.transcendental`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.base import floating, floating_pair, promoting
from nestarray.backends.jax.elementwise import _cast
from nestarray.backends.nonfinite import completed


def _floating(name: str, native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, on complex numbers with the standard's values at infinities and NaN."""
    return floating(native, _cast, completed(name, native, jax.lax.complex))


acos = _floating("acos", jnp.arccos)
acosh = _floating("acosh", jnp.arccosh)
asin = _floating("asin", jnp.arcsin)
asinh = _floating("asinh", jnp.arcsinh)
atan = _floating("atan", jnp.arctan)
cbrt = floating(jnp.cbrt, _cast)
atanh = _floating("atanh", jnp.arctanh)
cos = _floating("cos", jnp.cos)
cosh = _floating("cosh", jnp.cosh)
exp = _floating("exp", jnp.exp)
exp2 = floating(jnp.exp2, _cast)
expm1 = _floating("expm1", jnp.expm1)
log = _floating("log", jnp.log)
log10 = floating(jnp.log10, _cast)
log1p = _floating("log1p", jnp.log1p)
log2 = floating(jnp.log2, _cast)
sin = _floating("sin", jnp.sin)
sinh = _floating("sinh", jnp.sinh)
sqrt = _floating("sqrt", jnp.sqrt)
tan = _floating("tan", jnp.tan)
tanh = _floating("tanh", jnp.tanh)
rsqrt = floating(jax.lax.rsqrt, _cast)

atan2 = promoting(floating_pair(jnp.arctan2, _cast), _cast)
hypot = promoting(floating_pair(jnp.hypot, _cast), _cast)
logaddexp = promoting(floating_pair(jnp.logaddexp, _cast), _cast)
logaddexp2 = promoting(floating_pair(jnp.logaddexp2, _cast), _cast)
