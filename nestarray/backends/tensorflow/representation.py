"""TensorFlow: `nestarray.ops.representation`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.promotion import promoting


def _gcd(x1: Any, x2: Any) -> Any:
    """Euclid's algorithm until all remainders are 0."""
    if not x1.dtype.is_integer:
        raise TypeError(f"gcd does not accept dtype {x1.dtype}")
    dtype = x1.dtype
    if not dtype.is_unsigned:  # the smallest number has an absolute value as an unsigned one
        unsigned = tf.as_dtype(f"u{dtype.name}")
        x1, x2 = tf.bitcast(tf.abs(x1), unsigned), tf.bitcast(tf.abs(x2), unsigned)
    shape = tf.broadcast_dynamic_shape(tf.shape(x1), tf.shape(x2))

    def step(a: Any, b: Any) -> tuple[Any, Any]:
        more = b > 0
        rest = tf.math.floormod(a, tf.where(more, b, tf.ones_like(b)))
        return tf.where(more, b, a), tf.where(more, rest, tf.zeros_like(b))

    pair = tf.broadcast_to(x1, shape), tf.broadcast_to(x2, shape)
    return tf.bitcast(tf.while_loop(lambda a, b: tf.reduce_any(b > 0), step, pair)[0], dtype)


gcd = promoting(_gcd, scalar_ok=False)
