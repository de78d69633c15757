"""TensorFlow: `nestarray.ops.sorting`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.indexing import take_along_axis
from nestarray.backends.tensorflow.order import comparable


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
