"""The negative binomial distribution: failures before n successes.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-nbinom
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["logpmf", "pmf"]


def logpmf(k: Array, n: Array, p: Array, loc: Array = 0) -> Array:
    """The logarithm of the probability."""
    k, n, p, loc = promote_inexact(k, n, p, loc)
    y = k - loc
    ways = na.lgamma(y + n) - na.lgamma(n) - na.lgamma(y + 1)
    found = ways + na.xlogy(n, p) + na.xlogy(y, 1 - p)
    return na.where(na.less(k, loc), -math.inf, found)


def pmf(k: Array, n: Array, p: Array, loc: Array = 0) -> Array:
    """The probability."""
    return na.exp(logpmf(k, n, p, loc))
