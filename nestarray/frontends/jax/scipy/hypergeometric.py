"""Hypergeometric functions of real numbers, by their series.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.special. Values and
derivatives are upstream's, also by the parameters.

References:
    J. W. Pearson et al., Numerical methods for the computation of the confluent and Gauss
    hypergeometric functions, https://doi.org/10.48550/arXiv.1407.7786
    https://dlmf.nist.gov/15.8#ii
"""

from __future__ import annotations

import math
from collections.abc import Callable

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.frontends.jax.scipy.gamma import gamma
from nestarray.typing import Array

__all__ = ["hyp1f1", "hyp2f1"]

#: The number of terms after which a series ends.
_TERMS = 250
_OfIndex = Callable[[Array], Array]


def _eps(x: Array) -> float:
    return float(dtypes.finfo(dtypes.dtype_of(x)).eps)


def _real(name: str, *arrays: Array) -> list[Array]:
    """Real arrays of one shape and dtype."""
    arrays = promote_inexact(*arrays)
    if dtypes.dtype_of(arrays[0]).kind == "complex":
        raise ArgumentError(f"{name}: got {dtypes.dtype_of(arrays[0])}, expected real numbers")
    return list(na.broadcast_arrays(*arrays))


def _series(term: Array, ratio: _OfIndex, total: float, weight: _OfIndex | None = None) -> Array:
    """total + Σ weight(k) tₖ with tₖ₊₁ = ratio(k) tₖ, from k = 1 until a term does not count."""
    eps = _eps(term)

    def counts(term: Array, total: Array) -> Array:
        return na.greater(na.abs(term), eps * na.abs(total))

    def goes_on(carry: tuple[Array, ...]) -> Array:
        k, _, _, is_open = carry
        return na.logical_and(na.less(k, _TERMS), na.any(is_open))

    def step(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        k, term, total, is_open = carry
        part = term if weight is None else term * weight(k)
        total = na.where(is_open, total + part, total)
        term = na.where(is_open, term * ratio(k), term)
        return k + 1, term, total, na.logical_and(is_open, counts(term, total))

    start = na.where(na.isnan(term), term, total)
    k = na.ones((), dtype=dtypes.dtype_of(term), like=term)
    return na.while_loop(goes_on, step, (k, term, start, counts(term, start)))[2]


# -- 1F1 -------------------------------------------------------------------------------------


def hyp1f1(a: Array, b: Array, x: Array) -> Array:
    """Kummer's function ₁F₁(a; b; x) = Σ (a)ₖ xᵏ / ((b)ₖ k!); 1 for a = 0, else ∞ for b = 0."""
    return _hyp1f1(*_real("hyp1f1", a, b, x))


@na.custom_jvp
def _hyp1f1(a: Array, b: Array, x: Array) -> Array:
    is_far = na.greater_equal(na.abs(x), 100)
    near = _series(*_kummer(a, b, na.where(is_far, 0.0, x)), 1.0)
    far = na.where(is_far, x, 100.0)
    growth = gamma(b) / gamma(a) * na.exp(far) * na.pow(far, a - b)
    ratio = lambda k: (b - a + k) * (1 - a + k) / (k + 1) / far  # noqa: E731
    found = na.where(is_far, growth * _series((b - a) * (1 - a) / far, ratio, 1.0), near)
    found = na.where(na.equal(b, 0), math.inf, found)
    found = na.where(na.equal(a, b), na.exp(x), found)
    return na.where(na.equal(a, 0), 1.0, found)


def _kummer(a: Array, b: Array, x: Array) -> tuple[Array, _OfIndex]:
    """The term for k = 1 and the ratio of terms."""
    return a / b * x, lambda k: (a + k) / (b + k) * x / (k + 1)


@_hyp1f1.defjvp
def _(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
    a, b, x = primals
    terms = _kummer(a, b, x)
    changes = (
        _series(*terms, 0.0, lambda k: na.digamma(a + k) - na.digamma(a)),
        _series(*terms, 0.0, lambda k: na.digamma(b) - na.digamma(b + k)),
        a / b * _hyp1f1(a + 1, b + 1, x),
    )
    return _hyp1f1(a, b, x), sum([dy * dx for dy, dx in zip(changes, tangents, strict=True)])


# -- 2F1 -------------------------------------------------------------------------------------


def hyp2f1(a: Array, b: Array, c: Array, x: Array) -> Array:
    """Gauss' function ₂F₁(a, b; c; x) = Σ (a)ₖ (b)ₖ xᵏ / ((c)ₖ k!); ∞ for x > 1."""
    return _hyp2f1(*_real("hyp2f1", a, b, c, x))


@na.custom_jvp
def _hyp2f1(a: Array, b: Array, c: Array, x: Array) -> Array:
    d, s = c - a - b, 1 - x
    is_below = na.less(x, 1)
    found = _sum(a, b, c, x)
    # Gauss' theorem at x = 1, and Euler's transformation where the series converges badly
    at_one = gamma(c) * gamma(d) / (gamma(c - a) * gamma(c - b))
    found = na.where(na.equal(x, 1), at_one, found)
    found = na.where(na.greater(x, 1), math.inf, found)
    base = na.where(is_below, s, 1.0)
    found = na.where(na.logical_and(is_below, na.equal(a, c)), na.pow(base, -b), found)
    found = na.where(na.logical_and(is_below, na.equal(b, c)), na.pow(base, -a), found)
    found = na.where(na.logical_and(na.less_equal(d, 0), na.equal(x, 1)), math.inf, found)
    is_off = na.logical_and(na.logical_not(_is_near(d, na.round(d))), na.less(s, 0))
    is_euler = na.logical_and(na.less_equal(d, -1), na.logical_not(is_off))
    found = na.where(is_euler, na.pow(s, d) * _sum(c - a, c - b, c, x), found)
    found = na.where(_is_negative_integer(c), math.inf, found)
    is_none = na.logical_or(na.equal(a, 0), na.equal(b, 0))
    is_one = na.logical_or(na.equal(x, 0), na.logical_and(is_none, na.not_equal(c, 0)))
    return na.where(is_one, 1.0, found)


@_hyp2f1.defjvp
def _(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
    a, b, c, x = primals
    terms = _gauss(a, b, c, x)
    changes = (
        _series(*terms, 0.0, lambda k: na.digamma(a + k) - na.digamma(a)),
        _series(*terms, 0.0, lambda k: na.digamma(b + k) - na.digamma(b)),
        _series(*terms, 0.0, lambda k: na.digamma(c) - na.digamma(c + k)),
        a * b / c * _hyp2f1(a + 1, b + 1, c + 1, x),
    )
    return _hyp2f1(a, b, c, x), sum([dy * dx for dy, dx in zip(changes, tangents, strict=True)])


def _gauss(a: Array, b: Array, c: Array, x: Array) -> tuple[Array, _OfIndex]:
    """The term for k = 1 and the ratio of terms."""
    return a * b / c * x, lambda k: (a + k) * (b + k) / (c + k) / (k + 1) * x


def _is_near(x: Array, y: Array) -> Array:
    return na.less(na.abs(x - y), 50 * _eps(x))


def _is_negative_integer(x: Array) -> Array:
    return na.logical_and(na.less_equal(x, 0), na.equal(x, na.round(x)))


def _sum(a: Array, b: Array, c: Array, x: Array) -> Array:
    """₂F₁ by its polynomial, its series, or for x near 1 the expansion in 1 − x."""
    ends_a = na.logical_and(na.less_equal(a, 0), _is_near(a, na.round(a)))
    ends_b = na.logical_and(na.less_equal(b, 0), _is_near(b, na.round(b)))
    is_polynomial = na.logical_or(ends_a, ends_b)
    d = c - a - b
    is_near_one = na.logical_and(na.greater(x, 0.9), _is_near(d, na.round(d)))
    is_near_one = na.logical_and(is_near_one, na.logical_not(is_polynomial))
    is_series = na.logical_not(na.logical_or(is_polynomial, is_near_one))
    found = _series(*_gauss(a, b, c, na.where(is_series, x, 0.0)), 1.0)
    found = na.where(is_polynomial, _polynomial(a, b, c, x, is_polynomial), found)
    return na.where(is_near_one, _near_one(a, b, c, na.where(is_near_one, x, 0.95)), found)


def _polynomial(a: Array, b: Array, c: Array, x: Array, is_wanted: Array) -> Array:
    """₂F₁ for a or b a negative integer, of the degree of the one that ends first."""
    passes_c = na.logical_and(_is_negative_integer(c), na.greater(c, b))
    is_b = na.logical_and(na.less(b, a), _is_near(b, na.round(b)))
    is_b = na.logical_and(is_b, na.logical_not(passes_c))
    first, other = na.where(is_b, b, a), na.where(is_b, a, b)
    degree = na.where(is_wanted, na.abs(first), 0.0)
    last = na.max(degree) if math.prod(na.shape(x)) else 0.0

    def step(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        i, term, total = carry
        new = term * ((i - 1) - degree) / (c + (i - 1)) * (other + (i - 1)) / i * x
        is_open = na.less(i, degree + 1)
        return i + 1, na.where(is_open, new, term), na.where(is_open, total + new, total)

    one = na.ones_like(x)
    i = na.ones((), dtype=dtypes.dtype_of(x), like=x)
    return na.while_loop(lambda carry: na.less(carry[0], last + 1), step, (i, one, one))[2]


def _near_one(a: Array, b: Array, c: Array, x: Array) -> Array:
    """₂F₁ for an integer c − a − b by powers of 1 − x, one part with a logarithm."""
    d, s = c - a - b, 1 - x
    whole = na.round(d)
    size = na.abs(d)
    above, below = na.maximum(d, 0.0), na.minimum(d, 0.0)
    high_a, high_b, low_a, low_b = a + above, b + above, a + below, b + below
    logarithm = na.log(s)

    def bracket(t: Array) -> Array:
        upper = na.digamma(1 + t) + na.digamma(1 + t + size)
        return upper - na.digamma(high_a + t) - na.digamma(high_b + t) - logarithm

    zero = na.zeros((), dtype=dtypes.dtype_of(x), like=x)
    first = bracket(zero) / gamma(size + 1)
    eps = _eps(x)

    def goes_on(carry: tuple[Array, ...]) -> Array:
        return na.logical_and(na.less(carry[0], _TERMS), na.any(carry[3]))

    def step(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        t, power, total, is_open = carry
        part = power * bracket(t)
        total = na.where(is_open, total + part, total)
        counts = na.greater_equal(na.abs(part), eps * na.abs(total))
        power = power * s * (high_a + t) / (t + 1) * (high_b + t) / (t + 1 + size)
        return t + 1, power, total, na.logical_and(is_open, counts)

    power = high_a * high_b * s / gamma(size + 2)
    total = na.while_loop(goes_on, step, (zero + 1, power, first, na.equal(s, s)))[2]

    def add(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        t, power, total = carry
        new = power * s * (low_a + t) * (low_b + t) / (1 - size + t) / (t + 1)
        is_open = na.less(t + 1, na.abs(whole))
        return t + 1, na.where(is_open, new, power), na.where(is_open, total + new, total)

    one = na.ones_like(x)
    longest = na.max(na.abs(whole)) if math.prod(na.shape(x)) else 0.0
    finite = na.while_loop(lambda carry: na.less(carry[0] + 1, longest), add, (zero, one, one))[2]
    is_zero = na.equal(whole, 0)
    finite = (
        finite * gamma(na.where(is_zero, 1.0, size)) * gamma(c) / (gamma(high_a) * gamma(high_b))
    )
    total = total * gamma(c) / (gamma(low_a) * gamma(low_b))
    is_odd = na.not_equal(na.remainder(na.abs(whole), 2.0), 0)
    total = na.where(is_odd, -total, total)
    power = na.pow(s, whole)
    found = na.where(na.greater(whole, 0), total * power + finite, total + finite * power)
    return na.where(is_zero, total, found)
