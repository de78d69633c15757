"""JAX: `nestarray.ops.bessel`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp

from nestarray.backends.jax.promotion import floating, in_float32


def _unscaled(scaled: Any, x: Any) -> Any:
    """I(x) from exp(−|x|) I(x), without premature overflow of the factors."""
    half = jnp.exp(0.5 * jnp.abs(x))
    return scaled * half * half


@jax.custom_jvp
def _i0(x: Any) -> Any:
    return _unscaled(jsp.i0e(x), x)


@_i0.defjvp
def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    """I₁; JAX's own derivative is wrong at 0, where it uses the slope 1 of |x|."""
    return _i0(*primals), tangents[0] * _i1(*primals)


@jax.custom_jvp
def _i1(x: Any) -> Any:
    return _unscaled(jsp.i1e(x), x)


@_i1.defjvp
def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    """I₀ − I₁ / x; ½ at 0."""
    (x,) = primals
    first = _i1(x)
    is_zero = x == 0
    ratio = jnp.where(is_zero, 0.5, first / jnp.where(is_zero, 1, x))
    return first, tangents[0] * (_i0(x) - ratio).astype(x.dtype)


# exp(|x|) overflows half precision before the product does
i0 = floating(in_float32(_i0))
i0e = floating(in_float32(jsp.i0e))
i1 = floating(in_float32(_i1))
i1e = floating(in_float32(jsp.i1e))
