"""TensorFlow: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow import core
from nestarray.backends.tensorflow.core import native_dtype


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/cast"""
    cast = tf.cast(x, native_dtype(dtype))
    return cast if device is None else core.to_device(cast, device)


def stop_gradient(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/stop_gradient"""
    return tf.stop_gradient(x)
