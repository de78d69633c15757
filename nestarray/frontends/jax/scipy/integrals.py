"""Special functions defined by integrals.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.special
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.promotion import inexact, promote_inexact
from nestarray.typing import Array

__all__ = ["dawsn", "exp1", "expi", "expn", "fresnel", "owens_t", "sici", "spence", "wofz"]


def _real(name: str, x: Array) -> Array:
    x = inexact(x)
    if dtypes.dtype_of(x).kind == "complex":
        raise ArgumentError(f"{name}: x: got {dtypes.dtype_of(x)}, expected real numbers")
    return x


# -- exponential integrals -------------------------------------------------------------------


def _continued(n: Array, x: Array) -> Array:
    """eˣ Eₙ(x) for x ≥ 1 by its continued fraction, from the end.

    References:
        https://dlmf.nist.gov/8.19#v
    """
    found = x + n + 160.0
    for k in range(80, 0, -1):
        found = x + n + 2.0 * (k - 1) - k * (n + k - 1.0) / found
    return 1.0 / found


def _log_series(x: Array) -> Array:
    """Σ (−1)ᵏ⁺¹ xᵏ / (k k!), for \\|x\\| up to 1."""
    total, power = na.zeros_like(x), na.ones_like(x)
    for k in range(1, 22):
        power = power * x / k
        total = total + (power if k % 2 else -power) / k
    return total


def exp1(x: Array) -> Array:
    """E₁(x) = ∫ₓ^∞ e⁻ᵗ / t dt; NaN below 0."""
    x = _real("exp1", x)
    low, high = na.clip(x, 1e-37, 1.0), na.maximum(x, 1.0)
    near = _log_series(low) - na.log(low) - np.euler_gamma
    far = na.exp(-high) * _continued(na.ones_like(x), high)
    found = na.where(na.less(x, 1), near, far)
    found = na.where(na.equal(x, 0), math.inf, found)
    return na.where(na.less(x, 0), math.nan, found)


def expn(n: Array, x: Array) -> Array:
    """Eₙ(x) = ∫₁^∞ e⁻ˣᵗ / tⁿ dt for whole n ≥ 0; NaN below 0, 1 / (n − 1) at 0 (upstream 1 / n)."""
    n, x = promote_inexact(n, x)
    x = _real("expn", x)
    low, high = na.clip(x, 1e-37, 1.0), na.maximum(x, 1.0)
    far = na.exp(-high) * _continued(n, high)
    # the series at n, without the term of degree n − 1, which is logarithmic
    total = na.zeros_like(low + n)
    power = na.ones_like(total)
    harmonic = na.zeros_like(total)
    for k in range(28):
        power = power if k == 0 else -power * low / k
        is_log = na.equal(n, k + 1.0)
        gap = na.where(is_log, 1.0, k + 1.0 - n)
        harmonic = harmonic + (1.0 / k if k else 0.0)
        logarithm = power * (harmonic - np.euler_gamma - na.log(low))
        total = total + na.where(is_log, logarithm, -power / gap)
    large = _continued(n, low) * na.exp(-low)  # the fraction converges for large n
    near = na.where(na.greater(n, 26), large, total)
    found = na.where(na.less(x, 1), near, far)
    at_zero = na.where(na.less(n, 2), math.inf, 1.0 / na.where(na.equal(n, 1), 2.0, n - 1.0))
    found = na.where(na.equal(x, 0), at_zero, found)
    is_outside = na.logical_or(na.less(n, 0), na.less(x, 0))
    found = na.where(na.equal(n, 0), na.exp(-x) / na.where(na.equal(x, 0), 1e-37, x), found)
    found = na.where(na.logical_and(na.equal(n, 0), na.equal(x, 0)), math.inf, found)
    return na.where(is_outside, math.nan, found)


def expi(x: Array) -> Array:
    """Ei(x) = −∫₋ₓ^∞ e⁻ᵗ / t dt, the principal value for positive x."""
    x = _real("expi", x)
    size = na.abs(x)
    negative = -exp1(size)
    near = na.clip(size, 1e-37, 40.0)
    total, power = na.zeros_like(x), na.ones_like(x)
    for k in range(1, 121):
        power = power * near / k
        total = total + power / k
    series = np.euler_gamma + na.log(near) + total
    far = na.maximum(size, 40.0)
    rest, term = na.ones_like(x), na.ones_like(x)
    for k in range(1, 30):
        term = term * k / far
        rest = rest + term
    asymptotic = na.exp(far - na.log(far)) * rest
    positive = na.where(na.less(size, 40), series, asymptotic)
    found = na.where(na.less(x, 0), negative, positive)
    return na.where(na.equal(x, 0), -math.inf, found)


# -- the error function of complex numbers ---------------------------------------------------


def _weideman(count: int) -> tuple[float, Sequence[float]]:
    """(L, coefficients from the highest) of a rational approximation of w.

    References:
        Weideman: Computation of the complex error function, https://doi.org/10.1137/0731077
    """
    size = 2 * count
    places = np.arange(1 - size, size)
    scale = math.sqrt(count / math.sqrt(2))
    t = scale * np.tan(places * np.pi / (2 * size))
    values = np.concatenate([[0.0], np.exp(-(t**2)) * (scale**2 + t**2)])
    coefficients = np.real(np.fft.fft(np.fft.fftshift(values))) / (2 * size)
    return scale, coefficients[1 : count + 1][::-1].tolist()


_SCALE, _COEFFICIENTS = _weideman(40)


def _upper(z: Array) -> Array:
    """w(z) in the upper half plane."""
    iz = z * 1j
    bottom = 1.0 / (_SCALE - iz)
    ratio = (_SCALE + iz) * bottom
    total = na.zeros_like(z)
    for a in _COEFFICIENTS:
        total = total * ratio + a
    return 2.0 * total * bottom * bottom + bottom / math.sqrt(math.pi)


def wofz(z: Array) -> Array:
    """The Faddeeva function w(z) = exp(−z²) erfc(−iz)."""
    z = inexact(z)
    if dtypes.dtype_of(z).kind != "complex":
        z = na.complex(z, na.zeros_like(z))
    is_low = na.less(na.imag(z), 0)
    found = _upper(na.where(is_low, -z, z))
    low = na.where(is_low, z, na.zeros_like(z))
    return na.where(is_low, 2.0 * na.exp(-low * low) - found, found)


def dawsn(x: Array) -> Array:
    """Dawson's integral, exp(−x²) ∫₀ˣ exp(t²) dt."""
    x = _real("dawsn", x)
    small = na.where(na.less(na.abs(x), 0.2), x, na.zeros_like(x))
    square = small * small
    near = small * (
        1 - square * (2 / 3 - square * (4 / 15 - square * (8 / 105 - square * 16 / 945)))
    )
    finite = na.where(na.isinf(x), 0.0, x)  # with the value of ∞, 0
    far = na.imag(wofz(finite)) * (math.sqrt(math.pi) / 2)
    return na.where(na.less(na.abs(x), 0.2), near, far)


def fresnel(x: Array) -> tuple[Array, Array]:
    """(S, C): ∫₀ˣ sin(π t² / 2) dt and ∫₀ˣ cos(π t² / 2) dt."""
    x = _real("fresnel", x)
    size = na.abs(x)
    small = na.minimum(size, 1.0)
    square = (math.pi / 2 * small * small) * (math.pi / 2 * small * small)
    s, c, term = na.zeros_like(x), na.zeros_like(x), na.ones_like(x)
    for k in range(12):  # the series of both, in powers of square
        c = c + term / (4 * k + 1)
        s = s + term / ((2 * k + 1) * (4 * k + 3))
        term = -term * square / ((2 * k + 1) * (2 * k + 2))
    c, s = c * small, s * small * (math.pi / 2 * small * small)
    # C + iS = (1 + i) / 2 · (1 − exp(iπx²/2) w(i z)), z = √π/2 (1 − i) x
    big = na.maximum(size, 1.0)
    half = big * (math.sqrt(math.pi) / 2)
    inside = _upper(na.complex(half, half))
    turn = na.remainder(big * big, 4.0) * (math.pi / 2)
    wave = na.complex(na.cos(turn), na.sin(turn)) * inside
    whole = (1.0 - wave) * (0.5 + 0.5j)
    sign = na.sign(x)
    is_small = na.less(size, 1)
    found_s = na.where(is_small, s, na.imag(whole)) * sign
    found_c = na.where(is_small, c, na.real(whole)) * sign
    limit = 0.5 * sign
    is_infinite = na.isinf(x)
    return na.where(is_infinite, limit, found_s), na.where(is_infinite, limit, found_c)


# -- others ----------------------------------------------------------------------------------


def sici(x: Array) -> tuple[Array, Array]:
    """(Si, Ci): ∫₀ˣ sin(t) / t dt and γ + ln \\|x\\| + ∫₀ˣ (cos(t) − 1) / t dt."""
    x = _real("sici", x)
    size = na.abs(x)
    small = na.clip(size, 1e-37, 4.0)
    square = small * small
    si, ci, term = na.zeros_like(x), na.zeros_like(x), na.ones_like(x)
    for k in range(20):  # term: (−1)ᵏ x²ᵏ / (2k)!
        si = si + term / (2 * k + 1) ** 2
        term = -term * square / ((2 * k + 1) * (2 * k + 2))
        ci = ci + term / (2 * k + 2)
    si = si * small
    ci = np.euler_gamma + na.log(small) + ci
    # E₁(ix) = −Ci(x) + i (Si(x) − π/2)
    big = na.maximum(size, 4.0)
    z = na.complex(na.zeros_like(big), big)
    tail = _continued(na.ones_like(z), z) * na.complex(na.cos(big), -na.sin(big))
    is_small = na.less(size, 4)
    found_si = na.where(is_small, si, na.imag(tail) + math.pi / 2) * na.sign(x)
    found_ci = na.where(is_small, ci, -na.real(tail))
    found_si = na.where(na.isinf(x), na.sign(x) * (math.pi / 2), found_si)
    found_ci = na.where(na.isinf(x), 0.0, found_ci)
    found_ci = na.where(na.equal(x, 0), -math.inf, found_ci)
    return found_si, found_ci


def _dilogarithm(z: Array) -> Array:
    """Σ zᵏ / k², for \\|z\\| up to ½."""
    total, power = na.zeros_like(z), na.ones_like(z)
    for k in range(1, 48):
        power = power * z
        total = total + power / k**2
    return total


def spence(x: Array) -> Array:
    """∫₁ˣ ln(t) / (1 − t) dt, Li₂(1 − x); NaN below 0."""
    x = _real("spence", x)
    is_large = na.greater(x, 1.5)
    y = na.where(is_large, 1.0 / na.where(is_large, x, 1.0), x)
    is_small = na.less(y, 0.5)
    middle = _dilogarithm(na.where(is_small, y, 1.0 - y))
    safe = na.where(na.logical_and(is_small, na.greater(y, 0)), y, 0.5)
    product = na.where(na.equal(y, 0), 0.0, na.log(safe) * na.log1p(-safe))
    found = na.where(is_small, math.pi**2 / 6 - product - middle, middle)
    logarithm = na.log(na.where(is_large, x, 1.0))
    found = na.where(is_large, -found - 0.5 * logarithm * logarithm, found)
    return na.where(na.less(x, 0), math.nan, found)


def owens_t(h: Array, a: Array) -> Array:
    """Owen's T, 1/(2π) ∫₀ᵃ exp(−h² (1 + t²) / 2) / (1 + t²) dt."""
    h, a = promote_inexact(h, a)
    h, size = na.abs(h), na.abs(a)
    is_large = na.greater(size, 1)
    width = na.where(is_large, 1.0 / na.where(is_large, size, 1.0), size)
    height = na.where(is_large, h * na.where(na.isinf(size), 0.0, size), h)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = na.zeros_like(height + width)
    for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
        t = width * (0.5 * (node + 1.0))
        denominator = 1.0 + t * t
        total = total + na.exp(-0.5 * height * height * denominator) / denominator * (0.5 * weight)
    found = total * width / (2 * math.pi)
    # T(h, a) = ½ Φ(h) + ½ Φ(ah) − Φ(h) Φ(ah) − T(ah, 1/a) in terms of the upper tails
    upper, other = na.ndtr(-h), na.ndtr(-height)
    other = na.where(na.isinf(size), 0.0, other)
    found = na.where(
        is_large,
        0.5 * (upper + other) - upper * other - na.where(na.isinf(size), 0.0, found),
        found,
    )
    return found * na.sign(a)
