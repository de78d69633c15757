"""The beta distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-beta
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.frontends.jax.scipy import special
from nestarray.typing import Array

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density; −∞ outside [loc, loc + scale]."""
    x, a, b, loc, scale = promote_inexact(x, a, b, loc, scale)
    y = na.divide(na.subtract(x, loc), scale)
    powers = na.add(na.xlogy(a - 1.0, y), na.xlog1py(b - 1.0, na.negative(y)))
    found = powers - special.betaln(a, b) - na.log(scale)
    is_outside = na.logical_or(na.greater(x, na.add(loc, scale)), na.less(x, loc))
    return na.where(is_outside, na.full_like(found, -math.inf), found)


def pdf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, a, b, loc, scale))


def cdf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    x, a, b, loc, scale = promote_inexact(x, a, b, loc, scale)
    return na.betainc(a, b, na.clip(na.divide(na.subtract(x, loc), scale), 0.0, 1.0))


def logcdf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the distribution function."""
    return na.log(cdf(x, a, b, loc, scale))


def sf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    x, a, b, loc, scale = promote_inexact(x, a, b, loc, scale)
    y = na.clip(na.divide(na.subtract(x, loc), scale), 0.0, 1.0)
    return na.betainc(b, a, na.subtract(1.0, y))


def logsf(x: Array, a: Array, b: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of 1 − cdf(x)."""
    return na.log(sf(x, a, b, loc, scale))
