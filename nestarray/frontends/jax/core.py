"""Functions of sizes.

Upstream: https://docs.jax.dev/en/latest/export/shape_poly.html
"""

from __future__ import annotations

__all__ = ["max_dim", "min_dim"]


def max_dim(d1: int, d2: int) -> int:
    """The larger size."""
    return max(d1, d2)


def min_dim(d1: int, d2: int) -> int:
    """The smaller size."""
    return min(d1, d2)
