"""The wrapped Cauchy distribution of angles from 0 to 2π.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-wrapcauchy
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["logpdf", "pdf"]


def logpdf(x: Array, c: Array) -> Array:
    """The logarithm of the density."""
    x, c = promote_inexact(x, c)
    found = na.log1p(-c * c) - math.log(2 * math.pi) - na.log1p(c * c - 2 * c * na.cos(x))
    is_inside = na.logical_and(na.greater_equal(x, 0), na.less_equal(x, 2 * math.pi))
    found = na.where(is_inside, found, -math.inf)
    is_defined = na.logical_and(na.greater(c, 0), na.less(c, 1))
    return na.where(is_defined, found, math.nan)


def pdf(x: Array, c: Array) -> Array:
    """The density."""
    return na.exp(logpdf(x, c))
