"""TensorFlow: `nestarray.ops.bessel`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.derivatives import custom_gradient
from nestarray.backends.tensorflow.special import _in_float32


def _linear_at_zero(function: Any) -> Any:
    """i1 and i1e, which are x/2 at 0; TensorFlow's first or second derivative there is wrong."""

    def call(x: Any) -> Any:
        is_zero = tf.equal(x, 0)
        return tf.where(is_zero, x / 2, function(tf.where(is_zero, tf.ones_like(x), x)))

    return call


_i1 = _linear_at_zero(tf.math.bessel_i1)


@custom_gradient
def _i0(x: Any) -> Any:
    return tf.math.bessel_i0(x), lambda g: g * _i1(x)


i0 = _in_float32(_i0)
i0e = _in_float32(tf.math.bessel_i0e)
i1 = _in_float32(_i1)
i1e = _in_float32(_linear_at_zero(tf.math.bessel_i1e))
