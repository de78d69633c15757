"""Distances, https://docs.pytorch.org/docs/stable/nn.functional.html#distance-functions."""

from __future__ import annotations

import nestarray as na
from nestarray.frontends.torch import linalg
from nestarray.frontends.torch.dims import axes_of
from nestarray.frontends.torch.promotion import floating, promote_arrays
from nestarray.typing import Array

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]


def cosine_similarity(x1: Array, x2: Array, dim: int = 1, eps: float = 1e-8) -> Array:
    """x₁ · x₂ / (max(‖x₁‖, eps) max(‖x₂‖, eps)) over `dim`."""
    x, y = na.broadcast_arrays(*(floating(a) for a in promote_arrays(x1, x2)))
    x = na.divide(x, na.clip(linalg.vector_norm(x, 2, dim, keepdim=True), eps, None))
    y = na.divide(y, na.clip(linalg.vector_norm(y, 2, dim, keepdim=True), eps, None))
    product = na.multiply(x, y)
    return na.sum(product, axis=axes_of("cosine_similarity", product, dim))


def pairwise_distance(
    x1: Array, x2: Array, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Array:
    """‖x₁ − x₂ + eps‖ₚ over the last dimension."""
    return linalg.vector_norm(na.add(na.subtract(x1, x2), eps), p, -1, keepdim)


def pdist(input: Array, p: float = 2) -> Array:
    """The p-distance of each row to each later one."""
    return na.pdist(input, p=float(p))
