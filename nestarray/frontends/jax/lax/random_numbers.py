"""Random numbers of primitives.

Upstream: https://docs.jax.dev/en/latest/jax.random.html
"""

from __future__ import annotations

import nestarray as na
from nestarray.typing import Array

__all__ = ["random_gamma"]


def random_gamma(key: Array, a: Array, log_space: bool = False) -> Array:
    """Numbers of the density xᵃ⁻¹ e⁻ˣ / Γ(a), or their logarithms: upstream's for the key."""
    return na.random_gamma(key, a, log_space=log_space)
