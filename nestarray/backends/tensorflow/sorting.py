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
    if x.dtype == tf.bool:
        x = tf.cast(x, tf.int8)
    if not x.dtype.is_floating:
        return tf.cast(tf.argsort(x, axis, direction, stable=True), tf.int64)
    # TensorFlow's order is undefined for NaN: sort NaN like ∞, then move it to the end.
    is_nan = tf.math.is_nan(x)
    level = tf.where(is_nan, tf.constant(float("inf"), x.dtype), x)
    order = tf.argsort(level, axis, direction, stable=True)
    ordered = take_along_axis(tf.cast(is_nan, tf.int8), order, axis=axis)
    last = tf.argsort(ordered, axis, direction, stable=True)
    return tf.cast(take_along_axis(order, last, axis=axis), tf.int64)
