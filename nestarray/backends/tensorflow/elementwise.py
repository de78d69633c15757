"""TensorFlow: `nestarray.ops.elementwise`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray.backends import xp
from nestarray.backends.base import (
    clip_dtype,
    have_one_dtype,
    refuse_complex,
    refuse_integers,
    supports,
)
from nestarray.backends.tensorflow.core import is_watched
from nestarray.backends.tensorflow.derivatives import custom_gradient, summed
from nestarray.backends.tensorflow.promotion import (
    cast,
    floating,
    floating_pair,
    on_integers,
    promoting,
)
from nestarray.numerics import division, powers
from nestarray.typing import NUMBERS


def _negative_unsigned(x: Any) -> Any:
    return tf.bitcast(tf.math.negative(_as_signed_bits(x)), x.dtype)


def _trunc(x: Any) -> Any:
    return tf.where(x < 0, tf.math.ceil(x), tf.math.floor(x))


def _as_signed_bits(x: Any) -> Any:
    return tf.bitcast(x, {1: tf.int8, 2: tf.int16, 4: tf.int32, 8: tf.int64}[x.dtype.size])


def _copysign(x1: Any, x2: Any) -> Any:
    refuse_complex(x1)
    # == returns False for incompatible shapes
    negative_too = tf.equal(_as_signed_bits(x1) < 0, _as_signed_bits(x2) < 0)
    x1 = tf.where(x1 == 0, tf.stop_gradient(x1), x1)  # the derivative is 0 at 0
    return tf.where(negative_too, x1, -x1)


def _nextafter(x1: Any, x2: Any) -> Any:
    refuse_integers(x1)
    if x1.dtype in (tf.float32, tf.float64):
        return tf.math.nextafter(x1, x2)
    bits = _as_signed_bits(x1)
    # Bit patterns of one sign are ordered like the numbers; 0 is a special case.
    away = tf.where((x2 > x1) == (bits >= 0), bits + 1, bits - 1)
    smallest = tf.where(x2 > 0, tf.ones_like(bits), tf.cast(-32767, bits.dtype))
    stepped = tf.bitcast(tf.where(x1 == 0, smallest, away), x1.dtype)
    unordered = tf.math.is_nan(x1) | tf.math.is_nan(x2)
    return tf.where(unordered, x1 + x2, tf.where(x1 == x2, x2, stepped))


def _fmod(x1: Any, x2: Any) -> Any:
    if x1.dtype.size < 4 and x1.dtype.is_floating:  # no kernel
        return tf.cast(_fmod(tf.cast(x1, tf.float32), tf.cast(x2, tf.float32)), x1.dtype)
    if x1.dtype.is_floating:
        return _truncated(x1, x2)
    if x1.dtype.is_unsigned:
        return tf.math.floormod(x1, x2)
    # −x1 and |x1| of the smallest integer overflow
    rest = tf.math.floormod(x1, tf.where(tf.equal(x2, -1), tf.ones_like(x2), x2))
    is_shifted = tf.not_equal(rest, 0) & ((x1 < 0) != (x2 < 0))
    return tf.where(is_shifted, rest - x2, rest)


@custom_gradient
def _truncated(x1: Any, x2: Any) -> Any:
    """The remainder of truncated division; TensorFlow's has no gradient."""
    found = tf.raw_ops.TruncateMod(x=x1, y=x2)

    def gradient(upstream: Any) -> tuple[Any, Any]:
        by_divisor = upstream * tf.stop_gradient((found - x1) / x2)
        return summed(upstream, by_divisor, x1, x2)

    return found, gradient


def _floor_divide(x1: Any, x2: Any) -> Any:
    found = tf.math.floordiv(x1, x2)
    if not found.dtype.is_floating:
        return found
    # the floor of the rounded quotient may be 1 too large; without the remainder it is exact
    exact = tf.math.round((x1 - tf.math.floormod(x1, x2)) / x2)
    is_plain = tf.math.is_finite(exact) & tf.math.is_finite(x2) & (x1 != 0)
    return tf.where(is_plain, exact, found)


def _remainder(x1: Any, x2: Any) -> Any:
    """``tf.math.floormod`` whose zeros have the sign of x2."""
    found = tf.math.floormod(x1, x2)
    if not found.dtype.is_floating:
        return found
    return division.with_sign_of_divisor(tf, found, x2)


def _pow(x1: Any, x2: Any) -> Any:
    dtype = x1.dtype
    is_number = isinstance(x2, NUMBERS)
    if dtype.is_integer:
        x2 = tf.constant(x2, dtype) if is_number else x2
        if dtype.is_unsigned:  # no kernel; int64 has the same bits
            return tf.cast(tf.math.pow(tf.cast(x1, tf.int64), tf.cast(x2, tf.int64)), dtype)
        return powers.integer_power(tf, tf.math.pow, x1, x2)
    if is_watched(x1) or (not is_number and is_watched(x2)):
        return _watched_pow(x1, tf.constant(x2, dtype) if is_number else x2)
    return _inexact_pow(x1, x2)


def _inexact_pow(x1: Any, x2: Any) -> Any:
    if x1.dtype.is_floating:
        return tf.math.pow(x1, x2)
    return powers.complex_power(xp, tf.math.pow, x1, tf.convert_to_tensor(x2, x1.dtype))


@custom_gradient
def _watched_pow(x1: Any, x2: Any) -> Any:
    """The power; TensorFlow's derivative is NaN at x1 = 0 for an exponent that reaches 0."""
    y = _inexact_pow(tf.stop_gradient(x1), tf.stop_gradient(x2))  # for accumulators

    def gradient(upstream: Any) -> tuple[Any, Any]:
        zero, one = tf.zeros_like(y), tf.ones_like(y)
        lower = _pow(x1, tf.where(x2 == 0, one, x2 - 1))
        by_base = x2 * tf.where(x2 == 0, zero, lower)
        is_flat = (x1 == 0) & (tf.math.real(x2) >= 0)
        if y.dtype.is_floating:  # no NaN for an exponent that has no derivative
            is_flat |= x1 < 0
        by_exponent = _pow(x1, x2) * tf.math.log(tf.where(is_flat, one, x1))
        return summed(
            upstream * tf.math.conj(by_base), upstream * tf.math.conj(by_exponent), x1, x2
        )

    return y, gradient


def _sharing(native: Callable[..., Any], precedes: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, where equal operands share the gradient; TensorFlow gives all to the first."""

    @custom_gradient
    def watched(x1: Any, x2: Any) -> Any:
        def gradient(upstream: Any) -> tuple[Any, Any]:
            shared = tf.where(tf.equal(x1, x2), upstream / 2, upstream)
            zero = tf.zeros_like(shared)
            by_first = tf.where(precedes(x2, x1), zero, shared)
            return summed(by_first, tf.where(precedes(x1, x2), zero, shared), x1, x2)

        return native(tf.stop_gradient(x1), tf.stop_gradient(x2)), gradient  # for accumulators

    def call(x1: Any, x2: Any) -> Any:
        is_number = isinstance(x2, NUMBERS)
        if x1.dtype.is_floating and (is_watched(x1) or (not is_number and is_watched(x2))):
            return watched(x1, tf.constant(x2, x1.dtype) if is_number else x2)
        return native(x1, x2)

    return call


def _angle(x: Any) -> Any:
    found = tf.math.angle(x)
    return found if x.dtype.is_complex else tf.where(tf.equal(x, x), found, x)  # tf.sign(NaN) is 0


abs = on_integers(tf.math.abs, tf.identity)  # unsigned integers
negative = on_integers(tf.math.negative, _negative_unsigned)
positive = tf.identity
square = tf.math.square
sign = on_integers(tf.math.sign, lambda x: tf.cast(x != 0, x.dtype))
reciprocal = floating(lambda x: 1.0 / x)
ceil = on_integers(tf.math.ceil, tf.identity)
floor = on_integers(tf.math.floor, tf.identity)
trunc = on_integers(_trunc, tf.identity)
real = tf.math.real
imag = tf.math.imag
conj = tf.math.conj
angle = floating(_angle)

add = promoting(tf.math.add)
subtract = promoting(tf.math.subtract)
multiply = promoting(tf.math.multiply)
divide = promoting(floating_pair(tf.math.truediv), floats=True)
floor_divide = promoting(_floor_divide)
remainder = promoting(_remainder, scalar_ok=False)
fmod = promoting(_fmod, scalar_ok=False)
pow = promoting(_pow)
maximum = promoting(_sharing(tf.math.maximum, tf.math.greater))
minimum = promoting(_sharing(tf.math.minimum, tf.math.less))
copysign = promoting(floating_pair(_copysign), scalar_ok=False, floats=True)
nextafter = promoting(_nextafter, scalar_ok=False)


@supports(have_one_dtype)
def lerp(start: Any, end: Any, weight: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/multiply"""
    return start + weight * (end - start)


@supports(lambda x, decimals=0: decimals == 0)
def round(x: Any, /, *, decimals: int = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/round"""
    if x.dtype.is_complex:  # no kernel
        return tf.complex(tf.math.round(tf.math.real(x)), tf.math.round(tf.math.imag(x)))
    return tf.math.round(x)


@supports(lambda x, *_, **__: x.dtype.is_floating)
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/maximum

    At a bound TensorFlow differentiates by the first operand, x.
    """
    dtype = clip_dtype(x, min, max)
    x = cast(x, dtype)
    if min is not None:
        x = tf.math.maximum(x, cast(min, dtype))
    return x if max is None else tf.math.minimum(x, cast(max, dtype))
