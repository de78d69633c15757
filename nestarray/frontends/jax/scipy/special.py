"""Special functions.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.special
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax import nn
from nestarray.frontends.jax.promotion import inexact, promote_inexact
from nestarray.frontends.jax.scipy.gamma import (
    beta,
    betaln,
    comb,
    digamma,
    factorial,
    gamma,
    gammaln,
    gammasgn,
    loggamma,
    poch,
)
from nestarray.frontends.jax.scipy.hypergeometric import hyp1f1, hyp2f1
from nestarray.frontends.jax.scipy.integrals import (
    dawsn,
    exp1,
    expi,
    expn,
    fresnel,
    owens_t,
    sici,
    spence,
    wofz,
)
from nestarray.typing import Array

__all__ = [
    "bernoulli", "bessel_jn", "beta", "betainc", "betaln", "boxcox", "boxcox1p", "comb", "dawsn",
    "digamma", "entr", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp1", "expi", "expit", "expn",
    "factorial", "fresnel", "gamma", "gammainc", "gammaincc", "gammaln",
    "gammasgn", "hyp1f1", "hyp2f1", "i0", "i0e", "i1", "i1e", "kl_div", "log_ndtr", "log_softmax", "loggamma", "logit",
    "logsumexp", "multigammaln", "ndtr", "ndtri", "owens_t", "poch", "polygamma", "rel_entr", "sici",
    "softmax", "spence", "sph_harm_y", "wofz", "xlog1py", "xlogy", "zeta",
]  # fmt: skip

erf, erfc, erfcx, erfinv = na.erf, na.erfc, na.erfcx, na.erfinv
i0, i0e, i1, i1e = na.i0, na.i0e, na.i1, na.i1e
expit, ndtr, entr = na.sigmoid, na.ndtr, na.entr
logsumexp = nn.logsumexp


def erfcinv(y: Array) -> Array:
    """The inverse of `erfc`: −Φ⁻¹(y / 2) / √2."""
    (y,) = promote_inexact(y)
    return na.multiply(na.ndtri(na.multiply(y, 0.5)), -math.sqrt(0.5))


def betainc(a: Array, b: Array, x: Array) -> Array:
    """The regularized incomplete beta function."""
    return na.betainc(*promote_inexact(a, b, x))


def gammainc(a: Array, x: Array) -> Array:
    """The regularized lower incomplete gamma function."""
    return na.gammainc(*promote_inexact(a, x))


def gammaincc(a: Array, x: Array) -> Array:
    """The regularized upper incomplete gamma function."""
    return na.gammaincc(*promote_inexact(a, x))


def multigammaln(a: Array, d: int) -> Array:
    """The logarithm of the multivariate gamma function."""
    return na.multigammaln(inexact(a), p=d)


def polygamma(n: Array, x: Array) -> Array:
    """The n-th derivative of `digamma`."""
    n, x = promote_inexact(n, x)
    order = na.add(n, 1)
    sign = na.where(na.equal(na.remainder(order, 2), 0), na.ones_like(n), na.full_like(n, -1))
    factor = na.multiply(sign, na.exp(na.lgamma(order)))
    at_zero = na.equal(n, 0)
    safe = na.where(at_zero, na.full_like(order, 2), order)
    return na.where(at_zero, na.digamma(x), na.multiply(factor, na.zeta(safe, x)))


def zeta(x: Array, q: Array | None = None) -> Array:
    """The Hurwitz zeta function."""
    if q is None:
        raise UnsupportedError("zeta: q: got None, expected an array, as upstream")
    return na.zeta(*promote_inexact(x, q))


def logit(x: Array) -> Array:
    """ln(x / (1 − x))."""
    return na.logit(inexact(x))


def log_ndtr(x: Array, series_order: int = 3) -> Array:
    """The logarithm of the normal distribution function."""
    return na.log_ndtr(inexact(x))


def ndtri(p: Array) -> Array:
    """The quantile function of the normal distribution."""
    return na.ndtri(inexact(p))


def xlogy(x: Array, y: Array) -> Array:
    """x ln y; 0 where x = 0."""
    return na.xlogy(*promote_inexact(x, y))


def xlog1py(x: Array, y: Array) -> Array:
    """x ln(1 + y); 0 where x = 0."""
    return na.xlog1py(*promote_inexact(x, y))


def rel_entr(p: Array, q: Array) -> Array:
    """p ln(p / q); ∞ where it is not defined."""
    p, q = promote_inexact(p, q)
    is_both, is_none = _signs(p, q)
    safe_p, safe_q = (na.where(is_both, x, na.ones_like(x)) for x in (p, q))
    found = na.multiply(safe_p, na.subtract(na.log(safe_p), na.log(safe_q)))
    is_missing = na.isnan(na.add(p, q))
    rest = na.where(is_none, 0.0, na.where(is_missing, math.nan, na.full_like(found, math.inf)))
    return na.where(is_both, found, rest)


def _signs(p: Array, q: Array) -> tuple[Array, Array]:
    """(whether both are positive, whether p is 0 and q is not negative)."""
    is_both = na.logical_and(na.greater(p, 0), na.greater(q, 0))
    return is_both, na.logical_and(na.equal(p, 0), na.greater_equal(q, 0))


def kl_div(p: Array, q: Array) -> Array:
    """p ln(p / q) − p + q; ∞ where it is not defined."""
    p, q = promote_inexact(p, q)
    return na.add(na.subtract(rel_entr(p, q), p), q)


def boxcox(x: Array, lmbda: Array) -> Array:
    """(x^lmbda − 1) / lmbda; ln x for lmbda = 0."""
    x, lmbda = promote_inexact(x, lmbda)
    return _boxcox(na.log(x), lmbda)


def boxcox1p(x: Array, lmbda: Array) -> Array:
    """`boxcox` of 1 + x."""
    x, lmbda = promote_inexact(x, lmbda)
    return _boxcox(na.log1p(x), lmbda)


def _boxcox(log: Array, lmbda: Array) -> Array:
    is_zero = na.equal(lmbda, 0)
    safe = na.where(is_zero, na.ones_like(lmbda), lmbda)
    return na.where(is_zero, log, na.divide(na.expm1(na.multiply(safe, log)), safe))


def softmax(x: Array, /, *, axis: Any = None) -> Array:
    """Exponentials divided by their sum."""
    return nn.softmax(x, axis)


def log_softmax(x: Array, /, *, axis: Any = None) -> Array:
    """The logarithm of `softmax`."""
    return nn.log_softmax(x, axis)


def bernoulli(n: int) -> Array:
    """The Bernoulli numbers B₀ to Bₙ."""
    if n < 0:
        raise ArgumentError(f"bernoulli: n: got {n}, expected a number from 0")
    found = [Fraction(1)]
    for m in range(1, n + 1):
        total = sum([math.comb(m + 1, k) * b for k, b in enumerate(found)], Fraction(0))
        found.append(-total / (m + 1))
    return na.asarray(np.asarray([float(b) for b in found], "float32"))


def bessel_jn(z: Array, *, v: int, n_iter: int = 50) -> Array:
    """The Bessel functions J₀ to J_v, along a new first axis, by recurrence from order `n_iter`."""
    z = inexact(z)
    if dtypes.dtype_of(z).kind == "complex":
        raise ArgumentError(f"bessel_jn: z: got {dtypes.dtype_of(z)}, expected real numbers")
    upper, current = na.zeros_like(z), na.full_like(z, 1e-16)
    total, found = na.zeros_like(z), []
    for k in range(n_iter, -1, -1):
        upper, current = current, 2.0 * (k + 1.0) * current / z - upper
        total = total + 2.0 * current if k % 2 == 0 else total
        if k <= v:
            found.append(current)
    return na.stack(found[::-1]) / (total - current)


def sph_harm_y(
    n: Array,
    m: Array,
    theta: Array,
    phi: Array,
    diff_n: int | None = None,
    n_max: int | None = None,
) -> Array:
    """The spherical harmonics of degrees n and orders m at polar θ and azimuthal φ, complex.

    Args:
        n, m, theta, phi: `(points,)`.
        diff_n: None.
        n_max: the largest degree; by default that in `n`.
    """
    if diff_n is not None:
        raise UnsupportedError(f"sph_harm_y: diff_n: got {diff_n}, expected None")
    n_max = int(na.max(n)) if n_max is None else n_max
    theta, phi = inexact(theta), inexact(phi)
    order = na.abs(m)
    x, y = na.cos(theta), na.sin(theta)
    size = na.zeros_like(x)
    diagonal = na.full_like(x, math.sqrt(1 / (4 * math.pi)))  # of degree = order, normalized
    for k in range(n_max + 1):
        previous, current = na.zeros_like(x), diagonal
        for degree in range(k, n_max + 1):
            is_wanted = na.logical_and(na.equal(n, degree), na.equal(order, k))
            size = na.where(is_wanted, current, size)
            up = math.sqrt((2 * degree + 3) / ((degree + 1) ** 2 - k * k))
            step = up * math.sqrt(2 * degree + 1) * x * current
            if degree > k:
                ratio = math.sqrt((degree * degree - k * k) / (2 * degree - 1))
                step = step - up * ratio * previous
            previous, current = current, step
        diagonal = -math.sqrt((2 * k + 3) / (2 * k + 2)) * y * diagonal
    is_negative = na.logical_and(na.less(m, 0), na.equal(na.remainder(order, 2), 1))
    size = na.where(is_negative, -size, size)
    angle = na.astype(m, dtypes.dtype_of(phi)) * phi
    return na.complex(size * na.cos(angle), size * na.sin(angle))
