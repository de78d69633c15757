"""The exponential distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-expon
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_inexact(x, loc, scale)
    found = na.negative(na.add(na.divide(na.subtract(x, loc), scale), na.log(scale)))
    return na.where(na.less(x, loc), na.full_like(found, -math.inf), found)


def pdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, loc, scale))


def cdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    return na.negative(na.expm1(logsf(x, loc, scale)))


def logcdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the distribution function."""
    return na.log1p(na.negative(sf(x, loc, scale)))


def logsf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of 1 − cdf(x)."""
    x, loc, scale = promote_inexact(x, loc, scale)
    found = na.negative(na.divide(na.subtract(x, loc), scale))
    return na.where(na.less(x, loc), na.zeros_like(found), found)


def sf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    return na.exp(logsf(x, loc, scale))


def ppf(q: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `cdf`; NaN outside [0, 1]."""
    q, loc, scale = promote_inexact(q, loc, scale)
    is_outside = na.logical_or(na.less(q, 0), na.greater(q, 1))
    found = na.subtract(loc, na.multiply(scale, na.log1p(na.negative(q))))
    return na.where(is_outside, na.full_like(found, math.nan), found)
