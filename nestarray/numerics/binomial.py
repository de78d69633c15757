"""Binomial numbers by inversion and by rejection sampling; the loop is an argument.

All elements share one key per round, and as in ``jax.random`` a later round may overwrite an
accepted value. Hence each round draws all elements, and there are as many rounds as in
``jax.random``.
"""

from __future__ import annotations

from typing import Any

from nestarray import dtypes
from nestarray.numerics.rejection import Arrays, Loop

#: The error of Stirling's formula for log k!, k from 0 to 9; above, a series computes it.
_STIRLING_ERRORS = (
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


def binomial(xp: Any, key: Any, n: Any, p: Any, loop: Loop) -> Any:
    """The number of successes in `n` trials of probability `p`; NaN for invalid arguments.

    Up to ten expected successes use inversion, more use rejection; p > 1/2 counts failures
    instead. Each algorithm gets harmless arguments at the elements of the other, so that its
    loop ends.
    """
    either = xp.logical_or
    is_low = xp.less(p, 0.5)
    q = xp.where(is_low, p, xp.subtract(1.0, p))
    is_wrong = either(xp.logical_not(xp.greater_equal(q, 0.0)), xp.logical_not(xp.isfinite(n)))
    is_wrong = either(is_wrong, xp.less(n, 0.0))
    n = xp.floor(xp.where(is_wrong, xp.zeros_like(n), n))
    q = xp.where(is_wrong, xp.full_like(q, 0.01), q)
    is_few = xp.less_equal(xp.multiply(n, q), 10.0)
    few = _by_inversion(xp, key, xp.where(is_few, n, xp.zeros_like(n)), q, loop)
    large, half = xp.full_like(n, 1e4), xp.full_like(q, 0.5)
    many = _by_rejection(xp, key, xp.where(is_few, large, n), xp.where(is_few, half, q), loop)
    counts = xp.where(is_few, few, many)
    counts = xp.where(is_low, counts, xp.subtract(n, counts))
    return xp.where(is_wrong, xp.full_like(counts, float("nan")), counts)


def _by_inversion(xp: Any, key: Any, n: Any, q: Any, loop: Loop) -> Any:
    """The number of geometric numbers (distances between successes) that sum to at most `n`."""
    dtype = dtypes.dtype_of(q)
    never = xp.equal(q, 0.0)
    log_failure = xp.log1p(xp.negative(q))
    log_failure = xp.where(never, xp.full_like(q, -1e-30), log_failure)
    least = dtypes.finfo(dtype).smallest_normal  # NumPy warns of log 0

    def is_unfinished(state: Arrays) -> Any:
        return xp.any(xp.less_equal(state[2], n))

    def step(state: Arrays) -> Arrays:
        key, count, total = state
        pair = xp.random_split(key)
        is_inside = xp.astype(xp.less_equal(total, n), dtype)
        u = xp.random_uniform(pair[0], shape=xp.shape(q), dtype=dtype)
        distance = xp.ceil(xp.divide(xp.log(xp.maximum(u, least)), log_failure))
        return pair[1], xp.add(count, is_inside), xp.add(total, distance)

    start = (key, xp.zeros_like(q), xp.zeros_like(q))
    return xp.subtract(loop(is_unfinished, step, start, None)[1], 1.0)


def _by_rejection(xp: Any, key: Any, n: Any, q: Any, loop: Loop) -> Any:
    """Hörmann: a scaled and rounded quotient of two uniform numbers, if accepted."""
    dtype = dtypes.dtype_of(q)
    deviation = xp.sqrt(n * q * (1.0 - q))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * q
    center = n * q + 0.5
    enough = 0.92 - 4.2 / b
    odds = q / (1.0 - q)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = xp.floor((n + 1.0) * q)
    at_mode = (mode + 0.5) * xp.log((mode + 1.0) / (odds * (n - mode + 1.0)))
    at_mode = at_mode + stirling_error(xp, mode) + stirling_error(xp, n - mode)
    least = dtypes.finfo(dtype).smallest_normal

    def is_unfinished(state: Arrays) -> Any:
        return xp.any(xp.logical_not(state[2]))

    def step(state: Arrays) -> Arrays:
        key, count, is_done = state
        keys = xp.random_split(key, num=3)
        u = xp.random_uniform(keys[1], shape=xp.shape(q), dtype=dtype) - 0.5
        v = xp.random_uniform(keys[2], shape=xp.shape(q), dtype=dtype)
        shifted = 0.5 - xp.abs(u)
        is_inside = xp.logical_and(xp.greater_equal(shifted, 0.07), xp.less_equal(v, enough))
        found = xp.floor((2.0 * a / shifted + b) * u + center)
        k = xp.minimum(xp.maximum(found, 0.0), n)  # the logarithms below need a valid count
        s = xp.log(xp.maximum(v, least) * alpha / (a / (shifted * shifted) + b))
        t = at_mode + (n + 1.0) * xp.log((n - mode + 1.0) / (n - k + 1.0))
        t = t + (k + 0.5) * xp.log(odds * (n - k + 1.0) / (k + 1.0))
        t = t - stirling_error(xp, k) - stirling_error(xp, n - k)
        is_below = xp.logical_and(xp.equal(k, found), xp.less_equal(s, t))
        is_taken = xp.logical_or(is_inside, is_below)
        return keys[0], xp.where(is_taken, found, count), xp.logical_or(is_done, is_taken)

    start = (key, xp.full_like(q, -1.0), xp.zeros_like(q, dtype="bool"))
    return loop(is_unfinished, step, start, None)[1]


def stirling_error(xp: Any, k: Any) -> Any:
    """The error of Stirling's formula for log k!: from a table, then from its series."""
    table = xp.asarray(list(_STIRLING_ERRORS), dtype=dtypes.dtype_of(k), like=k)
    near = xp.minimum(xp.maximum(k, 0.0), 9.0)
    square = (k + 1.0) * (k + 1.0)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)
    exact = xp.take(table, xp.astype(near, "int32"), axis=0)
    return xp.where(xp.less_equal(k, 9.0), exact, series)
