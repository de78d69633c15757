"""TensorFlow: `nestarray.ops.activations`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.base import supports

#: The derivative of `selu` at 0 from the left.
_SELU_SLOPE = 1.7580993408473766

relu = tf.nn.relu
relu6 = tf.nn.relu6
silu = tf.nn.silu
sigmoid = tf.sigmoid
log_sigmoid = tf.math.log_sigmoid


# The kernel has the slope as a float32 attribute.
@supports(lambda x, *, negative_slope=0.01: x.dtype != tf.float64)
def leaky_relu(x: Any, /, *, negative_slope: float = 0.01) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/leaky_relu"""
    return tf.nn.leaky_relu(x, negative_slope)


# It subtracts 1 from eˣ, which loses most digits of half precision.
@supports(lambda x: x.dtype.size > 2)
def selu(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/selu

    At 0 TensorFlow's function has the derivative from the right.
    """
    return tf.where(x == 0, x * _SELU_SLOPE, tf.nn.selu(x))


@supports(lambda x, *, alpha=1.0: alpha == 1.0 and x.dtype.size > 2)
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
    if x.dtype.size == 2:  # the kernel rounds each step
        return tf.cast(softmax(tf.cast(x, tf.float32), axis=axis), x.dtype)
    # the kernel of oneDNN returns 0 for the finite numbers of a row with NaN or +∞, instead of NaN
    greatest = tf.reduce_max(x, axis, keepdims=True)
    return tf.nn.softmax(x, axis) + tf.stop_gradient(greatest - greatest)


@supports(lambda x, *, axis=-1: isinstance(axis, int))
def log_softmax(x: Any, /, *, axis: Any = -1) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/log_softmax"""
    return tf.nn.log_softmax(x, axis)
