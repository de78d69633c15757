"""The von Mises distribution of angles.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-vonmises
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["logpdf", "pdf"]


def logpdf(x: Array, kappa: Array) -> Array:
    """The logarithm of the density."""
    x, kappa = promote_inexact(x, kappa)
    found = kappa * (na.cos(x) - 1) - na.log(2 * math.pi * na.i0e(kappa))
    return na.where(na.greater(kappa, 0), found, math.nan)


def pdf(x: Array, kappa: Array) -> Array:
    """The density."""
    return na.exp(logpdf(x, kappa))
