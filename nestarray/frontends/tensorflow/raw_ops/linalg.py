"""Matrices.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/MatrixBandPart
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow import linalg
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "BandedTriangularSolve",
    "Cholesky",
    "CholeskyGrad",
    "Diag",
    "DiagPart",
    "Eig",
    "LogMatrixDeterminant",
    "Lu",
    "MatrixBandPart",
    "MatrixDeterminant",
    "MatrixDiag",
    "MatrixDiagPart",
    "MatrixDiagPartV2",
    "MatrixDiagPartV3",
    "MatrixDiagV2",
    "MatrixDiagV3",
    "MatrixInverse",
    "MatrixLogarithm",
    "MatrixSetDiag",
    "MatrixSetDiagV2",
    "MatrixSetDiagV3",
    "MatrixSolve",
    "MatrixSolveLs",
    "MatrixSquareRoot",
    "MatrixTriangularSolve",
    "Qr",
    "SelfAdjointEigV2",
    "Svd",
    "TridiagonalMatMul",
    "TridiagonalSolve",
]  # fmt: skip


def MatrixBandPart(input: Array, num_lower: Array, num_upper: Array) -> Array:
    """The diagonals from `num_lower` below to `num_upper` above; all if a number is negative."""
    rows, columns = na.shape(input)[-2:]
    i = na.expand_dims(na.arange(rows, dtype=dtypes.int32, like=input), 1)
    offset = na.subtract(i, na.expand_dims(na.arange(columns, dtype=dtypes.int32, like=input), 0))
    below, above = _within(offset, num_lower), _within(na.negative(offset), num_upper)
    inside = na.logical_and(below, above)
    return na.where(inside, input, na.zeros_like(input))


def _within(offset: Array, limit: Array) -> Array:
    if hasattr(limit, "dtype"):
        limit = na.astype(limit, dtypes.int32)
        return na.logical_or(na.less(limit, 0), na.less_equal(offset, limit))
    return na.less_equal(offset, limit) if limit >= 0 else na.ones_like(offset, dtype=dtypes.bool)


def MatrixDiag(diagonal: Array) -> Array:
    """Matrices with a diagonal."""
    size = na.shape(diagonal)[-1]
    eye = na.eye(size, dtype=dtypes.bool, like=diagonal)
    return na.where(eye, na.expand_dims(diagonal, -1), na.zeros_like(na.expand_dims(diagonal, -1)))


def MatrixDiagPart(input: Array) -> Array:
    """The diagonals of matrices."""
    return na.diagonal(input)


def MatrixSetDiag(input: Array, diagonal: Array) -> Array:
    """Matrices with another diagonal."""
    rows, columns = na.shape(input)[-2:]
    missing = rows - na.shape(diagonal)[-1]
    column = na.expand_dims(diagonal, -1)
    if missing:
        column = na.pad(column, [(0, 0)] * (len(na.shape(diagonal)) - 1) + [(0, missing), (0, 0)])
    return na.where(na.eye(rows, columns, dtype=dtypes.bool, like=input), column, input)


def Diag(diagonal: Array) -> Array:
    """A tensor with a diagonal, of twice as many axes."""
    shape = tuple(na.shape(diagonal))
    return na.reshape(MatrixDiag(na.reshape(diagonal, (-1,))), (*shape, *shape))


def DiagPart(input: Array) -> Array:
    """The diagonal of a tensor, of half as many axes."""
    shape = tuple(na.shape(input))
    shape = shape[: len(shape) // 2]
    size = 1
    for n in shape:
        size *= n
    return na.reshape(na.diagonal(na.reshape(input, (size, size))), shape)


def Cholesky(input: Array) -> Array:
    """The lower factor of L · Lᴴ."""
    return na.cholesky(input)


def CholeskyGrad(l: Array, grad: Array) -> Array:  # noqa: E741
    """The gradient of `Cholesky` by its argument."""
    return na.vjp(na.cholesky, na.matmul(l, na.matrix_transpose(l)))[1](grad)[0]


def MatrixInverse(input: Array, adjoint: bool = False) -> Array:
    """The inverses of matrices, or of their adjoints."""
    return na.inv(_adjoint(input, adjoint))


def MatrixDeterminant(input: Array) -> Array:
    """The determinants of matrices."""
    return na.det(input)


def LogMatrixDeterminant(input: Array) -> tuple[Array, Array]:
    """The signs, and the logarithms of the absolute values of determinants."""
    found = na.slogdet(input)
    return found[0], found[1]


def MatrixSolve(matrix: Array, rhs: Array, adjoint: bool = False) -> Array:
    """The solutions of matrix · x = rhs."""
    return na.solve(_adjoint(matrix, adjoint), rhs)


def MatrixTriangularSolve(
    matrix: Array, rhs: Array, lower: bool = True, adjoint: bool = False
) -> Array:
    """The solutions of matrix · x = rhs for triangular matrices."""
    batch = na.broadcast_shapes(na.shape(matrix)[:-2], na.shape(rhs)[:-2])
    matrix = na.broadcast_to(_adjoint(matrix, adjoint), (*batch, *na.shape(matrix)[-2:]))
    rhs = na.broadcast_to(rhs, (*batch, *na.shape(rhs)[-2:]))
    return na.solve_triangular(matrix, rhs, upper=lower == adjoint)


def MatrixDiagV3(
    diagonal: Array,
    k: Ints,
    num_rows: int,
    num_cols: int,
    padding_value: Array,
    align: str = "RIGHT_LEFT",
) -> Array:
    """Matrices with the given diagonals k, and `padding_value` elsewhere."""
    return linalg.diag(
        diagonal,
        k=k,
        num_rows=num_rows,
        num_cols=num_cols,
        padding_value=padding_value,
        align=align,
    )


def MatrixDiagPartV3(
    input: Array, k: Ints, padding_value: Array, align: str = "RIGHT_LEFT"
) -> Array:
    """The diagonals k of matrices."""
    return linalg.diag_part(input, k=k, padding_value=padding_value, align=align)


def MatrixSetDiagV3(input: Array, diagonal: Array, k: Ints, align: str = "RIGHT_LEFT") -> Array:
    """Matrices with other diagonals k."""
    return linalg.set_diag(input, diagonal, k=k, align=align)


def MatrixDiagV2(
    diagonal: Array, k: Ints, num_rows: int, num_cols: int, padding_value: Array
) -> Array:
    """`MatrixDiagV3` of diagonals that are aligned to the left."""
    return MatrixDiagV3(diagonal, k, num_rows, num_cols, padding_value, "LEFT_LEFT")


def MatrixDiagPartV2(input: Array, k: Ints, padding_value: Array) -> Array:
    """`MatrixDiagPartV3` with diagonals that are aligned to the left."""
    return MatrixDiagPartV3(input, k, padding_value, "LEFT_LEFT")


def MatrixSetDiagV2(input: Array, diagonal: Array, k: Ints) -> Array:
    """`MatrixSetDiagV3` with diagonals that are aligned to the left."""
    return MatrixSetDiagV3(input, diagonal, k, "LEFT_LEFT")


def MatrixLogarithm(input: Array) -> Array:
    """The principal logarithms of complex matrices."""
    return linalg.logm(input)


def MatrixSolveLs(matrix: Array, rhs: Array, l2_regularizer: float, fast: bool = True) -> Array:
    """The solutions of matrix · x = rhs with the smallest squares."""
    return linalg.lstsq(matrix, rhs, float(l2_regularizer), fast)


def Lu(input: Array, output_idx_type: DType = dtypes.int32) -> tuple[Array, Array]:
    """L without its diagonal and U in one matrix, and the permutation."""
    found = linalg.lu(input, output_idx_type)
    return found[0], found[1]


def MatrixSquareRoot(input: Array) -> Array:
    """The principal square roots of matrices."""
    return na.sqrtm(input)


def Qr(input: Array, full_matrices: bool = False) -> tuple[Array, Array]:
    """Q and R."""
    found = na.qr(input, mode="complete" if full_matrices else "reduced")
    return found[0], found[1]


def Svd(input: Array, compute_uv: bool = True, full_matrices: bool = False) -> tuple[Array, ...]:
    """Singular values, U and V."""
    if not compute_uv:
        return (na.svdvals(input),)
    u, s, vh = na.svd(input, full_matrices=full_matrices)
    return s, u, _adjoint(vh, True)


def SelfAdjointEigV2(input: Array, compute_v: bool = True) -> tuple[Array, ...]:
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    upper = _adjoint(na.tril(input, k=-1), True)
    full = na.add(na.tril(input), upper)  # upstream reads the lower triangle
    return tuple(na.eigh(full)) if compute_v else (na.eigvalsh(full),)


def TridiagonalMatMul(superdiag: Array, maindiag: Array, subdiag: Array, rhs: Array) -> Array:
    """Products of tridiagonal matrices, of `(*batch, 1, n)` diagonals, with matrices."""
    diagonals = na.concat([superdiag, maindiag, subdiag], axis=-2)
    return linalg.tridiagonal_matmul(diagonals, rhs)


def TridiagonalSolve(
    diagonals: Array, rhs: Array, partial_pivoting: bool = True, perturb_singular: bool = False
) -> Array:
    """The solutions of A · x = rhs of tridiagonal matrices."""
    return linalg.tridiagonal_solve(
        diagonals, rhs, partial_pivoting=partial_pivoting, perturb_singular=perturb_singular
    )


def BandedTriangularSolve(
    matrix: Array, rhs: Array, lower: bool = True, adjoint: bool = False
) -> Array:
    """The solutions of matrix · x = rhs for triangular matrices of a few diagonals."""
    return linalg.banded_triangular_solve(matrix, rhs, lower, adjoint)


def Eig(input: Array, Tout: DType, compute_v: bool = True) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors, complex, in no order; no vectors without `compute_v`."""
    if compute_v:
        values, vectors = na.eig(input)
        return na.astype(values, Tout), na.astype(vectors, Tout)
    return na.astype(na.eigvals(input), Tout), na.zeros((0,), dtype=Tout, like=input)


def _adjoint(x: Array, is_adjoint: bool) -> Array:
    if not is_adjoint:
        return x
    found = na.matrix_transpose(x)
    return na.conj(found) if dtypes.dtype_of(x).kind == "complex" else found
