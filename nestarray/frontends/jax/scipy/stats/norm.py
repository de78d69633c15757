"""The normal distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-norm
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
    squares = na.square(na.divide(na.subtract(x, loc), scale))
    return -0.5 * (squares + math.log(2 * math.pi)) - na.log(scale)


def pdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, loc, scale))


def _standard(x: Array, loc: Array, scale: Array) -> Array:
    x, loc, scale = promote_inexact(x, loc, scale)
    return na.divide(na.subtract(x, loc), scale)


def cdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    return na.ndtr(_standard(x, loc, scale))


def logcdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the distribution function."""
    return na.log_ndtr(_standard(x, loc, scale))


def sf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """1 − cdf(x)."""
    return na.ndtr(na.negative(_standard(x, loc, scale)))


def logsf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of 1 − cdf(x)."""
    return na.log_ndtr(na.negative(_standard(x, loc, scale)))


def ppf(q: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `cdf`."""
    q, loc, scale = promote_inexact(q, loc, scale)
    return na.add(na.multiply(na.ndtri(q), scale), loc)


def isf(q: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The inverse of `sf`."""
    q, loc, scale = promote_inexact(q, loc, scale)
    return na.add(na.multiply(na.ndtri(na.subtract(1.0, q)), scale), loc)
