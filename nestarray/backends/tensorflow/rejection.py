"""TensorFlow: `nestarray.ops.rejection`, in loops that can stand in a graph."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.numerics import binomial, rejection, threefry


def random_gamma(key: Any, a: Any, *, log_space: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    threefry.check_key(key)
    threefry.check_uniform_dtype("random_gamma", dtypes.dtype_of(a))
    return _gamma(key, a, log_space)


def _gamma(key: Any, a: Any, log_space: bool) -> Any:
    """With the derivative by `a`: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RandomGammaGrad"""
    from nestarray import ops

    fixed = tf.stop_gradient(a)
    flat = tf.reshape(fixed, (-1,))
    keys = tf.transpose(ops.random_split(key, num=ops.shape(flat)[0]))
    words = rejection.Words(_hash, threefry.unit)
    rounds = lambda keys, d, c: _rounds(words, keys, d, c)  # noqa: E731
    drawn = tf.reshape(rejection.gamma(words, keys, flat, log_space, rounds), ops.shape(a))
    finite = tf.where(tf.math.is_finite(a), a, tf.zeros_like(a))  # ∞ − ∞ is no 0
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
    from nestarray import ops

    return ops.threefry2x32(keys, tf.zeros_like(counters), counters)


def _rounds(words: rejection.Words, keys: Any, d: Any, c: Any) -> Any:
    def is_more_needed(v: Any, is_done: Any, *states: Any) -> Any:
        return tf.reduce_any(~is_done)

    def one_more(v: Any, is_done: Any, *states: Any) -> tuple[Any, ...]:
        new, is_accepted, *states = rejection.gamma_round(words, *states, d, c)
        return tf.where(is_accepted & ~is_done, new, v), is_done | is_accepted, *states

    start = (tf.zeros_like(d), tf.zeros_like(d, dtype=tf.bool), *rejection.gamma_start(words, keys))
    return _while(is_more_needed, one_more, start)[0]


def _while(is_more_needed: Any, step: Any, states: tuple[Any, ...]) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    return tf.while_loop(is_more_needed, step, states)


def random_poisson(key: Any, lam: Any, *, dtype: Any = "int32") -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    wanted = threefry.check_rates(key, lam, dtype)
    return rejection.as_counts(rejection.poisson(key, lam, _while), wanted)


def random_binomial(key: Any, n: Any, p: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    threefry.check_trials(key, n, p)
    return binomial.binomial(key, tf.stop_gradient(n), tf.stop_gradient(p), _while)
