"""TensorFlow: its own generator, for keys of four words.

https://www.tensorflow.org/api_docs/python/tf/random#functions
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends import xp
from nestarray.backends.tensorflow.core import native_dtype
from nestarray.numerics import rejection


def _seed(key: Any) -> Any:
    return tf.bitcast(key[:2] ^ key[2:][::-1], tf.int32)


def bits(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/random/stateless_uniform"""
    word = tf.uint64 if dtype.bits == 64 else tf.uint32
    drawn = tf.random.stateless_uniform(shape, _seed(key), minval=None, maxval=None, dtype=word)
    return tf.cast(drawn, native_dtype(dtype))


def uniform(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/random/stateless_uniform"""
    return tf.random.stateless_uniform(shape, _seed(key), dtype=native_dtype(dtype))


def normal(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/random/stateless_normal"""
    return tf.random.stateless_normal(shape, _seed(key), dtype=native_dtype(dtype))


def gamma(key: Any, a: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/random/stateless_gamma"""
    wide = tf.float64 if a.dtype == tf.float64 else tf.float32
    drawn = tf.random.stateless_gamma(a.shape, _seed(key), tf.cast(a, wide), dtype=wide)
    return tf.cast(drawn, a.dtype)


def poisson(key: Any, lam: Any, dtype: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/random/stateless_poisson"""
    is_rate = lam >= 0
    rate = tf.where(is_rate, lam, 0.0)
    drawn = tf.random.stateless_poisson(lam.shape, _seed(key), rate, dtype=tf.float64)
    return rejection.as_counts(xp, tf.where(is_rate, drawn, -1.0), dtype)


def integers(key: Any, low: int, high: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/random/stateless_uniform"""
    drawn = tf.random.stateless_uniform(shape, _seed(key), low, high, dtype=tf.int64)
    return tf.cast(drawn, native_dtype(dtype))


def order(key: Any, size: int) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/random/experimental/stateless_shuffle"""
    return tf.random.experimental.stateless_shuffle(tf.range(size, dtype=tf.int64), _seed(key))
