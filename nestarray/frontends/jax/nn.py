"""Functions of neural networks, with JAX's derivatives.

Upstream: https://docs.jax.dev/en/latest/jax.nn.html
"""

from __future__ import annotations

import nestarray as na
from nestarray.typing import Array

__all__ = ["relu", "relu6", "silu"]


def relu(x: Array) -> Array:
    """max(x, 0), with the derivative 0 at 0."""
    return na.relu(x)


def relu6(x: Array) -> Array:
    """min(max(x, 0), 6), with the derivative 0 at 0 and at 6."""
    return na.relu6(x)


def silu(x: Array) -> Array:
    """x · sigmoid(x)."""
    return na.silu(x)
