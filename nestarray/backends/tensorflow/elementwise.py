"""TensorFlow: `nestarray.ops.elementwise`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.base import promoting
from nestarray.backends.tensorflow.core import native_dtype


def _cast(x: Any, dtype: Any) -> Any:
    return tf.cast(x, native_dtype(dtype))


abs = tf.abs
exp = tf.exp
negative = tf.negative
positive = tf.identity
bitwise_invert = tf.bitwise.invert

add = promoting(tf.add, _cast)
subtract = promoting(tf.subtract, _cast)
multiply = promoting(tf.multiply, _cast)
divide = promoting(tf.truediv, _cast)
floor_divide = promoting(tf.math.floordiv, _cast)
remainder = promoting(tf.math.floormod, _cast)
pow = promoting(tf.pow, _cast)
bitwise_and = promoting(tf.bitwise.bitwise_and, _cast)
bitwise_or = promoting(tf.bitwise.bitwise_or, _cast)
bitwise_xor = promoting(tf.bitwise.bitwise_xor, _cast)
bitwise_left_shift = promoting(tf.bitwise.left_shift, _cast)
bitwise_right_shift = promoting(tf.bitwise.right_shift, _cast)
equal = promoting(tf.equal, _cast)
not_equal = promoting(tf.not_equal, _cast)
less = promoting(tf.less, _cast)
less_equal = promoting(tf.less_equal, _cast)
greater = promoting(tf.greater, _cast)
greater_equal = promoting(tf.greater_equal, _cast)
