"""Binomial numbers by inversion and by rejection, in rounds that each backend repeats in its loop.

All elements share a key a round, and a late round may change what an early one has found (as
in ``jax.random``); so rounds are of all elements, and as many as ``jax.random`` makes.
"""

from __future__ import annotations

from typing import Any

from nestarray import dtypes
from nestarray.numerics.rejection import Loop

#: What Stirling's formula leaves of log k!, for k from 0 to 9; a series serves beyond.
_STIRLING_REST = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)


def binomial(key: Any, n: Any, p: Any, loop: Loop) -> Any:
    """How many of `n` trials succeed, each with probability `p`; NaN where these make no sense.

    Fewer than ten expected successes are found by inversion, more by rejection; what is more
    probable than 1/2 is counted from the other end. Each has numbers of its own at the places of
    the other, so that its rounds end.
    """
    from nestarray import ops

    either = ops.logical_or
    is_low = ops.less(p, 0.5)
    q = ops.where(is_low, p, ops.subtract(1.0, p))
    is_wrong = either(ops.logical_not(ops.greater_equal(q, 0.0)), ops.logical_not(ops.isfinite(n)))
    is_wrong = either(is_wrong, ops.less(n, 0.0))
    n = ops.floor(ops.where(is_wrong, ops.zeros_like(n), n))
    q = ops.where(is_wrong, ops.full_like(q, 0.01), q)
    is_few = ops.less_equal(ops.multiply(n, q), 10.0)
    few = _by_inversion(key, ops.where(is_few, n, ops.zeros_like(n)), q, loop)
    large, half = ops.full_like(n, 1e4), ops.full_like(q, 0.5)
    many = _by_rejection(key, ops.where(is_few, large, n), ops.where(is_few, half, q), loop)
    counts = ops.where(is_few, few, many)
    counts = ops.where(is_low, counts, ops.subtract(n, counts))
    return ops.where(is_wrong, ops.full_like(counts, float("nan")), counts)


def _by_inversion(key: Any, n: Any, q: Any, loop: Loop) -> Any:
    """How many geometric numbers, the distances of successes, have a sum of at most `n`."""
    from nestarray import ops

    dtype = dtypes.dtype_of(q)
    never = ops.equal(q, 0.0)
    log_failure = ops.log1p(ops.negative(q))
    log_failure = ops.where(never, ops.full_like(q, -1e-30), log_failure)
    least = dtypes.finfo(dtype).smallest_normal  # instead of a 0, of whose logarithm NumPy warns

    def is_more_needed(key: Any, count: Any, total: Any) -> Any:
        return ops.any(ops.less_equal(total, n))

    def one_more(key: Any, count: Any, total: Any) -> tuple[Any, ...]:
        pair = ops.random_split(key)
        is_inside = ops.astype(ops.less_equal(total, n), dtype)
        u = ops.random_uniform(pair[0], shape=ops.shape(q), dtype=dtype)
        distance = ops.ceil(ops.divide(ops.log(ops.maximum(u, least)), log_failure))
        return pair[1], ops.add(count, is_inside), ops.add(total, distance)

    start = (key, ops.zeros_like(q), ops.zeros_like(q))
    return ops.subtract(loop(is_more_needed, one_more, start)[1], 1.0)


def _by_rejection(key: Any, n: Any, q: Any, loop: Loop) -> Any:
    """Hörmann: the quotient of two uniform numbers, scaled and rounded, if it is accepted."""
    from nestarray import ops

    dtype = dtypes.dtype_of(q)
    deviation = ops.sqrt(n * q * (1.0 - q))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * q
    center = n * q + 0.5
    enough = 0.92 - 4.2 / b
    odds = q / (1.0 - q)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = ops.floor((n + 1.0) * q)
    at_mode = (mode + 0.5) * ops.log((mode + 1.0) / (odds * (n - mode + 1.0)))
    at_mode = at_mode + _stirling_rest(mode) + _stirling_rest(n - mode)
    least = dtypes.finfo(dtype).smallest_normal

    def is_more_needed(key: Any, count: Any, is_done: Any) -> Any:
        return ops.any(ops.logical_not(is_done))

    def one_more(key: Any, count: Any, is_done: Any) -> tuple[Any, ...]:
        keys = ops.random_split(key, num=3)
        u = ops.random_uniform(keys[1], shape=ops.shape(q), dtype=dtype) - 0.5
        v = ops.random_uniform(keys[2], shape=ops.shape(q), dtype=dtype)
        shifted = 0.5 - ops.abs(u)
        is_inside = ops.logical_and(ops.greater_equal(shifted, 0.07), ops.less_equal(v, enough))
        found = ops.floor((2.0 * a / shifted + b) * u + center)
        k = ops.minimum(ops.maximum(found, 0.0), n)  # of others no logarithm is needed
        s = ops.log(ops.maximum(v, least) * alpha / (a / (shifted * shifted) + b))
        t = at_mode + (n + 1.0) * ops.log((n - mode + 1.0) / (n - k + 1.0))
        t = t + (k + 0.5) * ops.log(odds * (n - k + 1.0) / (k + 1.0))
        t = t - _stirling_rest(k) - _stirling_rest(n - k)
        is_below = ops.logical_and(ops.equal(k, found), ops.less_equal(s, t))
        is_taken = ops.logical_or(is_inside, is_below)
        return keys[0], ops.where(is_taken, found, count), ops.logical_or(is_done, is_taken)

    start = (key, ops.full_like(q, -1.0), ops.zeros_like(q, dtype="bool"))
    return loop(is_more_needed, one_more, start)[1]


def _stirling_rest(k: Any) -> Any:
    """What Stirling's formula leaves of log k!: from a table, then from its series."""
    from nestarray import ops

    table = ops.asarray(list(_STIRLING_REST), dtype=dtypes.dtype_of(k), like=k)
    near = ops.minimum(ops.maximum(k, 0.0), 9.0)
    square = (k + 1.0) * (k + 1.0)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)
    exact = ops.take(table, ops.astype(near, "int32"), axis=0)
    return ops.where(ops.less_equal(k, 9.0), exact, series)
