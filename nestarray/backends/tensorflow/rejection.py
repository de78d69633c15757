"""TensorFlow: `nestarray.ops.rejection` as graph loops."""

from __future__ import annotations

from functools import partial
from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.backends import xp
from nestarray.numerics import rejection, threefry


def random_gamma(key: Any, a: Any, *, log_space: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    threefry.check_key(key)
    threefry.check_uniform_dtype("random_gamma", dtypes.dtype_of(a))
    return _gamma(key, a, log_space)


def _gamma(key: Any, a: Any, log_space: bool) -> Any:
    """With the derivative by `a`: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RandomGammaGrad"""
    fixed = tf.stop_gradient(a)
    flat = tf.reshape(fixed, (-1,))
    keys = tf.transpose(xp.random_split(key, num=xp.shape(flat)[0]))
    words = rejection.Words(_hash, partial(threefry.unit, xp), dtypes.float64)
    rounds = partial(_rounds, words)
    drawn = tf.reshape(rejection.gamma(xp, words, keys, flat, log_space, rounds), xp.shape(a))
    finite = tf.where(tf.math.is_finite(a), a, tf.zeros_like(a))  # ∞ − ∞ is NaN
    zero = finite - tf.stop_gradient(finite)
    return drawn + zero * tf.stop_gradient(_slope(fixed, drawn, log_space))


def _slope(a: Any, drawn: Any, log_space: bool) -> Any:
    wide = tf.float64 if a.dtype == tf.float64 else tf.float32
    x = tf.cast(drawn, wide)
    smallest = 2.0**-1022 if wide == tf.float64 else 2.0**-126
    x = tf.maximum(tf.exp(x) if log_space else x, smallest)
    slope = tf.raw_ops.RandomGammaGrad(alpha=tf.cast(a, wide), sample=x)
    slope = tf.cast(slope / x if log_space else slope, a.dtype)
    return tf.where((a > 0) & (a < float("inf")), slope, tf.zeros_like(slope))


def _hash(keys: Any, counters: Any) -> tuple[Any, Any]:
    return xp.threefry2x32(keys, tf.zeros_like(counters), counters)


def _rounds(words: rejection.Words, keys: Any, d: Any, c: Any) -> Any:
    def is_more_needed(v: Any, is_done: Any, *states: Any) -> Any:
        return tf.reduce_any(~is_done)

    def one_more(v: Any, is_done: Any, *states: Any) -> tuple[Any, ...]:
        new, is_accepted, *states = rejection.gamma_round(xp, words, *states, d, c)
        return tf.where(is_accepted & ~is_done, new, v), is_done | is_accepted, *states

    start = (
        tf.zeros_like(d),
        tf.zeros_like(d, dtype=tf.bool),
        *rejection.gamma_start(xp, words, keys),
    )
    return tf.while_loop(is_more_needed, one_more, start)[0]
