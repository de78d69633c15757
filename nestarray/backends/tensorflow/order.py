"""Floats as integers of the same order: TensorFlow's own order is undefined for NaN."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_SIGNED = {2: tf.int16, 4: tf.int32, 8: tf.int64}


def comparable(x: Any) -> Any:
    """Integers in the order of `x`: NaN is largest, and −0 equals 0."""
    if x.dtype == tf.bool:
        return tf.cast(x, tf.int8)
    if not x.dtype.is_floating:
        return x
    signed = _SIGNED[x.dtype.size]
    bits = tf.bitcast(x, signed)
    keys = tf.where(bits < 0, signed.min - bits, bits)
    return tf.where(tf.math.is_nan(x), tf.constant(signed.max, signed), keys)
