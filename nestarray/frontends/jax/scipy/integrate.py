"""Integrals of samples.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.integrate
"""

from __future__ import annotations

from nestarray.frontends.jax import numpy as jnp
from nestarray.typing import Array

__all__ = ["trapezoid"]


def trapezoid(y: Array, x: Array | None = None, dx: Array = 1.0, axis: int = -1) -> Array:
    """The integral along an axis by trapezoids."""
    return jnp.trapezoid(y, x, dx, axis)
