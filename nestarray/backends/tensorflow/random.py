"""TensorFlow: `nestarray.ops.random`. NumPy computes eager tensors on the host.

NumPy works in blocks that fit in the cache and is several times as fast. TensorFlow's operations
run in graphs, on other devices and under derivatives.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.backends.base import supports
from nestarray.backends.numpy import random as in_numpy
from nestarray.backends.tensorflow.core import is_watched
from nestarray.numerics import threefry

_EAGER = tf.__internal__.EagerTensor  # type(tf.zeros(())) is another while a graph is made


def _is_plain(x: Any) -> bool:
    """Whether `x` is an eager tensor on the host."""
    return type(x) is _EAGER and tf.executing_eagerly() and "CPU" in x.device


def _given(x: Any, found: Any) -> Any:
    with tf.device(x.device):
        return tf.convert_to_tensor(found)


def _is_unsigned(key: Any, *, shape: Any, dtype: Any = "uint32") -> bool:
    return _is_plain(key) and dtypes.as_dtype(dtype).kind == "uint"


def _is_float32_or_64(key: Any, *, shape: Any, dtype: Any = "float32") -> bool:
    return _is_plain(key) and dtypes.as_dtype(dtype) in (dtypes.float32, dtypes.float64)


@supports(_is_unsigned)
def random_bits(key: Any, *, shape: Any, dtype: Any = "uint32") -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor"""
    threefry.check_key(key)
    return _given(key, in_numpy.random_bits(key.numpy(), shape=shape, dtype=dtype))


@supports(_is_float32_or_64)
def random_uniform(key: Any, *, shape: Any, dtype: Any = "float32") -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor"""
    threefry.check_key(key)
    return _given(key, in_numpy.random_uniform(key.numpy(), shape=shape, dtype=dtype))


_QUICK = (tf.float32, tf.float64)


def _has_no_derivative(u: Any) -> bool:
    return u.dtype in _QUICK and _is_plain(u) and not is_watched(u)


@supports(_has_no_derivative)
def normal_quantile(u: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor"""
    return _given(u, in_numpy.normal_quantile(u.numpy()))
