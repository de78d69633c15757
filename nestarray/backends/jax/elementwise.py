"""JAX: `nestarray.ops.elementwise`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from nestarray.backends import truth, xp
from nestarray.backends.base import clip_dtype, have_one_dtype, refuse_integers, supports
from nestarray.backends.jax.compiled import compiled, compiled_for_any, traced
from nestarray.backends.jax.promotion import cast, floating, floating_pair, ordering, promoting
from nestarray.numerics import division, powers

_BOOL = jnp.dtype(bool)


def _real_angle(x: Any) -> Any:
    """0 or π, 0 also for −0; jnp.angle returns float32 for half precision."""
    return jnp.angle(jnp.where(x == 0, 0, x)).astype(x.dtype)


ceil = jnp.ceil
conj = jnp.conj
floor = jnp.floor
imag = jnp.imag
negative = jnp.negative
positive = jnp.positive
real = jnp.real
square = traced(truth.kept(jnp.square, _BOOL))
trunc = jnp.trunc
angle = floating(_real_angle, jnp.angle)
reciprocal = floating(jnp.reciprocal)


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
    """A remainder whose zeros have the sign of x2; XLA would simplify the sum in `division` away."""
    zero = jnp.copysign(jnp.zeros_like(remainder), x2)
    return jnp.where(remainder == 0, zero, remainder)


@_with_sign.defjvp
def _with_sign_jvp(primals: Any, tangents: Any) -> Any:
    return _with_sign(*primals), tangents[0]


def _pow(x1: Any, x2: Any) -> Any:
    dtype = jnp.result_type(x1, x2)
    if not jnp.issubdtype(dtype, jnp.floating):
        x1, x2 = jnp.asarray(x1, dtype), jnp.asarray(x2, dtype)
    if jnp.issubdtype(dtype, jnp.inexact):
        return _inexact_pow(x1, x2)
    if jnp.issubdtype(dtype, jnp.unsignedinteger):
        return jnp.power(x1, x2)
    return powers.integer_power(jnp, jnp.power, x1, x2)


@jax.custom_jvp
def _inexact_pow(x1: Any, x2: Any) -> Any:
    """The power; JAX's derivative is NaN at x1 = 0 for an exponent that reaches 0."""
    if jnp.issubdtype(jnp.result_type(x1, x2), jnp.floating):
        return jnp.power(x1, x2)
    return powers.complex_power(xp, jnp.power, x1, x2)


def _inexact_pow_jvp(primals: Any, tangents: Any) -> Any:
    (x1, x2), (by_base, by_exponent) = primals, tangents
    y = _inexact_pow(x1, x2)
    t = jnp.zeros_like(y)
    if not isinstance(by_base, SymbolicZero):
        lower = _inexact_pow(x1, jnp.where(x2 == 0, 1, x2 - 1))
        t = t + by_base * x2 * jnp.where(x2 == 0, 0, lower)
    if not isinstance(by_exponent, SymbolicZero):
        is_flat = (x1 == 0) & (jnp.real(x2) >= 0)
        t = t + by_exponent * y * jnp.log(jnp.where(is_flat, 1, x1))
    return y, t


_inexact_pow.defjvp(_inexact_pow_jvp, symbolic_zeros=True)


def _fmax(x1: Any, x2: Any) -> Any:
    """The first of equal operands has the derivative 1; JAX's function takes the second."""
    return jnp.where((x1 >= x2) | jnp.isnan(x2), x1, x2)


def _fmin(x1: Any, x2: Any) -> Any:
    return jnp.where((x1 <= x2) | jnp.isnan(x2), x1, x2)


def _copysign(x1: Any, x2: Any) -> Any:
    """The derivative is 0 at x1 = 0, where JAX's is ±1."""
    return jnp.copysign(jnp.where(x1 == 0, jnp.zeros_like(x1), x1), x2)


def _nextafter(x1: Any, x2: Any) -> Any:
    refuse_integers(x2 if getattr(x1, "weak_type", True) else x1)  # a Python number is weak
    return jnp.nextafter(x1, x2)


add = promoting(jnp.add)
subtract = promoting(jnp.subtract)
multiply = promoting(jnp.multiply)
floor_divide = promoting(_floor_divide, declined=_BOOL)
remainder = promoting(_remainder, declined=_BOOL)
fmod = promoting(jnp.fmod, declined=_BOOL)
pow = promoting(_pow, declined=_BOOL)
maximum = ordering(jnp.maximum)
minimum = ordering(jnp.minimum)
fmax = ordering(_fmax)
fmin = ordering(_fmin)
nextafter = promoting(_nextafter)
divide = promoting(floating_pair(jnp.divide), floats=True)
copysign = promoting(floating_pair(_copysign), floats=True)


@jax.jit
def abs(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.abs.html"""
    return _real_abs(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.abs(x)


@jax.custom_jvp
def _real_abs(x: Any) -> Any:
    """The derivative at 0 is 0; JAX's is 1."""
    return jnp.abs(x)


@_real_abs.defjvp
def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    return _real_abs(*primals), tangents[0] * jnp.sign(*primals)


@jax.jit
def sign(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.sign.html

    −0 has the sign 0: https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sign.html
    Of complex numbers, JAX's function has derivative 0.
    """
    if jnp.iscomplexobj(x):
        nonzero = jnp.where(x == 0, jnp.ones_like(x), x)
        return jnp.where(x == 0, jnp.zeros_like(x), nonzero / jnp.abs(nonzero))
    return jnp.where(x == 0, jnp.zeros_like(x), jnp.sign(x))


@supports(have_one_dtype)
@jax.jit
def lerp(start: Any, end: Any, weight: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.multiply.html"""
    return start + weight * (end - start)


@supports(lambda *_, decimals=0: decimals == 0)
@compiled
def round(x: Any, /, *, decimals: int = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.round.html"""
    return jnp.round(x)


@compiled_for_any("nan", "posinf", "neginf")
def nan_to_num(
    x: Any, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nan_to_num.html"""
    return jnp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@supports(lambda x, *_, **__: x.dtype.kind not in "iu")
@compiled
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.clip.html

    Uses `where`: ``jnp.maximum`` has the derivative 1/2 for equal operands.
    """
    dtype = clip_dtype(x, min, max)
    x = cast(x, dtype)
    if min is not None:
        low = cast(min, dtype)
        x = jnp.where((x < low) | jnp.isnan(low), low, x)
    if max is not None:
        high = cast(max, dtype)
        x = jnp.where((x > high) | jnp.isnan(high), high, x)
    return x
