"""ATen's operations behind ``torch.linalg``, which return the factors that a result is made of.

Programs that were recorded below autograd have these. Schemas:
https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/native_functions.yaml
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch import linalg
from nestarray.typing import Array

__all__ = ["_linalg_eigh", "_linalg_svd"]


def _linalg_eigh(A: Array, UPLO: str = "L", compute_v: bool = True) -> tuple[Array, Array]:
    """The eigenvalues of symmetric matrices, and on request the eigenvectors."""
    if compute_v:
        values, vectors = linalg.eigh(A, UPLO)
        return values, vectors
    return linalg.eigvalsh(A, UPLO), _nothing(A)


def _linalg_svd(
    A: Array, full_matrices: bool = False, compute_uv: bool = True
) -> tuple[Array, Array, Array]:
    """The singular values, and on request the singular vectors."""
    if compute_uv:
        U, S, Vh = linalg.svd(A, full_matrices)
        return U, S, Vh
    return _nothing(A), linalg.svdvals(A), _nothing(A)


def _nothing(like: Array) -> Array:
    return na.zeros((0,), dtype=dtypes.dtype_of(like), like=like)
