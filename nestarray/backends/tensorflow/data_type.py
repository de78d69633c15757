"""TensorFlow: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends import portable
from nestarray.backends.checks.shapes import check_bitcast
from nestarray.backends.tensorflow import complex_parts, core
from nestarray.backends.tensorflow.core import native_dtype
from nestarray.backends.tensorflow.promotion import truth


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/cast"""
    native = native_dtype(dtype)
    if native.is_complex and portable.are_wanted():
        return complex_parts.of(tf.cast(x, native.real_dtype))
    cast = truth(x) if native is tf.bool else tf.cast(x, native)
    return cast if device is None else core.to_device(cast, device)


def bitcast(x: Any, dtype: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/bitcast"""
    check_bitcast(x, dtype)
    native = native_dtype(dtype)
    x = tf.stop_gradient(x)
    if native.size == x.dtype.size:
        return tf.bitcast(x, native)
    shape = tf.shape(x)
    if native.size < x.dtype.size:
        last = shape[-1:] * (x.dtype.size // native.size)
        return tf.reshape(tf.bitcast(x, native), tf.concat([shape[:-1], last], 0))
    ratio = native.size // x.dtype.size
    pairs = tf.reshape(x, tf.concat([shape[:-1], shape[-1:] // ratio, [ratio]], 0))
    return tf.bitcast(pairs, native)


def stop_gradient(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/stop_gradient"""
    return tf.stop_gradient(x)
