"""TensorFlow: `nestarray.ops.rejection` as graph loops."""

from __future__ import annotations

from functools import partial
from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.backends import xp
from nestarray.backends.tensorflow.derivatives import with_derivative_of
from nestarray.numerics import rejection, threefry
from nestarray.numerics.reparametrization import differentiable_gamma


def random_gamma(key: Any, a: Any, *, log_space: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    threefry.check_key(key)
    threefry.check_uniform_dtype("random_gamma", dtypes.dtype_of(a))
    fixed = tf.stop_gradient(a)
    flat = tf.reshape(fixed, (-1,))
    keys = tf.transpose(xp.random_split(key, num=xp.shape(flat)[0]))
    words = rejection.Words(_hash, partial(threefry.unit, xp), dtypes.float64)
    rounds = partial(_rounds, words)
    drawn = tf.reshape(rejection.gamma(xp, words, keys, flat, log_space, rounds), xp.shape(a))

    def smooth(a: Any) -> Any:
        return differentiable_gamma(xp, a, drawn, log_space)

    return with_derivative_of(smooth, lambda a: tf.identity(drawn))(a)


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
