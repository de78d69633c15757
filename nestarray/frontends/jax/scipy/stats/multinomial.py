"""The multinomial distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-multinomial
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["logpmf", "pmf"]


def logpmf(x: Array, n: Array, p: Array) -> Array:
    """The logarithm of the probability of counts x; −∞ if they do not sum to n."""
    x, n, p = promote_inexact(x, n, p)
    found = na.lgamma(n + 1) + na.sum(na.xlogy(x, p) - na.lgamma(x + 1), axis=-1)
    return na.where(na.equal(na.sum(x), n), found, -math.inf)


def pmf(x: Array, n: Array, p: Array) -> Array:
    """The probability."""
    return na.exp(logpmf(x, n, p))
