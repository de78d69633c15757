"""Student's t distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-t
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["logpdf", "pdf"]


def logpdf(x: Array, df: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The logarithm of the density."""
    x, df, loc, scale = promote_inexact(x, df, loc, scale)
    half = na.multiply(na.add(df, 1.0), 0.5)
    squares = na.square(na.divide(na.subtract(x, loc), scale))
    norm = na.log(scale) + 0.5 * na.log(df * math.pi) + na.lgamma(df * 0.5) - na.lgamma(half)
    return na.negative(na.add(norm, na.multiply(half, na.log1p(na.divide(squares, df)))))


def pdf(x: Array, df: Array, loc: Array = 0, scale: Array = 1) -> Array:
    """The density."""
    return na.exp(logpdf(x, df, loc, scale))
