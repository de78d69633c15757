"""Linear systems and LU factors, https://docs.pytorch.org/docs/stable/linalg.html#solvers."""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import ndim_of, shape_of, wrap_all
from nestarray.frontends.torch.promotion import cast
from nestarray.frontends.torch.return_types import PLU, LUFactor
from nestarray.ops.factorizations import permutation_of
from nestarray.typing import Array

__all__ = ["lu", "lu_factor", "lu_solve", "solve", "solve_triangular", "tensorsolve"]


def solve(A: Array, B: Array, *, left: bool = True) -> Array:
    """X with A X = B; with ``left=False``, X A = B. A 1-d B, or a batch of 1-d B, is a vector."""
    if not left:
        return na.swapaxes(na.solve(na.swapaxes(A, -2, -1), na.swapaxes(B, -2, -1)), -2, -1)
    vectors = ndim_of(B) == 1 or (ndim_of(A) - 1 == ndim_of(B) and shape_of(A)[:-1] == shape_of(B))
    if vectors:
        return na.squeeze(na.solve(A, na.expand_dims(B, axis=-1)), axis=-1)
    return na.solve(A, B)


def tensorsolve(A: Array, B: Array, dims: Sequence[int] | None = None) -> Array:
    """X with tensordot(A, X) = B."""
    count = ndim_of(A)
    if dims is not None:
        moved = wrap_all("tensorsolve", dims, count)
        kept = [axis for axis in range(count) if axis not in moved]
        A = na.permute_dims(A, (*kept, *moved))
    return na.tensorsolve(A, na.reshape(B, shape_of(A)[: ndim_of(B)]))


def lu(A: Array, *, pivot: bool = True) -> PLU:
    """P, L and U with A = P L U."""
    _expect_pivot("lu", pivot)
    P, L, U = na.lu(A)
    return PLU(cast(P, dtypes.dtype_of(A)), L, U)


def lu_factor(A: Array, *, pivot: bool = True) -> LUFactor:
    """L and U in one matrix, and the row exchanges, counted from 1."""
    _expect_pivot("lu_factor", pivot)
    LU, pivots = na.lu_factor(A)
    return LUFactor(LU, cast(na.add(pivots, 1), dtypes.int32))


def _expect_pivot(name: str, pivot: bool) -> None:
    if not pivot:
        raise ArgumentError(f"{name}: pivot: got False, expected True: rows are exchanged")


def lu_solve(
    LU: Array, pivots: Array, B: Array, *, left: bool = True, adjoint: bool = False
) -> Array:
    """X with A X = B, or X A = B, from LU factors of A; `adjoint` solves with Aᴴ."""
    pivots = na.subtract(cast(pivots, dtypes.int64), 1)
    if not left:  # Aᵀ Xᵀ = Bᵀ; with the adjoint, the conjugate of A X̄ᵀ = B̄ᵀ
        B = _conj(_mT(B)) if adjoint else _mT(B)
        X = _lu_solve(LU, pivots, B, is_transposed=not adjoint)
        return _mT(_conj(X)) if adjoint else _mT(X)
    if not adjoint:
        return na.lu_solve(LU, pivots, B)
    return _conj(_lu_solve(LU, pivots, _conj(B), is_transposed=True))


def _lu_solve(LU: Array, pivots: Array, B: Array, *, is_transposed: bool) -> Array:
    if not is_transposed:
        return na.lu_solve(LU, pivots, B)
    # A = P L U, so Aᵀ X = B is Uᵀ Lᵀ Pᵀ X = B
    X = na.solve_triangular(_mT(LU), B)
    X = na.solve_triangular(_mT(LU), X, upper=True, unit_diagonal=True)
    back = na.argsort(permutation_of(pivots, shape_of(LU)[-1]), axis=-1)
    index = na.broadcast_to(na.expand_dims(back, axis=-1), shape_of(X))
    return na.take_along_axis(X, index, axis=-2)


def solve_triangular(
    A: Array, B: Array, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:
    """X with A X = B, or X A = B, for triangular A; the other triangle is ignored."""
    if left:
        return na.solve_triangular(A, B, upper=upper, unit_diagonal=unitriangular)
    X = na.solve_triangular(_mT(A), _mT(B), upper=not upper, unit_diagonal=unitriangular)
    return _mT(X)


def _mT(A: Array) -> Array:
    return na.matrix_transpose(A)


def _conj(A: Array) -> Array:
    return na.conj(A) if dtypes.dtype_of(A).kind == "complex" else A
