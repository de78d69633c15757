"""The Bernoulli distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-bernoulli
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logpmf", "pmf", "ppf"]


def logpmf(k: Array, p: Array, loc: Array = 0) -> Array:
    """The logarithm of the probability; −∞ if k is neither 0 nor 1."""
    k, p, loc = promote_inexact(k, p, loc)
    k = na.subtract(k, loc)
    found = na.add(na.xlogy(k, p), na.xlog1py(na.subtract(1.0, k), na.negative(p)))
    is_outside = na.logical_or(na.less(k, 0), na.greater(k, 1))
    return na.where(is_outside, na.full_like(found, -math.inf), found)


def pmf(k: Array, p: Array, loc: Array = 0) -> Array:
    """The probability."""
    return na.exp(logpmf(k, p, loc))


def cdf(k: Array, p: Array) -> Array:
    """The distribution function."""
    k, p = promote_inexact(k, p)
    found = na.subtract(1.0, p)
    found = na.where(na.less(k, 0), na.zeros_like(found), found)
    found = na.where(na.greater_equal(k, 1), na.ones_like(found), found)
    is_undefined = na.logical_or(
        na.isnan(k), na.logical_or(na.isnan(p), na.logical_or(na.less(p, 0), na.greater(p, 1)))
    )
    return na.where(is_undefined, na.full_like(found, math.nan), found)


def ppf(q: Array, p: Array) -> Array:
    """The inverse of `cdf`."""
    q, p = promote_inexact(q, p)
    found = na.where(na.less_equal(q, na.subtract(1.0, p)), na.zeros_like(p), na.ones_like(p))
    outside = [
        na.isnan(q),
        na.isnan(p),
        na.less(p, 0),
        na.greater(p, 1),
        na.less(q, 0),
        na.greater(q, 1),
    ]
    is_undefined = outside[0]
    for condition in outside[1:]:
        is_undefined = na.logical_or(is_undefined, condition)
    return na.where(is_undefined, na.full_like(found, math.nan), found)
