"""JAX: `nestarray.ops.random`."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.extend.random import threefry2x32_p as _threefry2x32

from nestarray.backends.base import refuse_complex
from nestarray.backends.jax.keys import words_of
from nestarray.numerics import threefry


def threefry2x32(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """https://docs.jax.dev/en/latest/jax.extend.random.html"""
    key = words_of(key)
    threefry.check_key(key, can_be_many=True)
    threefry.check_words(x0=x0, x1=x1)
    first, second = _threefry2x32.bind(key[0], key[1], x0, x1)
    return first, second


@jax.jit
def random_between(u: Any, low: Any, high: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.uniform.html

    One compiled program, in which XLA fuses multiply and add with one rounding, as in jax.random.
    float16 is rounded twice, also on processors that have fused float16 arithmetic.
    """
    for x in (u, low, high):
        refuse_complex(x)
    span = high - low
    if u.dtype != jnp.float16:
        return jnp.maximum(low, u * span + low)
    u, span, start = (x.astype(jnp.float32) for x in (u, span, low))
    product = lax.reduce_precision(u * span, exponent_bits=5, mantissa_bits=10)
    return jnp.maximum(low, (product + start).astype(jnp.float16))


def random_quantile(u: Any, *, distribution: str) -> Any:
    """https://docs.jax.dev/en/latest/jax.random.html"""
    refuse_complex(u)
    threefry.check_distribution(distribution)
    return _QUANTILES[distribution](u)


_QUANTILES = {
    "exponential": jax.jit(lambda u: -lax.log1p(-u)),
    "gumbel": jax.jit(lambda u: -lax.log(-lax.log(u))),
    "gumbel_upper": jax.jit(lambda u: -lax.log(-lax.log1p(-u))),
    "laplace": jax.jit(lambda u: lax.sign(u) * lax.log1p(-lax.abs(u))),
    "logistic": jax.jit(lambda u: lax.log(u) - lax.log1p(-u)),
    "cauchy": jax.jit(lambda u: lax.tan(np.asarray(np.pi, u.dtype) * (u - 0.5))),
    "rayleigh": jax.jit(lambda u: lax.sqrt(lax.log(u) * -2)),
}


def normal_quantile(u: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.erf_inv.html"""
    refuse_complex(u)
    return lax.mul(lax.erf_inv(u), np.asarray(2.0**0.5, u.dtype))
