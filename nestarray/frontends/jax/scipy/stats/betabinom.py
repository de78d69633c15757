"""The beta-binomial distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-betabinom
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.frontends.jax.scipy import special
from nestarray.typing import Array

__all__ = ["logpmf", "pmf"]


def logpmf(k: Array, n: Array, a: Array, b: Array, loc: Array = 0) -> Array:
    """The logarithm of the probability; −∞ outside of 0 to n."""
    k, n, a, b, loc = promote_inexact(k, n, a, b, loc)
    y = na.floor(k) - loc
    ways = -na.log1p(n) - special.betaln(n - y + 1, y + 1)
    found = ways + special.betaln(y + a, n - y + b) - special.betaln(a, b)
    found = na.where(na.logical_and(na.equal(y, 0), na.equal(n, 0)), 0.0, found)
    is_outside = na.logical_or(
        na.less(y, -loc), na.logical_or(na.greater(y, n), na.less_equal(y + a, 0))
    )
    found = na.where(is_outside, -math.inf, found)
    is_undefined = na.logical_or(
        na.less(n, 0), na.logical_or(na.less_equal(a, 0), na.less_equal(b, 0))
    )
    return na.where(is_undefined, math.nan, found)


def pmf(k: Array, n: Array, a: Array, b: Array, loc: Array = 0) -> Array:
    """The probability."""
    return na.exp(logpmf(k, n, a, b, loc))
