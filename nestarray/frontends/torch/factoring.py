"""Factors of matrices under the names outside of torch.linalg.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#blas-and-lapack-operations
"""

from __future__ import annotations

from typing import NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch import linalg
from nestarray.frontends.torch.dims import shape_of
from nestarray.frontends.torch.linalg import matrix_exp as matrix_exp
from nestarray.frontends.torch.promotion import cast
from nestarray.frontends.torch.return_types import QR, ThinSVD
from nestarray.ops.factorizations import permutation_of
from nestarray.typing import Array

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "logdet", "lu", "lu_solve", "lu_unpack",
    "matrix_exp", "pinverse", "qr", "svd", "triangular_solve",
]  # fmt: skip


def cholesky(input: Array, upper: bool = False) -> Array:
    """The triangular L with A = L Lᴴ, or its adjoint."""
    return linalg.cholesky(input, upper=upper)


def cholesky_solve(B: Array, L: Array, upper: bool = False) -> Array:
    """X with A X = B, from the result of `cholesky`."""
    return na.cho_solve(L, B, upper=upper)


def cholesky_inverse(L: Array, upper: bool = False) -> Array:
    """A⁻¹, of the triangle that `cholesky` gives."""
    return na.cholesky_inverse(L, upper=upper)


def logdet(input: Array) -> Array:
    """ln det A; NaN where the determinant is negative."""
    sign, size = na.slogdet(input)
    if dtypes.dtype_of(sign).kind == "complex":
        return na.add(na.log(sign), cast(size, dtypes.dtype_of(sign)))
    return na.where(na.less(sign, 0), na.full_like(size, float("nan")), size)


def lu_solve(b: Array, LU_data: Array, LU_pivots: Array) -> Array:
    """X with A X = b, from the result of ``linalg.lu_factor``."""
    return linalg.lu_solve(LU_data, LU_pivots, b)


def lu_unpack(
    LU_data: Array, LU_pivots: Array, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Array, Array, Array]:
    """P, L and U from the result of ``linalg.lu_factor``; results that are not requested are empty."""
    empty = na.zeros((0,), dtype=dtypes.dtype_of(LU_data), like=LU_data)
    P, L, U = empty, empty, empty
    m, n = shape_of(LU_data)[-2:]
    k = min(m, n)
    if unpack_data:
        unit = na.eye(m, k, dtype=dtypes.dtype_of(LU_data), like=LU_data)
        L = na.add(na.tril(na.getitem(LU_data, (..., slice(None), slice(0, k))), k=-1), unit)
        U = na.triu(na.getitem(LU_data, (..., slice(0, k), slice(None))))
    if unpack_pivots:
        pivots = na.subtract(cast(LU_pivots, dtypes.int64), 1)
        order = na.expand_dims(permutation_of(pivots, m), axis=-2)
        rows = na.expand_dims(na.arange(m, dtype=dtypes.int64, like=LU_data), axis=-1)
        P = cast(na.equal(rows, order), dtypes.dtype_of(LU_data))
    return P, L, U


def pinverse(input: Array, rcond: float = 1e-15) -> Array:
    """The pseudo-inverse; singular values up to `rcond` times the largest count as 0."""
    return linalg.pinv(input, rtol=rcond)


def qr(input: Array, some: bool = True) -> QR:
    """Q and R with A = Q R; reduced if `some`, else complete."""
    return linalg.qr(input, "reduced" if some else "complete")


def svd(input: Array, some: bool = True, compute_uv: bool = True) -> ThinSVD:
    """U, S and V with A = U diag(S) Vᴴ; without `compute_uv` U and V are zeros."""
    if not compute_uv:
        *batch, m, n = shape_of(input)
        dtype = dtypes.dtype_of(input)
        U, V = (na.zeros((*batch, size, size), dtype=dtype, like=input) for size in (m, n))
        return ThinSVD(U, na.svdvals(input), V)
    U, S, Vh = na.svd(input, full_matrices=not some)
    V = na.matrix_transpose(Vh)
    return ThinSVD(U, S, na.conj(V) if dtypes.dtype_of(V).kind == "complex" else V)


def lu(A: Array, pivot: bool = True, get_infos: bool = False) -> tuple[Array, ...]:
    """L and U in one matrix, and the row exchanges; with `get_infos` also the failed pivot."""
    LU, pivots, info = linalg.lu_factor_ex(A, pivot=pivot)
    return (LU, pivots, info) if get_infos else (LU, pivots)


class TriangularSolution(NamedTuple):
    """torch.return_types.triangular_solve."""

    solution: Array
    cloned_coefficient: Array


def triangular_solve(
    b: Array, A: Array, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> TriangularSolution:
    """X with A X = b, or Aᵀ X = b, for triangular A; and A."""
    matrix, is_upper = (na.matrix_transpose(A), not upper) if transpose else (A, upper)
    X = linalg.solve_triangular(matrix, b, upper=is_upper, unitriangular=unitriangular)
    batch = na.broadcast_shapes(shape_of(A)[:-2], shape_of(b)[:-2])
    return TriangularSolution(X, na.broadcast_to(A, (*batch, *shape_of(A)[-2:])))
