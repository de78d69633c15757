"""TensorFlow: `nestarray.ops.random`. At once and on the host, NumPy computes, in blocks of the cache.

Operations of TensorFlow go over whole arrays of memory one by one, which takes several times as
long; in graphs, on other devices and where derivatives are taken they are what runs.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.backends.base import supports
from nestarray.backends.numpy import random as in_numpy
from nestarray.numerics import threefry

try:  # what is watched has no public name; without, the operations of TensorFlow run
    from tensorflow.python.eager import forwardprop_util, record
except ImportError:  # pragma: no cover
    forwardprop_util = record = None

_EAGER = tf.__internal__.EagerTensor  # type(tf.zeros(())) is another while a graph is made


def _is_plain(x: Any) -> bool:
    """Whether `x` has numbers in the memory of the host, and what is made of it is in no graph."""
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
    if record is None or forwardprop_util is None or u.dtype not in _QUICK or not _is_plain(u):
        return False
    is_watched = record.should_record_backprop([u]) or forwardprop_util.pack_tangents([u]).tangents
    return not is_watched


@supports(_has_no_derivative)
def normal_quantile(u: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor"""
    return _given(u, in_numpy.normal_quantile(u.numpy()))
