"""Primitives of jaxprs whose public function has other results."""

from __future__ import annotations

from nestarray.frontends.jax.lax import linalg
from nestarray.typing import Array

__all__ = ["svd"]


def svd(
    x: Array,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
) -> tuple[Array, ...]:
    """(singular values, U, Vᴴ), or the values alone."""
    settings = {"compute_uv": compute_uv, "subset_by_index": subset_by_index}
    found = linalg.svd(x, full_matrices=full_matrices, **settings)
    return (found[1], found[0], found[2]) if compute_uv else (found,)
