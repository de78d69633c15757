"""The χ² distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-chi2
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Array, df: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, df, loc, scale = promote_inexact(x, df, loc, scale)
    y, half = (x - loc) / scale, df / 2
    found = (half - 1) * na.log(y) - y / 2 - na.lgamma(half) - half * math.log(2)
    return na.where(na.less(x, loc), -math.inf, found - na.log(scale))


def pdf(x: Array, df: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, df, loc, scale))


def cdf(x: Array, df: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    x, df, loc, scale = promote_inexact(x, df, loc, scale)
    return na.gammainc(df / 2, na.maximum((x - loc) / (scale * 2), 0))


def logcdf(x: Array, df: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the distribution function."""
    return na.log(cdf(x, df, loc, scale))


def sf(x: Array, df: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    x, df, loc, scale = promote_inexact(x, df, loc, scale)
    return na.gammaincc(df / 2, na.maximum((x - loc) / (scale * 2), 0))


def logsf(x: Array, df: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of 1 − cdf(x)."""
    return na.log(sf(x, df, loc, scale))
