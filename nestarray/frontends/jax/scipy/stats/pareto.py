"""The Pareto distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-pareto
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, b, loc, scale = promote_inexact(x, b, loc, scale)
    found = na.log(b / scale) - (b + 1) * na.log((x - loc) / scale)
    return na.where(na.less(x, loc + scale), -math.inf, found)


def pdf(x: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, b, loc, scale))


def cdf(x: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    x, b, loc, scale = promote_inexact(x, b, loc, scale)
    found = 1 - na.pow((x - loc) / scale, -b)
    return na.where(na.less(x, loc + scale), 0.0, found)


def logcdf(x: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the distribution function."""
    x, b, loc, scale = promote_inexact(x, b, loc, scale)
    found = na.log1p(-na.pow((x - loc) / scale, -b))
    return na.where(na.less(x, loc + scale), -math.inf, found)


def sf(x: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    return na.exp(logsf(x, b, loc, scale))


def logsf(x: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of 1 − cdf(x)."""
    x, b, loc, scale = promote_inexact(x, b, loc, scale)
    found = -b * na.log((x - loc) / scale)
    return na.where(na.less(x, loc + scale), 0.0, found)


def ppf(q: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `cdf`."""
    q, b, loc, scale = promote_inexact(q, b, loc, scale)
    found = loc + scale * na.pow(1 - q, -1 / b)
    is_inside = na.logical_and(na.greater_equal(q, 0), na.less_equal(q, 1))
    return na.where(is_inside, found, math.nan)
