"""Linear systems.

Upstream: https://www.tensorflow.org/api_docs/python/tf/linalg/solve
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import inexact, tensor, tensors
from nestarray.frontends.tensorflow.linalg.diagonals import diag
from nestarray.frontends.tensorflow.linalg.products import adjoint as _adjoint
from nestarray.frontends.tensorflow.linalg.products import three_diagonals
from nestarray.typing import Array

__all__ = [
    "banded_triangular_solve", "cholesky_solve", "inv", "lstsq", "lu_matrix_inverse",
    "lu_reconstruct", "lu_solve", "solve", "triangular_solve", "tridiagonal_solve",
]  # fmt: skip


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Array:
    """The inverse of each matrix, or of its conjugate transpose."""
    x = inexact("inv", input)
    return na.inv(_adjoint(x) if adjoint else x)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Array:
    """The solution y of matrix · y = rhs, or with the conjugate transpose of the matrix."""
    a, b = tensors("solve", matrix, rhs)
    return na.solve(_adjoint(a) if adjoint else a, b)


def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Array:
    """The solution y of matrix · y = rhs; only one triangle of the matrix is read."""
    a, b = tensors("triangular_solve", matrix, rhs)
    if adjoint:
        return na.solve_triangular(_adjoint(a), b, upper=lower)
    return na.solve_triangular(a, b, upper=not lower)


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Array:
    """The solution y of A · y = rhs from the lower Cholesky factor of A."""
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)


def banded_triangular_solve(
    bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Array:
    """`triangular_solve` with a matrix of a few diagonals.

    Args:
        bands: `(*batch, k, n)`: the main diagonal and those below it, each aligned to the right;
            of an upper matrix those above, aligned to the left, the highest first.
        rhs: `(*batch, n, m)`.
        lower, adjoint: as in `triangular_solve`.
        name: without effect.
    """
    x, b = tensors("banded_triangular_solve", bands, rhs)
    count = na.shape(x)[-2]
    limits = (1 - count, 0) if lower else (0, count - 1)
    values = x if count > 1 else na.squeeze(x, axis=-2)
    matrix = diag(values, k=limits, align="LEFT_RIGHT")
    return triangular_solve(matrix, b, lower, adjoint)


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Array:
    """The solution y of A · y = rhs of tridiagonal matrices A, by their dense form.

    Args:
        diagonals, diagonals_format: as in `tridiagonal_matmul`.
        rhs: `(*batch, n)` or `(*batch, n, k)`.
        transpose_rhs: transpose the right side before.
        conjugate_rhs: conjugate the right side before.
        name, partial_pivoting: without effect: the rows are always exchanged.
        perturb_singular: only False.
    """
    if perturb_singular:
        raise ArgumentError("tridiagonal_solve: perturb_singular: got True, expected False")
    parts = three_diagonals("tridiagonal_solve", diagonals, diagonals_format)
    matrix = diag(na.stack(parts, axis=-2), k=(-1, 1), align="LEFT_RIGHT")
    b = tensor(rhs)
    is_complex = dtypes.dtype_of(b).kind == "complex"
    b = na.conj(b) if conjugate_rhs and is_complex else b
    if len(na.shape(b)) == len(na.shape(matrix)) - 1:
        return na.squeeze(na.solve(matrix, na.expand_dims(b, -1)), axis=-1)
    return na.solve(matrix, na.matrix_transpose(b) if transpose_rhs else b)


def lstsq(
    matrix: Any,
    rhs: Any,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Array:
    """The smallest-squares solution, by the normal equations.

    Args:
        matrix: `(*batch, m, n)`.
        rhs: `(*batch, m, k)`.
        l2_regularizer: λ of the term λ ‖y‖².
        fast: False: by an orthogonal decomposition, of minimal norm, without λ.
        name: without effect.
    """
    a, b = tensors("lstsq", matrix, rhs)
    if not fast:
        return na.lstsq(a, b)[0]
    rows, columns = na.shape(a)[-2:]
    turned = _adjoint(a)
    gram = na.matmul(turned, a) if rows >= columns else na.matmul(a, turned)
    size = na.eye(min(rows, columns), dtype=dtypes.dtype_of(a), like=a)
    gram = na.add(gram, na.multiply(size, l2_regularizer)) if l2_regularizer else gram
    factor = na.cholesky(gram)
    if rows >= columns:
        return cholesky_solve(factor, na.matmul(turned, b))
    return na.matmul(turned, cholesky_solve(factor, b))


# -- from the factors of lu ----------------------------------------------------------------------


def _lower(lower_upper: Array) -> Array:
    size = na.eye(na.shape(lower_upper)[-1], dtype=dtypes.dtype_of(lower_upper), like=lower_upper)
    return na.add(na.tril(lower_upper, k=-1), size)


def _rows(x: Array, order: Array) -> Array:
    """The rows of matrices in an order."""
    batch = na.broadcast_shapes(na.shape(x)[:-2], na.shape(order)[:-1])
    x = na.broadcast_to(x, (*batch, *na.shape(x)[-2:]))
    order = na.broadcast_to(order, (*batch, na.shape(order)[-1]))
    index = na.broadcast_to(na.expand_dims(order, -1), na.shape(x))
    return na.take_along_axis(x, index, axis=-2)


def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Array:
    """The matrix with these factors."""
    factors, order = tensor(lower_upper), tensor(perm)
    product = na.matmul(_lower(factors), na.triu(factors))
    return _rows(product, na.argsort(order, axis=-1))


def lu_solve(
    lower_upper: Any,
    perm: Any,
    rhs: Any,
    validate_args: bool = False,
    name: str | None = None,
) -> Array:
    """The solution y of A · y = rhs from the factors of A."""
    factors, b = tensors("lu_solve", lower_upper, rhs)
    b = _rows(b, tensor(perm, like=factors))
    return na.solve_triangular(factors, na.solve_triangular(_lower(factors), b), upper=True)


def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Array:
    """The inverse of the matrix with these factors."""
    factors = tensor(lower_upper)
    size = na.eye(na.shape(factors)[-1], dtype=dtypes.dtype_of(factors), like=factors)
    return lu_solve(factors, perm, size)
