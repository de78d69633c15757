"""The Laplace distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-laplace
"""

from __future__ import annotations

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logpdf", "pdf"]


def logpdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, loc, scale = promote_inexact(x, loc, scale)
    distance = na.divide(na.abs(na.subtract(x, loc)), scale)
    return na.negative(na.add(distance, na.log(na.multiply(scale, 2.0))))


def pdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, loc, scale))


def cdf(x: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The distribution function."""
    x, loc, scale = promote_inexact(x, loc, scale)
    z = na.divide(na.subtract(x, loc), scale)
    tail = na.multiply(na.exp(na.negative(na.abs(z))), 0.5)
    return na.where(na.less_equal(z, 0), tail, na.subtract(1.0, tail))
