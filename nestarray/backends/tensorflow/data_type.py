"""TensorFlow: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.core import native_dtype


def astype(x: Any, dtype: Any, *, copy: bool = True) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/cast"""
    return tf.cast(x, native_dtype(dtype))


def stop_gradient(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/stop_gradient"""
    return tf.stop_gradient(x)
