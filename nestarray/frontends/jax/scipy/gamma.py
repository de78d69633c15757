"""The gamma function and functions made of it.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.special
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax import lax
from nestarray.frontends.jax.promotion import inexact, promote_inexact
from nestarray.typing import Array

__all__ = [
    "beta", "betaln", "comb", "digamma", "factorial", "gamma", "gammaln", "gammasgn", "loggamma",
    "poch",
]  # fmt: skip


def gammaln(x: Array) -> Array:
    """ln \\|Γ(x)\\|."""
    return na.lgamma(inexact(x))


def loggamma(x: Array) -> Array:
    """ln Γ(x) of real numbers; NaN where Γ is negative.

    Raises:
        ArgumentError: x is complex.
    """
    x = inexact(x)
    if dtypes.dtype_of(x).kind == "complex":
        raise ArgumentError(f"loggamma: x: got {dtypes.dtype_of(x)}, expected real numbers")
    return na.where(na.less(gammasgn(x), 0), na.full_like(x, math.nan), na.lgamma(x))


def gammasgn(x: Array) -> Array:
    """The sign of Γ(x); NaN at its negative poles and at NaN."""
    x = inexact(x)
    whole, is_negative = na.floor(x), na.less(x, 0)
    is_odd = na.logical_and(is_negative, na.not_equal(na.remainder(whole, 2.0), 0))
    is_odd = na.logical_or(is_odd, na.logical_and(na.equal(x, 0), na.signbit(x)))
    sign = na.where(is_odd, na.full_like(x, -1), na.ones_like(x))
    is_pole = na.logical_or(na.isnan(x), na.logical_and(is_negative, na.equal(x, whole)))
    return na.where(is_pole, na.full_like(x, math.nan), sign)


def gamma(x: Array) -> Array:
    """Γ(x)."""
    x = inexact(x)
    return na.multiply(na.stop_gradient(gammasgn(x)), na.exp(na.lgamma(x)))


def factorial(n: Array, exact: bool = False) -> Array:
    """Γ(n + 1); 0 of negative numbers."""
    if exact:
        raise UnsupportedError("factorial: exact: got True, expected False, as upstream")
    n = inexact(n)
    return na.where(na.less(n, 0), na.zeros_like(n), na.exp(na.lgamma(na.add(n, 1))))


def comb(N: Array, k: Array, *, repetition: bool = False) -> Array:
    """The number of subsets of k elements of N."""
    N, k = promote_inexact(N, k)
    if repetition:
        return comb(na.subtract(na.add(N, k), 1), k)
    log = (
        na.lgamma(na.add(N, 1)) - na.lgamma(na.add(k, 1)) - na.lgamma(na.add(na.subtract(N, k), 1))
    )
    is_defined = na.logical_and(na.greater_equal(k, 0), na.less_equal(k, N))
    is_defined = na.logical_and(is_defined, na.greater_equal(N, 0))
    return na.where(is_defined, na.exp(log), na.zeros_like(log))


def digamma(x: Array) -> Array:
    """The derivative of ln Γ(x); NaN at 0 and at negative integers."""
    return lax.digamma(inexact(x))


def poch(z: Array, m: Array) -> Array:
    """Γ(z + m) / Γ(z)."""
    z, m = promote_inexact(z, m)
    found = na.divide(gamma(na.add(z, m)), gamma(z))
    return na.where(na.equal(m, 0), na.ones_like(found), found)


def betaln(a: Array, b: Array) -> Array:
    """ln B(a, b)."""
    a, b = promote_inexact(a, b)
    return na.subtract(na.add(na.lgamma(a), na.lgamma(b)), na.lgamma(na.add(a, b)))


def beta(a: Array, b: Array) -> Array:
    """B(a, b) = Γ(a) Γ(b) / Γ(a + b)."""
    a, b = promote_inexact(a, b)
    sign = na.multiply(na.multiply(gammasgn(a), gammasgn(b)), gammasgn(na.add(a, b)))
    return na.multiply(na.stop_gradient(sign), na.exp(betaln(a, b)))
