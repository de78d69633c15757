"""The Dirichlet distribution.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#jax-scipy-stats-dirichlet
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["logpdf", "pdf"]


def logpdf(x: Array, alpha: Array) -> Array:
    """The logarithm of the density of x `(n, …)` or `(n - 1, …)`; −∞ if it does not sum to 1."""
    x, alpha = promote_inexact(x, alpha)
    count = na.shape(alpha)[0] if len(na.shape(alpha)) == 1 else None
    if count is None:
        raise ArgumentError(f"dirichlet: alpha: got {len(na.shape(alpha))} axes, expected one")
    if na.shape(x)[0] not in (count, count - 1):
        raise ArgumentError(
            f"dirichlet: x: got {na.shape(x)[0]} along the first axis, expected {count} or {count - 1}"
        )
    if na.shape(x)[0] != count:
        x = na.concat([x, 1 - na.sum(x, axis=0, keepdims=True)])
    constant = na.lgamma(na.sum(alpha)) - na.sum(na.lgamma(alpha))
    weights = na.reshape(alpha - 1, (count, *[1] * (len(na.shape(x)) - 1)))
    found = na.sum(na.xlogy(weights, x), axis=0) + constant
    is_one = na.less(na.abs(na.sum(x, axis=0) - 1), 1e-6)
    is_inside = na.logical_and(na.all(na.greater(x, 0), axis=0), is_one)
    return na.where(is_inside, found, -math.inf)


def pdf(x: Array, alpha: Array) -> Array:
    """The density."""
    return na.exp(logpdf(x, alpha))
