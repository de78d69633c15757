"""The multivariate normal distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-multivariate-normal
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.numpy import linalg
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["logpdf", "pdf"]


def logpdf(x: Array, mean: Array, cov: Array, allow_singular: None = None) -> Array:
    """The logarithm of the density; `cov` is a matrix, or the variance of each element."""
    if allow_singular is not None:
        raise ArgumentError("logpdf: allow_singular: expected None, as upstream")
    x, mean, cov = promote_inexact(x, mean, cov)
    difference = na.subtract(x, mean)
    constant = math.log(2 * math.pi)
    if not na.shape(mean) or not na.shape(cov):
        squares = na.divide(na.square(difference), cov)
        size = na.shape(x)[-1] if na.shape(x) and na.shape(mean) else 1
        total = na.sum(squares, axis=-1) if na.shape(mean) else squares
        return -0.5 * (total + size * (constant + na.log(cov)))
    size = na.shape(mean)[-1]
    factor = linalg.cholesky(cov)
    solved = na.solve_triangular(factor, na.expand_dims(difference, -1))
    squares = na.sum(na.square(na.squeeze(solved, axis=-1)), axis=-1)
    logarithms = na.sum(na.log(na.diagonal(factor)), axis=-1)
    return -0.5 * squares - size / 2 * constant - logarithms


def pdf(x: Array, mean: Array, cov: Array) -> Array:
    """The density."""
    return na.exp(logpdf(x, mean, cov))
