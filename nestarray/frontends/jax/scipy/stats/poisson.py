"""The Poisson distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-poisson
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "entropy", "logpmf", "pmf"]


def logpmf(k: Array, mu: Array, loc: Array = 0) -> Array:
    """The logarithm of the probability; −∞ of negative numbers and of fractions."""
    k, mu, loc = promote_inexact(k, mu, loc)
    x = na.subtract(k, loc)
    found = na.xlogy(x, mu) - na.lgamma(x + 1.0) - mu
    is_outside = na.logical_or(na.less(x, 0), na.not_equal(na.round(k), k))
    return na.where(is_outside, na.full_like(found, -math.inf), found)


def pmf(k: Array, mu: Array, loc: Array = 0) -> Array:
    """The probability."""
    return na.exp(logpmf(k, mu, loc))


def cdf(k: Array, mu: Array, loc: Array = 0) -> Array:
    """The distribution function."""
    k, mu, loc = promote_inexact(k, mu, loc)
    x = na.subtract(k, loc)
    is_outside = na.less(x, 0)
    whole = na.floor(na.where(is_outside, na.zeros_like(x), x))
    found = na.gammaincc(whole + 1.0, mu)
    return na.where(is_outside, na.zeros_like(found), found)


def entropy(mu: Array, loc: Array = 0) -> Array:
    """The entropy: the sum of its terms for μ below 100, else an expansion."""
    mu, loc = promote_inexact(mu, loc)
    count = na.reshape(
        na.arange(250, dtype=na.dtype_of(mu), like=mu), (250, *[1] * len(na.shape(mu)))
    )
    terms = na.entr(pmf(count, na.minimum(mu, 100.0)))
    last = na.ceil(na.where(na.less(mu, 10), mu + 20, mu + 10 * na.sqrt(mu) + 20))
    total = na.sum(na.where(na.less(count, last), terms, 0.0), axis=0)
    safe = na.maximum(mu, 1.0)
    expansion = 0.5 * na.log(2 * math.pi * math.e * safe) - 1.0 / (12 * safe)
    found = na.where(na.less(mu, 100), total, expansion)
    found = na.where(na.equal(mu, 0), 0.0, found)
    return na.broadcast_to(found, na.broadcast_shapes(na.shape(mu), na.shape(loc)))
