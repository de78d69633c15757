"""JAX: `nestarray.ops.special`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp

from nestarray.backends.jax.promotion import floating, in_float32

erf = floating(jsp.erf)
erfc = floating(jsp.erfc)
ndtr = floating(in_float32(jsp.ndtr))
ndtri = floating(in_float32(jsp.ndtri))
erfinv = floating(jsp.erfinv)
lgamma = floating(in_float32(jsp.gammaln))


@jax.custom_jvp
def _digamma(x: Any) -> Any:
    # the pole at ±0 has a sign; JAX returns NaN
    return jnp.where(x == 0, jnp.copysign(jnp.inf, -x), jsp.digamma(x)).astype(x.dtype)


@_digamma.defjvp
def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    """Uses reflection below 0, where jax.scipy.special.polygamma loses most digits."""
    (x,), (t,) = primals, tangents
    is_below = x < 0
    mirrored = jsp.polygamma(1, jnp.where(is_below, 1 - x, x))
    sine = jnp.sin(jnp.pi * jnp.where(is_below, x - jnp.round(x), 0.5))
    slope = jnp.where(is_below, jnp.square(jnp.pi / sine) - mirrored, mirrored)
    return _digamma(x), t * slope


digamma = floating(_digamma)
sinc = floating(in_float32(jnp.sinc))
entr = floating(jsp.entr)
