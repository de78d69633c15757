"""Random numbers by rejection: the rounds, which each backend repeats in its own kind of loop.

Every element of `gamma` has a key of its own, so a round on those that are left is as good
as one on all. The elements of `poisson` share a key a round, and a late round may change
what an early one has found (as in ``jax.random``); so rounds are of all elements, and as many
as ``jax.random`` makes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.numerics import logarithms, rounding, threefry

#: (is one more round needed?, round, states) → the states after the last round.
Loop = Callable[[Callable[..., Any], Callable[..., tuple[Any, ...]], tuple[Any, ...]], Any]


@dataclass(frozen=True)
class Words:
    """How a backend hashes: keys are ``(2, n)``, one for each element."""

    hash: Callable[[Any, Any], tuple[Any, Any]]  # (keys, counters) → the two words of each
    unit: Callable[[Any, Any, dtypes.DType], Any]  # (words, words, dtype) → uniform in [0, 1)


def hashes(words: Words, *asked: tuple[Any, int]) -> list[tuple[Any, Any]]:
    """The words of several (keys, counter), hashed together: programs stay small."""
    from nestarray import ops

    size = ops.shape(asked[0][0])[1]
    keys = ops.concat([keys for keys, _ in asked], axis=1)
    counters = ops.concat([ops.full_like(keys[0], i) for keys, i in asked], axis=0)
    high, low = words.hash(keys, counters)
    cuts = [slice(i * size, (i + 1) * size) for i in range(len(asked))]
    return [(high[cut], low[cut]) for cut in cuts]


def as_keys(*pairs: tuple[Any, Any]) -> list[Any]:
    """Words of a hash as keys."""
    from nestarray import ops

    return [ops.stack(pair, axis=0) for pair in pairs]


def normal(words: Words, keys: Any, dtype: dtypes.DType) -> Any:
    """A normal number of each key."""
    from nestarray import ops

    low = -1.0 + 2.0 ** -(threefry.MANTISSA[dtype][0] + 1)
    span = threefry.rounded(1.0 - low, dtype)
    u = words.unit(*hashes(words, (keys, 0))[0], dtype)
    return ops.normal_quantile(ops.maximum(ops.add(ops.multiply(u, span), low), low))


def gamma(words: Words, keys: Any, a: Any, log_space: bool, rounds: Any) -> Any:
    """Gamma numbers of the shape parameters `a`, ``(n,)``, from keys ``(2, n)``.

    `rounds` makes them of the keys and two parameters: ``rounds(keys, d, c) → v``. Parameters
    that are not above 0, or not finite, are set aside, and so raise no warnings of NumPy.
    """
    from nestarray import ops

    dtype = dtypes.dtype_of(a)
    given = a
    is_right = ops.logical_and(ops.greater(a, 0.0), ops.less(a, math.inf))
    a = ops.where(is_right, a, ops.ones_like(a))
    is_small = ops.less(a, 1.0)
    raised = ops.where(is_small, ops.add(a, 1.0), a)
    third = threefry.rounded(1.0 / 3.0, dtype)
    d = ops.subtract(raised, third)
    # as XLA has it, which divides by no root
    c = ops.multiply(rounding.rounded_once(_reciprocal_root, d), third)
    keys, last = as_keys(*hashes(words, (keys, 0), (keys, 1)))
    v = rounds(keys, d, c)
    u = words.unit(*hashes(words, (last, 0))[0], dtype)
    one = ops.ones_like(a)
    if log_space:
        log_u = logarithms.log1p(ops.negative(u))
        is_unchanged = ops.logical_or(ops.logical_not(is_small), ops.equal(log_u, 0.0))
        boost = ops.multiply(log_u, ops.divide(one, a))
        boost = ops.where(is_unchanged, ops.zeros_like(a), boost)
        log_d, log_v = (logarithms.log(x) for x in (d, v))
        found = ops.add(ops.add(log_d, log_v), boost)
        return _with_limits(given, is_right, found, -math.inf)
    power = ops.divide(one, a)
    boost = rounding.rounded_once(
        lambda x: ops.pow(x, ops.astype(power, dtypes.dtype_of(x))), ops.subtract(one, u)
    )
    found = ops.multiply(ops.multiply(d, v), ops.where(is_small, boost, one))
    return _with_limits(given, is_right, found, 0.0)


def _reciprocal_root(x: Any) -> Any:
    from nestarray import ops

    return ops.reciprocal(ops.sqrt(x))


def _with_limits(a: Any, is_right: Any, found: Any, at_zero: float) -> Any:
    """`found`, and what it tends to as `a` goes to 0 and to ∞; else NaN."""
    from nestarray import ops

    limit = ops.where(ops.equal(a, 0.0), ops.full_like(a, at_zero), ops.full_like(a, math.nan))
    limit = ops.where(ops.equal(a, math.inf), ops.full_like(a, math.inf), limit)
    return ops.where(is_right, found, limit)


def gamma_start(words: Words, keys: Any) -> tuple[Any, Any, Any]:
    """The keys of a first round: of the rounds after it, of its normal and its uniform number."""
    keys, normals, uniforms = as_keys(*hashes(words, *[(keys, i) for i in range(3)]))
    return keys, normals, uniforms


def gamma_round(
    words: Words, keys: Any, normals: Any, uniforms: Any, d: Any, c: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """(v, is it accepted?, the keys of the next round).

    A normal number that makes v negative is drawn again from the next of its keys; a v that
    is refused starts anew.
    """
    from nestarray import ops

    dtype = dtypes.dtype_of(d)
    asked = [(normals, 0), (normals, 1), (keys, 0), (keys, 1), (keys, 2), (uniforms, 0)]
    *split, of_u = hashes(words, *asked)
    again, own, *fresh = as_keys(*split)
    x = normal(words, own, dtype)
    v = rounding.multiply_add(x, c, ops.ones_like(c))
    is_positive = ops.logical_not(ops.less_equal(v, 0.0))  # as NaN is, so that its rounds end
    v = ops.where(is_positive, v, ops.ones_like(v))
    x, v = ops.multiply(x, x), ops.multiply(ops.multiply(v, v), v)
    u = words.unit(*of_u, dtype)
    squeeze = ops.subtract(1.0, ops.multiply(ops.multiply(x, x), threefry.rounded(0.0331, dtype)))
    least = dtypes.finfo(dtype).smallest_normal  # instead of a 0, of whose logarithm NumPy warns
    rest = ops.multiply(d, ops.add(ops.subtract(1.0, v), logarithms.log(ops.maximum(v, least))))
    is_refused = ops.logical_and(
        ops.greater_equal(u, squeeze),
        ops.greater_equal(
            logarithms.log(ops.maximum(u, least)), ops.add(ops.multiply(x, 0.5), rest)
        ),
    )
    is_accepted = ops.logical_and(is_positive, ops.logical_not(is_refused))
    pick = lambda new, old: ops.where(is_positive, new, old)  # noqa: E731
    following = (pick(fresh[0], keys), pick(fresh[1], again), pick(fresh[2], uniforms))
    return v, is_accepted, *following


#: Instead of a uniform number that is 0; no decision depends on it.
_LEAST = 2.0**-126


def poisson(key: Any, lam: Any, loop: Loop) -> Any:
    """Poisson numbers of the rates `lam`, in float32 as these, all from one key."""
    from nestarray import ops

    is_small = ops.logical_or(ops.isnan(lam), ops.less(lam, 10.0))
    few = _by_products(key, ops.where(is_small, lam, ops.zeros_like(lam)), loop)
    many = _by_rejection(key, ops.where(is_small, ops.full_like(lam, 1e5), lam), loop)
    counts = ops.where(is_small, ops.astype(few, dtypes.float32), many)
    return ops.where(ops.equal(lam, 0.0), ops.zeros_like(counts), counts)


def as_counts(x: Any, dtype: dtypes.DType) -> Any:
    """Whole numbers in an integer type: larger ones become its largest, negative ones −1."""
    from nestarray import ops

    largest = min(dtypes.iinfo(dtype).max, 2**63 - 1)
    is_beyond, is_none = ops.greater_equal(x, float(largest)), ops.less(x, 0.0)
    safe = ops.where(ops.logical_or(is_beyond, is_none), ops.zeros_like(x), x)
    counts = ops.astype(safe, dtype)
    counts = ops.where(is_beyond, ops.full_like(counts, largest), counts)
    none = ops.astype(ops.full_like(counts, -1, dtype="int32"), dtype)  # unsigned, it is all bits
    return ops.where(is_none, none, counts)


def _by_products(key: Any, lam: Any, loop: Loop) -> Any:
    """Knuth: how many uniform numbers have a product above e^−λ."""
    from nestarray import ops

    limit = ops.negative(lam)

    def is_more_needed(key: Any, count: Any, log_product: Any) -> Any:
        return ops.any(ops.greater(log_product, limit))

    def one_more(key: Any, count: Any, log_product: Any) -> tuple[Any, ...]:
        pair = ops.random_split(key)
        is_above = ops.astype(ops.greater(log_product, limit), "int32")
        u = ops.random_uniform(pair[1], shape=ops.shape(lam))
        return (
            pair[0],
            ops.add(count, is_above),
            ops.add(log_product, ops.log(ops.maximum(u, _LEAST))),
        )

    start = (key, ops.zeros_like(lam, dtype="int32"), ops.zeros_like(lam))
    return ops.subtract(loop(is_more_needed, one_more, start)[1], 1)


def _by_rejection(key: Any, lam: Any, loop: Loop) -> Any:
    """Hörmann: the quotient of two uniform numbers, scaled and rounded, if it is accepted."""
    from nestarray import ops

    log_lam = ops.log(lam)
    b = 0.931 + 2.53 * ops.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    enough = 0.9277 - 3.6224 / (b - 2.0)

    def is_more_needed(key: Any, count: Any, is_done: Any) -> Any:
        return ops.any(ops.logical_not(is_done))

    def one_more(key: Any, count: Any, is_done: Any) -> tuple[Any, ...]:
        keys = ops.random_split(key, num=3)
        u = ops.random_uniform(keys[1], shape=ops.shape(lam)) - 0.5
        v = ops.random_uniform(keys[2], shape=ops.shape(lam))
        shifted = 0.5 - ops.abs(u)
        k = ops.floor((2.0 * a / shifted + b) * u + lam + 0.43)
        s = ops.log(ops.maximum(v, _LEAST) * inverse / (a / (shifted * shifted) + b))
        t = ops.negative(lam) + k * log_lam - ops.lgamma(k + 1.0)
        is_inside = ops.logical_and(ops.greater_equal(shifted, 0.07), ops.less_equal(v, enough))
        is_tail = ops.logical_and(ops.less(shifted, 0.013), ops.greater(v, shifted))
        is_out = ops.logical_or(ops.less(k, 0.0), is_tail)
        is_below = ops.logical_and(ops.logical_not(is_out), ops.less_equal(s, t))
        is_taken = ops.logical_or(is_inside, is_below)
        return keys[0], ops.where(is_taken, k, count), ops.logical_or(is_done, is_taken)

    start = (key, ops.full_like(lam, -1.0), ops.zeros_like(lam, dtype="bool"))
    return loop(is_more_needed, one_more, start)[1]


def while_python(
    is_more_needed: Callable[..., Any], step: Callable[..., tuple[Any, ...]], states: Any
) -> Any:
    """The loop of backends that compute at once."""
    with np.errstate(all="ignore"):  # of candidates at an edge, which are refused
        while bool(is_more_needed(*states)):
            states = step(*states)
    return states


def rounds_python(words: Words, keys: Any, d: Any, c: Any) -> Any:
    """`gamma_round` on the elements that are left, where arrays can be written (NumPy, PyTorch)."""
    from nestarray import ops

    result = ops.zeros_like(d)
    places = ops.arange(int(d.shape[0]), like=d)
    states = gamma_start(words, keys)
    while len(places):
        v, is_accepted, *states = gamma_round(words, *states, d, c)
        result[places[is_accepted]] = v[is_accepted]
        left = ops.nonzero(ops.logical_not(is_accepted))[0]
        places, d, c = places[left], d[left], c[left]
        states = [x[:, left] for x in states]
    return result
