"""The normal distribution between bounds, which are in units of `scale` from `loc`.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-truncnorm
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.frontends.jax.scipy.stats import norm
from nestarray.typing import Array

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def _log_mass(a: Array, b: Array) -> Array:
    """The logarithm of the normal distribution's mass between a and b."""
    is_left, is_right = na.less_equal(b, 0), na.greater(a, 0)
    low, high = na.where(is_right, -b, a), na.where(is_right, -a, b)
    smaller, larger = na.log_ndtr(low), na.log_ndtr(high)
    tail = larger + na.log1p(-na.exp(smaller - larger))
    central = na.log1p(-na.ndtr(a) - na.ndtr(-b))
    return na.where(na.logical_or(is_left, is_right), tail, central)


def logpdf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, a, b, loc, scale = promote_inexact(x, a, b, loc, scale)
    y = (x - loc) / scale
    found = norm.logpdf(x, loc, scale) - _log_mass(a, b)
    is_outside = na.logical_or(na.less(y, a), na.greater(y, b))
    found = na.where(is_outside, -math.inf, found)
    return na.where(na.greater_equal(a, b), math.nan, found)


def pdf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, a, b, loc, scale))


def logcdf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the distribution function."""
    x, a, b, loc, scale = promote_inexact(x, a, b, loc, scale)
    y = (x - loc) / scale
    mass = _log_mass(a, b)
    found = _log_mass(a, y) - mass
    is_near_one = na.greater(found, -0.1)
    found = na.where(is_near_one, na.log1p(-na.exp(_log_mass(y, b) - mass)), found)
    found = na.where(na.less_equal(y, a), -math.inf, found)
    found = na.where(na.greater_equal(y, b), 0.0, found)
    return na.where(na.greater_equal(a, b), math.nan, found)


def cdf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    return na.exp(logcdf(x, a, b, loc, scale))


def logsf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of 1 − cdf(x)."""
    x, a, b, loc, scale = promote_inexact(x, a, b, loc, scale)
    return logcdf(-x, -b, -a, -loc, scale)


def sf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    return na.exp(logsf(x, a, b, loc, scale))
