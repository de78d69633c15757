"""TensorFlow: `nestarray.ops.elementwise`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from nestarray.backends import division
from nestarray.backends.base import promoting, refuse_complex, refuse_integers, supports
from nestarray.backends.tensorflow.core import native_dtype


def _cast(x: Any, dtype: Any) -> Any:
    # tf.cast would make a Python number float32 first, and lose half of its digits.
    native = native_dtype(dtype)
    if x.__class__ in (int, float, complex):
        return tf.constant(np.asarray(x, native.as_numpy_dtype))
    return tf.cast(x, native)


def _truth(x: Any) -> Any:
    """Whether elements are not 0; ``tf.cast`` would look at the real part of complex ones only."""
    x = tf.convert_to_tensor(x)
    return tf.not_equal(x, 0) if x.dtype.is_complex else tf.cast(x, tf.bool)


def _is_integer(x: Any) -> bool:
    return x.dtype.is_integer or x.dtype.is_bool


def _on_integers(native: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, or `other` for the integers that it does not take.

    Native functions refuse integers before they compute, eagerly and in graphs alike, so
    that floating arguments pay nothing; reading a dtype alone costs a third of a microsecond.
    """

    def call(x: Any, /) -> Any:
        try:
            return native(x)
        except _REFUSED:
            if not _is_integer(x):
                raise
        return other(x)

    return call


def _pair_on_integers(native: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """As `_on_integers`, for two operands of one dtype."""

    def call(x1: Any, x2: Any, /) -> Any:
        try:
            return native(x1, x2)
        except _REFUSED:
            if not _is_integer(x1):
                raise
        return other(x1, x2)

    return call


_REFUSED = (TypeError, ValueError, tf.errors.InvalidArgumentError)


def _floating(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, with integers as float32."""
    return _on_integers(native, lambda x: native(tf.cast(x, tf.float32)))


def _floating_pair(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` on two operands, with integers as float32."""

    def call(x1: Any, x2: Any, /) -> Any:
        if _is_integer(x1 if hasattr(x1, "dtype") else x2):
            x1, x2 = tf.cast(x1, tf.float32), tf.cast(x2, tf.float32)
        return native(x1, x2)

    return call


def _number_first(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, with a Python number in front as weak as one behind; it would be float32."""

    def call(x1: Any, x2: Any, /) -> Any:
        if x1.__class__ in (float, int, bool, complex):
            x1 = tf.constant(x1, x2.dtype)
        return native(x1, x2)

    return call


def _negative_unsigned(x: Any) -> Any:
    return tf.bitcast(tf.math.negative(_as_signed_bits(x)), x.dtype)


def _trunc(x: Any) -> Any:
    return tf.where(x < 0, tf.math.ceil(x), tf.math.floor(x))


def _as_signed_bits(x: Any) -> Any:
    return tf.bitcast(x, {1: tf.int8, 2: tf.int16, 4: tf.int32, 8: tf.int64}[x.dtype.size])


def _copysign(x1: Any, x2: Any) -> Any:
    refuse_complex(x1)
    # == would give False for shapes that do not broadcast
    negative_too = tf.equal(_as_signed_bits(x1) < 0, _as_signed_bits(x2) < 0)
    return tf.where(negative_too, x1, -x1)


def _nextafter(x1: Any, x2: Any) -> Any:
    refuse_integers(x1)
    if x1.dtype in (tf.float32, tf.float64):
        return tf.math.nextafter(x1, x2)
    bits = _as_signed_bits(x1)
    # Of one sign the bit patterns are in the order of the numbers; from 0 the step leaves 0.
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
    magnitude = tf.math.floormod(tf.abs(x1), tf.abs(x2))
    return tf.where(x1 < 0, -magnitude, magnitude)


@tf.custom_gradient
def _truncated(x1: Any, x2: Any) -> Any:
    """The remainder of truncated division, which has no gradient of its own."""
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
    """``tf.math.floormod``, with the sign of x2 also where it is 0."""
    found = tf.math.floormod(x1, x2)
    if not found.dtype.is_floating:
        return found
    return division.with_sign_of_divisor(tf, found, x2)


def _pow(x1: Any, x2: Any) -> Any:
    if not (x1.dtype if hasattr(x1, "dtype") else x2.dtype).is_unsigned:
        return tf.math.pow(x1, x2)
    dtype = x1.dtype if hasattr(x1, "dtype") else x2.dtype  # no kernel; the bits are those of int64
    return tf.cast(tf.math.pow(tf.cast(x1, tf.int64), tf.cast(x2, tf.int64)), dtype)


abs = _on_integers(tf.math.abs, tf.identity)  # unsigned integers
negative = _on_integers(tf.math.negative, _negative_unsigned)
positive = tf.identity
square = tf.math.square
sign = _on_integers(tf.math.sign, lambda x: tf.cast(x != 0, x.dtype))
reciprocal = _floating(lambda x: 1.0 / x)
ceil = _on_integers(tf.math.ceil, tf.identity)
floor = _on_integers(tf.math.floor, tf.identity)
trunc = _on_integers(_trunc, tf.identity)
real = tf.math.real
imag = tf.math.imag
conj = tf.math.conj
angle = _floating(tf.math.angle)


def _promoting(native: Callable[..., Any]) -> Callable[..., Any]:
    """`promoting`; in graphs a number in front would settle the dtype."""
    return promoting(native, _cast, reflected=_number_first(native))


add = _promoting(tf.math.add)
subtract = _promoting(tf.math.subtract)
multiply = _promoting(tf.math.multiply)
divide = promoting(_floating_pair(_number_first(tf.math.truediv)), _cast)
floor_divide = _promoting(tf.math.floordiv)
remainder = promoting(_remainder, _cast, scalar_ok=False)
fmod = promoting(_fmod, _cast, scalar_ok=False)
pow = _promoting(_pow)
maximum = _promoting(tf.math.maximum)
minimum = _promoting(tf.math.minimum)
copysign = promoting(_floating_pair(_copysign), _cast, scalar_ok=False)
nextafter = promoting(_nextafter, _cast, scalar_ok=False)


@supports(lambda x, decimals=0: decimals == 0)
def round(x: Any, /, *, decimals: int = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/round"""
    if x.dtype.is_complex:  # no kernel
        return tf.complex(tf.math.round(tf.math.real(x)), tf.math.round(tf.math.imag(x)))
    return tf.math.round(x)
