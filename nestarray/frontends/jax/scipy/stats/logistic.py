"""The logistic distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-logistic
"""

from __future__ import annotations

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "isf", "logpdf", "pdf", "ppf", "sf"]


def logpdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_inexact(x, loc, scale)
    half = (x - loc) / scale / 2
    return -2 * na.logaddexp(half, -half) - na.log(scale)


def pdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, loc, scale))


def cdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    x, loc, scale = promote_inexact(x, loc, scale)
    return na.sigmoid((x - loc) / scale)


def sf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    x, loc, scale = promote_inexact(x, loc, scale)
    return na.sigmoid((loc - x) / scale)


def ppf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `cdf`."""
    x, loc, scale = promote_inexact(x, loc, scale)
    return na.logit(x) * scale + loc


def isf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `sf`."""
    x, loc, scale = promote_inexact(x, loc, scale)
    return loc - na.logit(x) * scale
