"""TensorFlow: `nestarray.ops.representation`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.promotion import promoting


def _gcd(x1: Any, x2: Any) -> Any:
    """Euclid's algorithm until all remainders are 0."""
    if not x1.dtype.is_integer:
        raise TypeError(f"gcd does not accept dtype {x1.dtype}")
    if x1.dtype.is_integer and not x1.dtype.is_unsigned:
        x1, x2 = tf.abs(x1), tf.abs(x2)
    shape = tf.broadcast_dynamic_shape(tf.shape(x1), tf.shape(x2))

    def step(a: Any, b: Any) -> tuple[Any, Any]:
        more = b > 0
        rest = tf.math.floormod(a, tf.where(more, b, tf.ones_like(b)))
        return tf.where(more, b, a), tf.where(more, rest, tf.zeros_like(b))

    pair = tf.broadcast_to(x1, shape), tf.broadcast_to(x2, shape)
    return tf.while_loop(lambda a, b: tf.reduce_any(b > 0), step, pair)[0]


gcd = promoting(_gcd, scalar_ok=False)
