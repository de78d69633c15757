"""The gamma distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-gamma
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Array, a: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density; −∞ below `loc`."""
    x, a, loc, scale = promote_inexact(x, a, loc, scale)
    is_inside = na.greater_equal(x, loc)
    y = na.divide(na.subtract(x, loc), scale)
    y = na.where(is_inside, y, na.ones_like(y))
    found = na.xlogy(a - 1.0, y) - y - na.lgamma(a) - na.log(scale)
    return na.where(is_inside, found, na.full_like(found, -math.inf))


def pdf(x: Array, a: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, a, loc, scale))


def _positive(x: Array, loc: Array, scale: Array) -> Array:
    y = na.divide(na.subtract(x, loc), scale)
    return na.where(na.greater(y, 0), y, na.zeros_like(y))


def cdf(x: Array, a: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    x, a, loc, scale = promote_inexact(x, a, loc, scale)
    return na.gammainc(a, _positive(x, loc, scale))


def logcdf(x: Array, a: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the distribution function."""
    return na.log(cdf(x, a, loc, scale))


def sf(x: Array, a: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    x, a, loc, scale = promote_inexact(x, a, loc, scale)
    return na.gammaincc(a, _positive(x, loc, scale))


def logsf(x: Array, a: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of 1 − cdf(x)."""
    return na.log(sf(x, a, loc, scale))
