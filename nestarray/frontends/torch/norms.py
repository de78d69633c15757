"""Norms of vectors and matrices, https://docs.pytorch.org/docs/stable/generated/torch.norm.html."""

from __future__ import annotations

from collections.abc import Sequence

from nestarray.frontends.torch import linalg, pointwise
from nestarray.typing import Array, DTypeLike

__all__ = ["dist", "norm"]


def norm(
    input: Array,
    p: float | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """The vector norm (Σ|x|ᵖ)^(1/p); "fro" is p = 2."""
    if p == "nuc":
        return linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)
    order = 2.0 if p is None or p == "fro" else float(p)
    return linalg.vector_norm(input, order, dim, keepdim, dtype=dtype)


def dist(input: Array, other: Array, p: float = 2) -> Array:
    """The `norm` of input − other."""
    return norm(pointwise.sub(input, other), p)
