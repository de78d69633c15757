"""The Cauchy distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-cauchy
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_inexact(x, loc, scale)
    y = (x - loc) / scale
    return -na.log(math.pi * scale) - na.log1p(y * y)


def pdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, loc, scale))


def cdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    x, loc, scale = promote_inexact(x, loc, scale)
    return na.atan((x - loc) / scale) / math.pi + 0.5


def logcdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the distribution function."""
    return na.log(cdf(x, loc, scale))


def sf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    x, loc, scale = promote_inexact(x, loc, scale)
    return cdf(-x, -loc, scale)


def logsf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of 1 − cdf(x)."""
    x, loc, scale = promote_inexact(x, loc, scale)
    return logcdf(-x, -loc, scale)


def isf(q: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `sf`."""
    q, loc, scale = promote_inexact(q, loc, scale)
    return loc + scale * na.tan(math.pi / 2 - math.pi * q)


def ppf(q: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `cdf`."""
    q, loc, scale = promote_inexact(q, loc, scale)
    return loc + scale * na.tan(math.pi * q - math.pi / 2)
