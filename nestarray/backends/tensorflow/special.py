"""TensorFlow: `nestarray.ops.special`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray.backends import portable
from nestarray.backends.base import refuse_complex, supports
from nestarray.backends.tensorflow.derivatives import custom_gradient


def _in_float32(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` with half precision and integers computed in float32."""

    def call(x: Any, /) -> Any:
        dtype = x.dtype
        if dtype.size > 2 and dtype.is_floating:
            return native(x)
        refuse_complex(x)
        result = native(tf.cast(x, tf.float32))
        return tf.cast(result, dtype) if dtype.is_floating else result

    return call


def _erf(x: Any) -> Any:
    if portable.are_wanted():
        return portable.erf(x)
    # In float64 TensorFlow's erf(±∞) is NaN; for |x| > 6 erf is ±1.
    return tf.math.erf(tf.clip_by_value(x, -30.0, 30.0) if x.dtype is tf.float64 else x)


erf = _in_float32(_erf)
erfc = _in_float32(lambda x: 1.0 - portable.erf(x) if portable.are_wanted() else tf.math.erfc(x))


@supports(lambda x: portable.are_wanted())
def erfinv(x: Any, /) -> Any:
    """By operators of TFLite."""
    return portable.erfinv(x)


lgamma = _in_float32(tf.math.lgamma)


@custom_gradient
def _digamma(x: Any) -> Any:
    value = tf.where(tf.equal(x, 0), -1.0 / x, tf.math.digamma(x))  # TensorFlow returns NaN at 0
    return value, lambda g: g * _trigamma(x)


def _trigamma(x: Any) -> Any:
    """By reflection below 0, where ``tf.math.polygamma`` is wrong."""
    is_negative = x < 0
    above = tf.math.polygamma(tf.ones_like(x), tf.where(is_negative, 1 - x, x))
    slope = math.pi / tf.sin(math.pi * tf.where(is_negative, x, tf.constant(0.5, x.dtype)))
    return tf.where(is_negative, slope * slope - above, above)


digamma = _in_float32(_digamma)

ndtri = _in_float32(tf.math.ndtri)


@custom_gradient
def _entr(x: Any) -> Any:
    value = -tf.math.xlogy(x, tf.maximum(x, tf.zeros_like(x)))
    value = tf.where(x < 0, tf.constant(-math.inf, x.dtype), value)
    return value, lambda g: g * -(1 + tf.math.log(x))


entr = _in_float32(_entr)
