"""torch.special, https://docs.pytorch.org/docs/stable/special.html."""

from __future__ import annotations

import math

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.bessel import *
from nestarray.frontends.torch.nn.functional.activation import log_softmax as log_softmax
from nestarray.frontends.torch.nn.functional.activation import softmax as softmax
from nestarray.frontends.torch.pointwise import exp2 as exp2
from nestarray.frontends.torch.pointwise import expm1 as expm1
from nestarray.frontends.torch.pointwise import log1p as log1p
from nestarray.frontends.torch.pointwise import round as round
from nestarray.frontends.torch.polynomials import *
from nestarray.frontends.torch.promotion import floating, promote_arrays
from nestarray.frontends.torch.reduction import logsumexp as logsumexp
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t",
    "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma",
    "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc",
    "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e",
    "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit",
    "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
    "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round",
    "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0", "xlog1py",
    "xlogy", "zeta",
]  # fmt: skip


def erf(input: Array) -> Array:
    """The error function."""
    return na.erf(floating(input))


def erfc(input: Array) -> Array:
    """1 − erf(x)."""
    return na.erfc(floating(input))


def erfinv(input: Array) -> Array:
    """The inverse of `erf`."""
    return na.erfinv(floating(input))


def gammaln(input: Array) -> Array:
    """ln |Γ(x)|."""
    return na.lgamma(floating(input))


def digamma(input: Array) -> Array:
    """The derivative of `gammaln`."""
    x = floating(input)
    at_zero = na.copysign(na.full_like(x, math.inf), na.negative(x))
    return na.where(na.equal(x, 0), at_zero, na.digamma(x))


def ndtr(input: Array) -> Array:
    """The probability of a normal variable below x."""
    x = floating(input)
    return na.multiply(na.erfc(na.multiply(x, -math.sqrt(0.5))), 0.5)


def ndtri(input: Array) -> Array:
    """The inverse of `ndtr`."""
    return na.ndtri(floating(input))


def logit(input: Array, eps: float | None = None) -> Array:
    """ln(x / (1 − x)), x limited to [eps, 1 − eps]."""
    x = floating(input)
    x = x if eps is None else na.clip(x, eps, 1 - eps)
    return na.subtract(na.log(x), na.log1p(na.negative(x)))


def expit(input: Array) -> Array:
    """1 / (1 + e⁻ˣ)."""
    return na.sigmoid(floating(input))


def sinc(input: Array) -> Array:
    """sin(πx) / πx, 1 at 0."""
    x = na.multiply(floating(input), math.pi)
    zero = na.equal(x, 0)
    safe = na.where(zero, na.ones_like(x), x)
    return na.where(zero, na.ones_like(x), na.divide(na.sin(safe), safe))


def entr(input: Array) -> Array:
    """−x ln x; 0 at 0, −∞ below."""
    return na.entr(floating(input))


def xlogy(input: Array | float, other: Array | float) -> Array:
    """x ln y, 0 where x is 0."""
    x, y = (floating(a) for a in promote_arrays(input, other))
    return na.xlogy(x, y)


def xlog1py(input: Array | float, other: Array | float) -> Array:
    """x ln(1 + y), 0 where x is 0."""
    x, y = (floating(a) for a in promote_arrays(input, other))
    return na.xlog1py(x, y)


def log_ndtr(input: Array) -> Array:
    """ln `ndtr`; by the asymptotic series far below 0, where `ndtr` would be 0."""
    x = floating(input)
    far = na.less(x, -8.0 if dtypes.dtype_of(x) is dtypes.float32 else -25.0)
    near = na.log(ndtr(na.where(far, na.zeros_like(x), x)))
    deep = na.where(far, x, na.full_like(x, -30.0))
    square = na.multiply(deep, deep)
    series = na.subtract(1.0, na.divide(na.subtract(1.0, na.divide(3.0, square)), square))
    tail = na.add(na.log(na.divide(series, na.negative(deep))), na.multiply(square, -0.5))
    return na.where(far, na.subtract(tail, 0.5 * math.log(2 * math.pi)), near)


def erfcx(input: Array) -> Array:
    """e^(x²) erfc(x), without underflow for large x."""
    return na.erfcx(floating(input))


def i0(input: Array) -> Array:
    """The modified Bessel function of order 0."""
    return na.i0(floating(input))


def i0e(input: Array) -> Array:
    """e^(−|x|) `i0`."""
    return na.i0e(floating(input))


def i1(input: Array) -> Array:
    """The modified Bessel function of order 1."""
    return na.i1(floating(input))


def i1e(input: Array) -> Array:
    """e^(−|x|) `i1`."""
    return na.i1e(floating(input))


def gammainc(input: Array, other: Array) -> Array:
    """The share of ∫ tᵃ⁻¹ e⁻ᵗ below x."""
    return na.gammainc(*(floating(a) for a in promote_arrays(input, other)))


def gammaincc(input: Array, other: Array) -> Array:
    """The share of ∫ tᵃ⁻¹ e⁻ᵗ above x."""
    return na.gammaincc(*(floating(a) for a in promote_arrays(input, other)))


def zeta(input: Array | float, other: Array | float) -> Array:
    """Σₖ (k + q)⁻ˣ, Hurwitz' zeta function."""
    return na.zeta(*(floating(a) for a in promote_arrays(input, other)))


def polygamma(n: int, input: Array) -> Array:
    """The n-th derivative of `digamma`."""
    x = floating(input)
    return digamma(x) if n == 0 else na.polygamma(n, x)


def multigammaln(input: Array, p: int) -> Array:
    """The logarithm of the multivariate Γ: Σᵢ ln Γ(x + (1 − i)/2) + p (p − 1)/4 ln π."""
    x = floating(input)
    total = na.full_like(x, p * (p - 1) / 4 * math.log(math.pi))
    for i in range(p):
        total = na.add(total, na.lgamma(na.subtract(x, i / 2)))
    return total


psi = digamma


_public_namespace(__name__)
