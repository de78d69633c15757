"""JAX: `nestarray.ops.elementwise`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends import division
from nestarray.backends.base import clip_dtype, floating, floating_pair, promoting, supports
from nestarray.backends.jax.core import native_dtype


def _cast(x: Any, dtype: Any) -> Any:
    return jnp.asarray(x, dtype=native_dtype(dtype))


abs = jnp.abs
ceil = jnp.ceil
conj = jnp.conj
floor = jnp.floor
imag = jnp.imag
nan_to_num = jnp.nan_to_num
negative = jnp.negative
positive = jnp.positive
real = jnp.real
square = jnp.square
trunc = jnp.trunc
angle = floating(jnp.angle, _cast)
reciprocal = floating(jnp.reciprocal, _cast)


@jax.jit
def _floor_divide(x1: Any, x2: Any) -> Any:
    if not jnp.issubdtype(jnp.result_type(x1, x2), jnp.floating):
        return jnp.floor_divide(x1, x2)
    return division.floor_divided(jnp, jnp.floor_divide, x1, x2)


@jax.jit
def _remainder(x1: Any, x2: Any) -> Any:
    found = jnp.remainder(x1, x2)
    if not jnp.issubdtype(found.dtype, jnp.floating):
        return found
    return _with_sign(found, x2)


@jax.custom_jvp
def _with_sign(remainder: Any, x2: Any) -> Any:
    """A remainder whose zeros have the sign of x2; XLA would drop the sum that `division` has."""
    zero = jnp.copysign(jnp.zeros_like(remainder), x2)
    return jnp.where(remainder == 0, zero, remainder)


@_with_sign.defjvp
def _with_sign_jvp(primals: Any, tangents: Any) -> Any:
    return _with_sign(*primals), tangents[0]


add = promoting(jnp.add, _cast)
subtract = promoting(jnp.subtract, _cast)
multiply = promoting(jnp.multiply, _cast)
floor_divide = promoting(_floor_divide, _cast)
remainder = promoting(_remainder, _cast)
fmod = promoting(jnp.fmod, _cast)
pow = promoting(jnp.power, _cast)
maximum = promoting(jnp.maximum, _cast)
minimum = promoting(jnp.minimum, _cast)
fmax = promoting(jnp.fmax, _cast)
fmin = promoting(jnp.fmin, _cast)
nextafter = promoting(jnp.nextafter, _cast)
divide = promoting(floating_pair(jnp.divide, _cast), _cast)
copysign = promoting(floating_pair(jnp.copysign, _cast), _cast)


@jax.jit
def sign(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.sign.html

    Of −0 it is 0: https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sign.html
    """
    return jnp.where(x == 0, jnp.zeros_like(x), jnp.sign(x))


@supports(lambda x, decimals=0: decimals == 0)
def round(x: Any, /, *, decimals: int = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.round.html"""
    return jnp.round(x)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.clip.html

    By `where`: the derivative of ``jnp.maximum`` where its operands are equal is 1/2.
    """
    dtype = clip_dtype(x, min, max)
    x = _cast(x, dtype)
    if min is not None:
        low = _cast(min, dtype)
        x = jnp.where((x < low) | jnp.isnan(low), low, x)
    if max is not None:
        high = _cast(max, dtype)
        x = jnp.where((x > high) | jnp.isnan(high), high, x)
    return x
