"""The distribution of minima, of Gumbel.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-gumbel-l
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def _defined(scale: Array, value: Array) -> Array:
    """`value`, NaN where `scale` is not positive."""
    return na.where(na.greater(scale, 0), value, math.nan)


def _quantile(p: Array, value: Array) -> Array:
    """`value`, NaN where p is not a probability between 0 and 1."""
    return na.where(na.logical_and(na.greater(p, 0), na.less(p, 1)), value, math.nan)


def logpdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_inexact(x, loc, scale)
    z = (x - loc) / scale
    return _defined(scale, z - na.exp(z) - na.log(scale))


def pdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, loc, scale))


def logcdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the distribution function."""
    x, loc, scale = promote_inexact(x, loc, scale)
    return _defined(scale, na.log(-na.expm1(-na.exp((x - loc) / scale))))


def cdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    return na.exp(logcdf(x, loc, scale))


def ppf(p: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `cdf`."""
    p, loc, scale = promote_inexact(p, loc, scale)
    return _quantile(p, loc + scale * na.log(-na.log1p(-p)))


def sf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    return na.exp(logsf(x, loc, scale))


def logsf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of 1 − cdf(x)."""
    x, loc, scale = promote_inexact(x, loc, scale)
    return _defined(scale, -na.exp((x - loc) / scale))
