"""TensorFlow: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow import core
from nestarray.backends.tensorflow.core import native_dtype
from nestarray.backends.tensorflow.promotion import truth


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/cast"""
    native = native_dtype(dtype)
    cast = truth(x) if native is tf.bool else tf.cast(x, native)
    return cast if device is None else core.to_device(cast, device)


def stop_gradient(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/stop_gradient"""
    return tf.stop_gradient(x)
