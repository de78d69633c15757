"""JAX: `nestarray.ops.special`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp

from nestarray.backends.jax.promotion import floating, floating_pair, ordering


def _not_half(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` with half precision computed in float32."""

    def call(x: Any, /) -> Any:
        is_half = x.dtype.itemsize == 2
        return native(x.astype(jnp.float32)).astype(x.dtype) if is_half else native(x)

    return call


erf = floating(jsp.erf)
erfc = floating(jsp.erfc)
ndtr = floating(_not_half(jsp.ndtr))
ndtri = floating(_not_half(jsp.ndtri))
erfinv = floating(jsp.erfinv)
lgamma = floating(jsp.gammaln)


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
sinc = floating(_not_half(jnp.sinc))
entr = floating(jsp.entr)

xlogy = ordering(floating_pair(jsp.xlogy))
xlog1py = ordering(floating_pair(jsp.xlog1py))
