"""Special functions.

Upstream: https://www.tensorflow.org/api_docs/python/tf/math/special
"""

from __future__ import annotations

from typing import Any

from nestarray.frontends.jax.scipy import integrals
from nestarray.frontends.tensorflow.conversion import floating
from nestarray.frontends.tensorflow.math.elementwise import (
    bessel_i0,
    bessel_i0e,
    bessel_i1,
    bessel_i1e,
)
from nestarray.frontends.torch import bessel
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array

__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0",
    "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "expint",
    "fresnel_cos", "fresnel_sin", "spence",
]  # fmt: skip


def bessel_j0(x: Any, name: str | None = None) -> Array:
    """J₀(x), the Bessel function of the first kind of order 0."""
    return bessel.bessel_j0(floating("bessel_j0", x))


def bessel_j1(x: Any, name: str | None = None) -> Array:
    """J₁(x), the Bessel function of the first kind of order 1."""
    return bessel.bessel_j1(floating("bessel_j1", x))


def bessel_y0(x: Any, name: str | None = None) -> Array:
    """Y₀(x), the Bessel function of the second kind of order 0."""
    return bessel.bessel_y0(floating("bessel_y0", x))


def bessel_y1(x: Any, name: str | None = None) -> Array:
    """Y₁(x), the Bessel function of the second kind of order 1."""
    return bessel.bessel_y1(floating("bessel_y1", x))


def bessel_k0(x: Any, name: str | None = None) -> Array:
    """K₀(x), the modified Bessel function of the second kind of order 0."""
    return bessel.modified_bessel_k0(floating("bessel_k0", x))


def bessel_k1(x: Any, name: str | None = None) -> Array:
    """K₁(x), the modified Bessel function of the second kind of order 1."""
    return bessel.modified_bessel_k1(floating("bessel_k1", x))


def bessel_k0e(x: Any, name: str | None = None) -> Array:
    """eˣ K₀(x)."""
    return bessel.scaled_modified_bessel_k0(floating("bessel_k0e", x))


def bessel_k1e(x: Any, name: str | None = None) -> Array:
    """eˣ K₁(x)."""
    return bessel.scaled_modified_bessel_k1(floating("bessel_k1e", x))


def dawsn(x: Any, name: str | None = None) -> Array:
    """Dawson's integral, exp(−x²) ∫₀ˣ exp(t²) dt."""
    return integrals.dawsn(floating("dawsn", x))


def expint(x: Any, name: str | None = None) -> Array:
    """Ei(x), the principal value of ∫ eᵗ / t dt up to x."""
    return integrals.expi(floating("expint", x))


def fresnel_cos(x: Any, name: str | None = None) -> Array:
    """∫₀ˣ cos(π t² / 2) dt."""
    return integrals.fresnel(floating("fresnel_cos", x))[1]


def fresnel_sin(x: Any, name: str | None = None) -> Array:
    """∫₀ˣ sin(π t² / 2) dt."""
    return integrals.fresnel(floating("fresnel_sin", x))[0]


def spence(x: Any, name: str | None = None) -> Array:
    """∫₁ˣ ln(t) / (1 − t) dt."""
    return integrals.spence(floating("spence", x))


_public_namespace(__name__)
