"""Random numbers by rejection sampling; the loop over rounds is an argument.

Each element of `gamma` has its own key, so a round may skip the finished elements. The elements
of `poisson` share one key per round, and as in ``jax.random`` a later round may overwrite an
accepted value. Hence each round draws all elements, and there are as many rounds as in
``jax.random``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nestarray import dtypes
from nestarray.numerics import logarithms, rounding, threefry

Arrays = tuple[Any, ...]
#: ``while_loop(test, body, state, max_steps)``, as in `nestarray.backends.control_flow`.
Loop = Callable[[Callable[[Arrays], Any], Callable[[Arrays], Arrays], Arrays, int | None], Arrays]


@dataclass(frozen=True)
class Words:
    """The random words of a backend; keys are ``(2, n)``, one for each element."""

    hash: Callable[[Any, Any], tuple[Any, Any]]  # (keys, counters) → the two words of each
    unit: Callable[[Any, Any, dtypes.DType], Any]  # (words, words, dtype) → uniform in [0, 1)
    wide: dtypes.DType  # the widest floating type of the framework and device


def hashes(xp: Any, words: Words, *asked: tuple[Any, int]) -> list[tuple[Any, Any]]:
    """The words of several (keys, counter) pairs by one hash, which keeps programs small."""
    size = xp.shape(asked[0][0])[1]
    keys = xp.concat([keys for keys, _ in asked], axis=1)
    counters = xp.concat([xp.full_like(keys[0], i) for keys, i in asked], axis=0)
    high, low = words.hash(keys, counters)
    cuts = [slice(i * size, (i + 1) * size) for i in range(len(asked))]
    return [(high[cut], low[cut]) for cut in cuts]


def as_keys(xp: Any, *pairs: tuple[Any, Any]) -> list[Any]:
    """Words of a hash as keys."""
    return [xp.stack(pair, axis=0) for pair in pairs]


def normal(xp: Any, words: Words, keys: Any, dtype: dtypes.DType) -> Any:
    """A normal number of each key."""
    low = -1.0 + 2.0 ** -(threefry.MANTISSA[dtype][0] + 1)
    span = threefry.rounded(1.0 - low, dtype)
    u = words.unit(*hashes(xp, words, (keys, 0))[0], dtype)
    return xp.normal_quantile(xp.maximum(xp.add(xp.multiply(u, span), low), low))


def gamma(xp: Any, words: Words, keys: Any, a: Any, log_space: bool, rounds: Any) -> Any:
    """Gamma numbers of the shape parameters `a`, ``(n,)``, from keys ``(2, n)``.

    Args:
        xp: a namespace of ops.
        words: the hash of the backend.
        keys: `(2, n)`, uint32.
        a: `(n,)`, floating. Parameters that are not positive and finite are replaced by 1 in
            between, so that NumPy warns of nothing.
        log_space: return logarithms.
        rounds: ``rounds(keys, d, c) → v``, the loop over `gamma_round`.
    """
    dtype = dtypes.dtype_of(a)
    given = a
    is_right = xp.logical_and(xp.greater(a, 0.0), xp.less(a, math.inf))
    a = xp.where(is_right, a, xp.ones_like(a))
    is_small = xp.less(a, 1.0)
    raised = xp.where(is_small, xp.add(a, 1.0), a)
    third = threefry.rounded(1.0 / 3.0, dtype)
    d = xp.subtract(raised, third)
    # XLA multiplies by the reciprocal root
    c = xp.multiply(
        rounding.rounded_once(xp, lambda x: xp.reciprocal(xp.sqrt(x)), d, words.wide), third
    )
    keys, last = as_keys(xp, *hashes(xp, words, (keys, 0), (keys, 1)))
    v = rounds(keys, d, c)
    u = words.unit(*hashes(xp, words, (last, 0))[0], dtype)
    one = xp.ones_like(a)
    if log_space:
        log_u = logarithms.log1p(xp, xp.negative(u), words.wide)
        is_unchanged = xp.logical_or(xp.logical_not(is_small), xp.equal(log_u, 0.0))
        boost = xp.multiply(log_u, xp.divide(one, a))
        boost = xp.where(is_unchanged, xp.zeros_like(a), boost)
        log_d, log_v = (logarithms.log(xp, x, words.wide) for x in (d, v))
        found = xp.add(xp.add(log_d, log_v), boost)
        return _with_limits(xp, given, is_right, found, -math.inf)
    power = xp.divide(one, a)
    boost = rounding.rounded_once(
        xp,
        lambda x: xp.pow(x, xp.astype(power, dtypes.dtype_of(x))),
        xp.subtract(one, u),
        words.wide,
    )
    found = xp.multiply(xp.multiply(d, v), xp.where(is_small, boost, one))
    return _with_limits(xp, given, is_right, found, 0.0)


def _with_limits(xp: Any, a: Any, is_right: Any, found: Any, at_zero: float) -> Any:
    """`found` for valid `a`, its limits for a = 0 and a = ∞, else NaN."""
    limit = xp.where(xp.equal(a, 0.0), xp.full_like(a, at_zero), xp.full_like(a, math.nan))
    limit = xp.where(xp.equal(a, math.inf), xp.full_like(a, math.inf), limit)
    return xp.where(is_right, found, limit)


def gamma_start(xp: Any, words: Words, keys: Any) -> tuple[Any, Any, Any]:
    """The keys of the first round: for later rounds, its normal and its uniform number."""
    keys, normals, uniforms = as_keys(xp, *hashes(xp, words, *[(keys, i) for i in range(3)]))
    return keys, normals, uniforms


def gamma_round(
    xp: Any, words: Words, keys: Any, normals: Any, uniforms: Any, d: Any, c: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """Return v, whether it is accepted, and the three keys of the next round.

    If v is not positive, the next round draws another normal number; if v is rejected, the next
    round starts anew.
    """
    dtype = dtypes.dtype_of(d)
    asked = [(normals, 0), (normals, 1), (keys, 0), (keys, 1), (keys, 2), (uniforms, 0)]
    *split, of_u = hashes(xp, words, *asked)
    again, own, *fresh = as_keys(xp, *split)
    x = normal(xp, words, own, dtype)
    v = rounding.multiply_add(xp, x, c, xp.ones_like(c), words.wide)
    is_positive = xp.logical_not(xp.less_equal(v, 0.0))  # NaN counts as positive: its loop ends
    v = xp.where(is_positive, v, xp.ones_like(v))
    x, v = xp.multiply(x, x), xp.multiply(xp.multiply(v, v), v)
    u = words.unit(*of_u, dtype)
    squeeze = xp.subtract(1.0, xp.multiply(xp.multiply(x, x), threefry.rounded(0.0331, dtype)))
    least = dtypes.finfo(dtype).smallest_normal  # NumPy warns of log 0
    rest = xp.multiply(
        d, xp.add(xp.subtract(1.0, v), logarithms.log(xp, xp.maximum(v, least), words.wide))
    )
    is_refused = xp.logical_and(
        xp.greater_equal(u, squeeze),
        xp.greater_equal(
            logarithms.log(xp, xp.maximum(u, least), words.wide), xp.add(xp.multiply(x, 0.5), rest)
        ),
    )
    is_accepted = xp.logical_and(is_positive, xp.logical_not(is_refused))
    pick = lambda new, old: xp.where(is_positive, new, old)  # noqa: E731
    following = (pick(fresh[0], keys), pick(fresh[1], again), pick(fresh[2], uniforms))
    return v, is_accepted, *following


#: Replaces a uniform number of 0; no decision depends on it.
_LEAST = 2.0**-126


def poisson(xp: Any, key: Any, lam: Any, loop: Loop) -> Any:
    """Poisson numbers of the rates `lam` in float32, from one key."""
    is_small = xp.logical_or(xp.isnan(lam), xp.less(lam, 10.0))
    few = _by_products(xp, key, xp.where(is_small, lam, xp.zeros_like(lam)), loop)
    many = _by_rejection(xp, key, xp.where(is_small, xp.full_like(lam, 1e5), lam), loop)
    counts = xp.where(is_small, xp.astype(few, dtypes.float32), many)
    return xp.where(xp.equal(lam, 0.0), xp.zeros_like(counts), counts)


def as_counts(xp: Any, x: Any, dtype: dtypes.DType) -> Any:
    """Cast whole numbers to `dtype`: numbers beyond it become its largest, negative numbers −1."""
    largest = min(dtypes.iinfo(dtype).max, 2**63 - 1)
    is_beyond, is_none = xp.greater_equal(x, float(largest)), xp.less(x, 0.0)
    safe = xp.where(xp.logical_or(is_beyond, is_none), xp.zeros_like(x), x)
    counts = xp.astype(safe, dtype)
    counts = xp.where(is_beyond, xp.full_like(counts, largest), counts)
    none = xp.astype(
        xp.full_like(counts, -1, dtype="int32"), dtype
    )  # all bits of an unsigned integer
    return xp.where(is_none, none, counts)


def _by_products(xp: Any, key: Any, lam: Any, loop: Loop) -> Any:
    """Knuth: the number of uniform factors whose product stays above e^−λ."""
    limit = xp.negative(lam)

    def is_unfinished(state: Arrays) -> Any:
        return xp.any(xp.greater(state[2], limit))

    def step(state: Arrays) -> Arrays:
        key, count, log_product = state
        pair = xp.random_split(key)
        is_above = xp.astype(xp.greater(log_product, limit), "int32")
        u = xp.random_uniform(pair[1], shape=xp.shape(lam))
        return (
            pair[0],
            xp.add(count, is_above),
            xp.add(log_product, xp.log(xp.maximum(u, _LEAST))),
        )

    start = (key, xp.zeros_like(lam, dtype="int32"), xp.zeros_like(lam))
    return xp.subtract(loop(is_unfinished, step, start, None)[1], 1)


def _by_rejection(xp: Any, key: Any, lam: Any, loop: Loop) -> Any:
    """Hörmann: a scaled and rounded quotient of two uniform numbers, if accepted."""
    log_lam = xp.log(lam)
    b = 0.931 + 2.53 * xp.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    enough = 0.9277 - 3.6224 / (b - 2.0)

    def is_unfinished(state: Arrays) -> Any:
        return xp.any(xp.logical_not(state[2]))

    def step(state: Arrays) -> Arrays:
        key, count, is_done = state
        keys = xp.random_split(key, num=3)
        u = xp.random_uniform(keys[1], shape=xp.shape(lam)) - 0.5
        v = xp.random_uniform(keys[2], shape=xp.shape(lam))
        shifted = 0.5 - xp.abs(u)
        k = xp.floor((2.0 * a / shifted + b) * u + lam + 0.43)
        s = xp.log(xp.maximum(v, _LEAST) * inverse / (a / (shifted * shifted) + b))
        t = xp.negative(lam) + k * log_lam - xp.lgamma(k + 1.0)
        is_inside = xp.logical_and(xp.greater_equal(shifted, 0.07), xp.less_equal(v, enough))
        is_tail = xp.logical_and(xp.less(shifted, 0.013), xp.greater(v, shifted))
        is_out = xp.logical_or(xp.less(k, 0.0), is_tail)
        is_below = xp.logical_and(xp.logical_not(is_out), xp.less_equal(s, t))
        is_taken = xp.logical_or(is_inside, is_below)
        return keys[0], xp.where(is_taken, k, count), xp.logical_or(is_done, is_taken)

    start = (key, xp.full_like(lam, -1.0), xp.zeros_like(lam, dtype="bool"))
    return loop(is_unfinished, step, start, None)[1]


def gamma_rounds(xp: Any, words: Words, keys: Any, d: Any, c: Any) -> Any:
    """The accepted v of each element: `gamma_round` on the remaining elements.

    For arrays that can be written in place (NumPy, PyTorch).
    """
    result = xp.zeros_like(d)
    places = xp.arange(int(d.shape[0]), like=d)
    states = gamma_start(xp, words, keys)
    while len(places):
        v, is_accepted, keys, normals, uniforms = gamma_round(xp, words, *states, d, c)
        result[places[is_accepted]] = v[is_accepted]
        left = xp.nonzero(xp.logical_not(is_accepted))[0]
        places, d, c = places[left], d[left], c[left]
        states = keys[:, left], normals[:, left], uniforms[:, left]
    return result
