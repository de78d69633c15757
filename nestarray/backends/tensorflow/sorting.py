"""TensorFlow: `nestarray.ops.sorting`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.indexing import take_along_axis


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/sort"""
    if x.dtype.is_floating or x.dtype == tf.bool:
        return take_along_axis(x, argsort(x, axis=axis, descending=descending), axis=axis)
    return tf.sort(x, axis, "DESCENDING" if descending else "ASCENDING")


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/argsort"""
    direction = "DESCENDING" if descending else "ASCENDING"
    x = tf.stop_gradient(x)  # TensorFlow's derivative of top_k fails for empty arrays
    return tf.cast(tf.argsort(comparable(x), axis, direction, stable=True), tf.int64)


_SIGNED = {2: tf.int16, 4: tf.int32, 8: tf.int64}


def comparable(x: Any) -> Any:
    """Integers in the order of `x`: NaN is largest, and −0 equals 0.

    TensorFlow's own order is undefined for NaN.
    """
    if x.dtype == tf.bool:
        return tf.cast(x, tf.int8)
    if not x.dtype.is_floating:
        return x
    signed = _SIGNED[x.dtype.size]
    bits = tf.bitcast(x, signed)
    keys = tf.where(bits < 0, signed.min - bits, bits)
    return tf.where(tf.math.is_nan(x), tf.constant(signed.max, signed), keys)
