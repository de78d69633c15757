"""Matrix factorizations that return an error code instead of raising.

``info`` is 0 on success. Else it is the number, from 1, of the zero pivot or of the leading minor
that is not positive, and the other results are undefined.

Upstream: https://docs.pytorch.org/docs/stable/linalg.html#experimental-functions
"""

from __future__ import annotations

from typing import NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import ndim_of, shape_of
from nestarray.frontends.torch.indexing import diagonal
from nestarray.frontends.torch.linear_systems import lu_factor, solve
from nestarray.frontends.torch.promotion import cast
from nestarray.frontends.torch.shaping import adjoint
from nestarray.typing import Array

__all__ = ["cholesky_ex", "inv_ex", "lu_factor_ex", "solve_ex"]


class CholeskyInfo(NamedTuple):
    """torch.return_types.linalg_cholesky_ex."""

    L: Array
    info: Array


class InverseInfo(NamedTuple):
    """torch.return_types.linalg_inv_ex."""

    inverse: Array
    info: Array


class SolveInfo(NamedTuple):
    """torch.return_types.linalg_solve_ex."""

    result: Array
    info: Array


class LUInfo(NamedTuple):
    """torch.return_types.linalg_lu_factor_ex."""

    LU: Array
    pivots: Array
    info: Array


def raise_for(name: str, info: Array, part: str, check_errors: bool) -> None:
    """Raise an error if `check_errors` and a code is not 0; reads values only then.

    Raises:
        ArgumentError: with the largest code.
    """
    if not check_errors:
        return
    failed = int(na.max(info)) if 0 not in shape_of(info) else 0
    if failed:
        raise ArgumentError(
            f"{name}: A: got a matrix whose {part} {failed} fails; "
            "pass check_errors=False and look at info"
        )


def cholesky_ex(A: Array, *, upper: bool = False, check_errors: bool = False) -> CholeskyInfo:
    """The triangle of `cholesky`, and the order of the first minor that is not positive, or 0."""
    info = _first_bad_minor(adjoint(A) if upper else A)
    raise_for("cholesky_ex", info, "minor of order", check_errors)
    L = na.cholesky(_where_sound(info, A), upper=upper)
    return CholeskyInfo(L, cast(info, dtypes.int32))


def _first_bad_minor(A: Array) -> Array:
    """By elimination without exchanges: the minors are positive as long as the pivots are."""
    S, n = na.stop_gradient(A), shape_of(A)[-1]
    info = na.zeros(shape_of(A)[:-2], dtype=dtypes.int64, like=A)
    for k in range(n):
        pivot = na.getitem(S, (..., k, k))
        pivot = na.real(pivot) if dtypes.dtype_of(S).kind == "complex" else pivot
        is_bad = na.logical_not(na.greater(pivot, 0))  # NaN is bad, too
        info = na.where(na.logical_and(is_bad, na.equal(info, 0)), na.full_like(info, k + 1), info)
        column = na.getitem(S, (..., slice(None), slice(k, k + 1)))
        safe = na.where(is_bad, na.ones_like(pivot), pivot)
        row = adjoint(column)
        outer = na.matmul(column, row)
        scale = na.expand_dims(na.astype(na.reciprocal(safe), S.dtype, copy=False), axis=(-2, -1))
        S = na.subtract(S, na.multiply(outer, scale))
    return info


def inv_ex(A: Array, *, check_errors: bool = False) -> InverseInfo:
    """The inverse, and which pivot of its elimination is 0, or 0."""
    info = lu_factor_ex(A).info
    raise_for("inv_ex", info, "pivot", check_errors)
    return InverseInfo(na.inv(_where_sound(info, A)), info)


def solve_ex(A: Array, B: Array, *, left: bool = True, check_errors: bool = False) -> SolveInfo:
    """X with A X = B, and which pivot of the elimination is 0, or 0."""
    info = lu_factor_ex(A).info
    raise_for("solve_ex", info, "pivot", check_errors)
    return SolveInfo(solve(_where_sound(info, A), B, left=left), info)


def lu_factor_ex(A: Array, *, pivot: bool = True, check_errors: bool = False) -> LUInfo:
    """`lu_factor`, and which pivot is the first that is 0, or 0."""
    LU, pivots = lu_factor(A, pivot=pivot)
    found = na.stop_gradient(diagonal(LU, 0, -2, -1))
    count = shape_of(found)[-1]
    numbers = na.arange(1, count + 1, dtype=dtypes.int64, like=LU)
    numbers = na.where(na.equal(found, 0), numbers, na.full_like(numbers, count + 1))
    beyond = na.full((*shape_of(found)[:-1], 1), count + 1, dtype=dtypes.int64, like=LU)
    first = na.min(na.concat([numbers, beyond], axis=-1), axis=-1)
    info = cast(na.where(na.greater(first, count), na.zeros_like(first), first), dtypes.int32)
    raise_for("lu_factor_ex", info, "pivot", check_errors)
    return LUInfo(LU, pivots, info)


def _where_sound(info: Array, A: Array) -> Array:
    """`A`, and the identity in place of matrices that failed."""
    unit = na.eye(shape_of(A)[-1], dtype=dtypes.dtype_of(A), like=A)
    is_sound = na.expand_dims(na.equal(info, 0), axis=(-2, -1))
    return na.where(is_sound, A, na.broadcast_to(unit, shape_of(A))) if ndim_of(A) else A
