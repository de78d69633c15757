"""The generalized normal distribution, of density proportional to exp(−|x|^β).

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-gennorm
"""

from __future__ import annotations

import nestarray as na
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["cdf", "logpdf", "pdf"]


def logpdf(x: Array, beta: Array) -> Array:
    """The logarithm of the density."""
    x, beta = promote_inexact(x, beta)
    return na.log(beta / 2) - na.lgamma(1 / beta) - na.pow(na.abs(x), beta)


def pdf(x: Array, beta: Array) -> Array:
    """The density."""
    return na.exp(logpdf(x, beta))


def cdf(x: Array, beta: Array) -> Array:
    """The distribution function."""
    x, beta = promote_inexact(x, beta)
    return (na.sign(x) * na.gammainc(1 / beta, na.pow(na.abs(x), beta)) + 1) / 2
