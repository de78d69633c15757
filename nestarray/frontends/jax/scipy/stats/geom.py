"""The geometric distribution: trials until the first success.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-geom
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["logpmf", "pmf"]


def logpmf(k: Array, p: Array, loc: Array = 0) -> Array:
    """The logarithm of the probability."""
    k, p, loc = promote_inexact(k, p, loc)
    x = k - loc
    found = na.xlog1py(x - 1, -p) + na.log(p)
    return na.where(na.less_equal(x, 0), -math.inf, found)


def pmf(k: Array, p: Array, loc: Array = 0) -> Array:
    """The probability."""
    return na.exp(logpmf(k, p, loc))
