"""The binomial distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-binom
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["logpmf", "pmf"]


def logpmf(k: Array, n: Array, p: Array, loc: Array = 0) -> Array:
    """The logarithm of the probability; −∞ outside of 0 to n."""
    k, n, p, loc = promote_inexact(k, n, p, loc)
    y = k - loc
    powers = na.xlogy(y, p) + na.xlog1py(n - y, -p)
    found = na.lgamma(n + 1) - na.lgamma(y + 1) - na.lgamma(n - y + 1) + powers
    is_certain = na.logical_or(na.equal(powers, 0), na.logical_and(na.equal(y, 0), na.equal(n, 0)))
    is_inside = na.logical_and(na.greater_equal(k, loc), na.less(k, loc + n + 1))
    return na.where(is_inside, na.where(is_certain, 0.0, found), -math.inf)


def pmf(k: Array, n: Array, p: Array, loc: Array = 0) -> Array:
    """The probability."""
    return na.exp(logpmf(k, n, p, loc))
