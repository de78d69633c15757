"""TensorFlow: `nestarray.ops.elementwise`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.base import refuse_complex, refuse_integers, supports
from nestarray.backends.tensorflow.promotion import floating, floating_pair, on_integers, promoting
from nestarray.numerics import division


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
    magnitude = tf.math.floormod(tf.abs(x1), tf.abs(x2))
    return tf.where(x1 < 0, -magnitude, magnitude)


@tf.custom_gradient
def _truncated(x1: Any, x2: Any) -> Any:
    """The remainder of truncated division; TensorFlow's has no gradient."""
    found = tf.raw_ops.TruncateMod(x=x1, y=x2)

    def gradient(upstream: Any) -> tuple[Any, Any]:
        shapes = tf.shape(x1), tf.shape(x2)
        axes = tf.raw_ops.BroadcastGradientArgs(s0=shapes[0], s1=shapes[1])
        by_divisor = upstream * tf.stop_gradient((found - x1) / x2)
        return (
            tf.reshape(tf.reduce_sum(upstream, axes[0]), shapes[0]),
            tf.reshape(tf.reduce_sum(by_divisor, axes[1]), shapes[1]),
        )

    return found, gradient


def _remainder(x1: Any, x2: Any) -> Any:
    """``tf.math.floormod`` whose zeros have the sign of x2."""
    found = tf.math.floormod(x1, x2)
    if not found.dtype.is_floating:
        return found
    return division.with_sign_of_divisor(tf, found, x2)


def _pow(x1: Any, x2: Any) -> Any:
    if not (x1.dtype if hasattr(x1, "dtype") else x2.dtype).is_unsigned:
        return tf.math.pow(x1, x2)
    dtype = x1.dtype if hasattr(x1, "dtype") else x2.dtype  # no kernel; int64 has the same bits
    return tf.cast(tf.math.pow(tf.cast(x1, tf.int64), tf.cast(x2, tf.int64)), dtype)


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
divide = promoting(floating_pair(tf.math.truediv))
floor_divide = promoting(tf.math.floordiv)
remainder = promoting(_remainder, scalar_ok=False)
fmod = promoting(_fmod, scalar_ok=False)
pow = promoting(_pow)
maximum = promoting(tf.math.maximum)
minimum = promoting(tf.math.minimum)
copysign = promoting(floating_pair(_copysign), scalar_ok=False)
nextafter = promoting(_nextafter, scalar_ok=False)


@supports(lambda x, decimals=0: decimals == 0)
def round(x: Any, /, *, decimals: int = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/round"""
    if x.dtype.is_complex:  # no kernel
        return tf.complex(tf.math.round(tf.math.real(x)), tf.math.round(tf.math.imag(x)))
    return tf.math.round(x)
