"""TensorFlow: `nestarray.ops.activations`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.base import supports

relu = tf.nn.relu
relu6 = tf.nn.relu6
selu = tf.nn.selu
silu = tf.nn.silu
sigmoid = tf.sigmoid
log_sigmoid = tf.math.log_sigmoid


# The kernel has the slope as a float32 attribute.
@supports(lambda x, *, negative_slope=0.01: x.dtype != tf.float64)
def leaky_relu(x: Any, /, *, negative_slope: float = 0.01) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/leaky_relu"""
    return tf.nn.leaky_relu(x, negative_slope)


@supports(lambda x, *, alpha=1.0: alpha == 1.0)
def elu(x: Any, /, *, alpha: float = 1.0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/elu"""
    return tf.nn.elu(x)


# The constants of the formulas are rounded to float32.
@supports(lambda x, *, approximate=False: x.dtype != tf.float64)
def gelu(x: Any, /, *, approximate: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/gelu"""
    return tf.nn.gelu(x, approximate)


def softplus(x: Any, /, *, beta: float = 1.0, threshold: float | None = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/softplus"""
    if beta == 1.0 and threshold is None:
        return tf.math.softplus(x)
    scaled = x * beta
    smooth = tf.math.softplus(scaled) / beta
    return smooth if threshold is None else tf.where(scaled > threshold, x, smooth)


@supports(lambda x, *, axis=-1: isinstance(axis, int))
def softmax(x: Any, /, *, axis: Any = -1) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/softmax"""
    return tf.nn.softmax(x, axis)


@supports(lambda x, *, axis=-1: isinstance(axis, int))
def log_softmax(x: Any, /, *, axis: Any = -1) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/log_softmax"""
    return tf.nn.log_softmax(x, axis)
