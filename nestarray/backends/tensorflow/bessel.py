"""TensorFlow: `nestarray.ops.bessel`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.special import _in_float32

i0 = _in_float32(tf.math.bessel_i0)
i0e = _in_float32(tf.math.bessel_i0e)


def _i1(x: Any) -> Any:
    # TensorFlow's derivative at 0 is 1 instead of 1/2
    is_zero = tf.equal(x, 0)
    return tf.where(is_zero, x / 2, tf.math.bessel_i1(tf.where(is_zero, tf.ones_like(x), x)))


i1 = _in_float32(_i1)
i1e = _in_float32(tf.math.bessel_i1e)
