"""The uniform distribution on [loc, loc + scale].

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-uniform
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logpdf", "pdf", "ppf"]


def logpdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_inexact(x, loc, scale)
    is_outside = na.logical_or(na.less(x, loc), na.greater(x, na.add(loc, scale)))
    found = na.negative(na.log(scale))
    return na.where(is_outside, na.full_like(x, -math.inf), found)


def pdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, loc, scale))


def cdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    x, loc, scale = promote_inexact(x, loc, scale)
    found = na.divide(na.subtract(x, loc), scale)
    found = na.where(na.less_equal(x, loc), na.zeros_like(found), found)
    return na.where(na.greater_equal(x, na.add(loc, scale)), na.ones_like(found), found)


def ppf(q: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `cdf`; NaN outside [0, 1]."""
    q, loc, scale = promote_inexact(q, loc, scale)
    is_outside = na.logical_or(na.less(q, 0), na.greater(q, 1))
    return na.where(is_outside, na.full_like(q, math.nan), na.add(na.multiply(q, scale), loc))
