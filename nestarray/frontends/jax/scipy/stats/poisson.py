"""The Poisson distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-poisson
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logpmf", "pmf"]


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
