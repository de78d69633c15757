"""JAX: `nestarray.ops.transcendental`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends import xp
from nestarray.backends.jax.derivatives import with_derivative_of
from nestarray.backends.jax.promotion import (
    floating,
    floating_pair,
    in_float32,
    ordering,
    promoting,
)
from nestarray.numerics.logarithms import complex_logaddexp, differentiable_log_sum
from nestarray.numerics.nonfinite import completed


def _completed(name: str, native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, with the standard's values for complex infinities and NaN."""
    return floating(native, completed(xp, name, native, jax.lax.complex))


def _logaddexp(x1: Any, x2: Any) -> Any:
    if jnp.iscomplexobj(x1):
        return complex_logaddexp(xp, x1, x2)
    return _real_logaddexp(x1, x2)


def _differentiable(logaddexp: Callable[..., Any]) -> Callable[..., Any]:
    def smooth(x1: Any, x2: Any) -> Any:
        is_nothing = (x1 == -jnp.inf) & (x2 == -jnp.inf)
        return differentiable_log_sum(xp, logaddexp, is_nothing, x1, x2)

    return with_derivative_of(smooth, logaddexp)


_real_logaddexp = _differentiable(jnp.logaddexp)


def _hypot(x1: Any, x2: Any) -> Any:
    """The derivative is 0 at the origin, where JAX's is 1/2."""
    is_zero = (x1 == 0) & (x2 == 0)
    one = jnp.ones_like(x1)
    return jnp.where(is_zero, 0, jnp.hypot(jnp.where(is_zero, one, x1), x2))


@jax.custom_jvp
def _atan2(x1: Any, x2: Any) -> Any:
    """The derivative is 0 at the origin, where JAX's is NaN."""
    return jnp.arctan2(x1, x2)


@_atan2.defjvp
def _(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    (x1, x2), (t1, t2) = primals, tangents
    is_zero = (x1 == 0) & (x2 == 0)
    moment = jnp.where(is_zero, 0, x2 * t1 - x1 * t2)
    square = jnp.where(is_zero, 1, x1 * x1 + x2 * x2)
    return _atan2(x1, x2), moment / square


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
exp2 = floating(in_float32(jnp.exp2))  # its error grows with |x|
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

atan2 = ordering(floating_pair(_atan2), floats=True)
hypot = promoting(floating_pair(_hypot), floats=True)
logaddexp = promoting(floating_pair(_logaddexp), floats=True)
logaddexp2 = ordering(floating_pair(_differentiable(jnp.logaddexp2)), floats=True)
