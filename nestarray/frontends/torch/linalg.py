"""torch.linalg, https://docs.pytorch.org/docs/stable/linalg.html."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.frontends.torch.contraction import matmul, vector_product
from nestarray.frontends.torch.dims import axes_of, ndim_of, numel_of, shape_of, wrap_all
from nestarray.frontends.torch.indefinite import *
from nestarray.frontends.torch.indexing import diagonal as _diagonal
from nestarray.frontends.torch.linear_systems import *
from nestarray.frontends.torch.pointwise import real
from nestarray.frontends.torch.promotion import (
    HALF,
    accumulating,
    cast,
)
from nestarray.frontends.torch.return_types import QR, SVD, Eigen, Polar, SignLogDet
from nestarray.frontends.torch.shaping import adjoint
from nestarray.frontends.torch.unchecked import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array, DTypeLike

__all__ = [
    "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex",
    "ldl_solve", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_exp",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_sqrth", "multi_dot", "norm", "pinv",
    "polar", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve",
    "vander", "vecdot", "vector_norm",
]  # fmt: skip

Dims = int | Sequence[int] | None


def vector_norm(
    x: Array,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """(Σ|x|ᵖ)^(1/p); p = ∞ is the largest modulus, p = 0 counts."""
    x = x if dtype is None else cast(x, dtype)
    own = dtypes.dtype_of(x)
    if own in HALF:  # whose powers would overflow
        return cast(vector_norm(cast(x, dtypes.float32), ord, dim, keepdim), own)
    axis = axes_of("vector_norm", x, dim)
    order = float(ord)
    modulus = na.abs(x)
    if order == math.inf:
        return na.max(modulus, axis=axis, keepdims=keepdim)
    if order == -math.inf:
        return na.min(modulus, axis=axis, keepdims=keepdim)
    if order == 0:
        counted = na.astype(na.not_equal(x, 0), dtypes.dtype_of(modulus))
        return na.sum(counted, axis=axis, keepdims=keepdim)
    if order == 1:
        return na.sum(modulus, axis=axis, keepdims=keepdim)
    if order == 2:
        # the derivative at a vector of zeros is 0
        is_zero = na.logical_not(na.any(na.not_equal(x, 0), axis=axis, keepdims=True))
        safe = na.where(is_zero, na.ones_like(x), x)
        length = na.vector_norm(safe, axis=axis, keepdims=True)
        length = na.where(is_zero, na.zeros_like(length), length)
        if keepdim or ndim_of(x) == 0:
            return length
        return na.squeeze(length, axis=tuple(range(ndim_of(x))) if axis is None else axis)
    # Zeros have the derivative 0; the derivative of a power is not finite there.
    is_zero = na.equal(modulus, 0)
    powers = na.pow(na.where(is_zero, na.ones_like(modulus), modulus), order)
    at_zero = na.full_like(modulus, 0.0 if order > 0 else math.inf)
    total = na.sum(na.where(is_zero, at_zero, powers), axis=axis, keepdims=keepdim)
    is_zero = na.logical_or(na.equal(total, 0), na.isinf(total))
    root = na.pow(na.where(is_zero, na.ones_like(total), total), 1.0 / order)
    limit = na.pow(na.stop_gradient(total), 1.0 / order)
    return na.where(is_zero, limit, root)


def matrix_norm(
    A: Array,
    ord: float | str = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """The norm of matrices: "fro", "nuc", 2 (the largest singular value), 1, ∞."""
    A = A if dtype is None else cast(A, dtype)
    rows, columns = wrap_all("matrix_norm", dim, ndim_of(A))
    if numel_of(A) == 0:
        return na.sum(na.abs(A), axis=(rows, columns), keepdims=keepdim)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if ord in ("nuc", 2, -2):
        values = svdvals(na.moveaxis(A, (rows, columns), (-2, -1)))
        pick = {"nuc": na.sum, 2: na.max, -2: na.min}[ord]
        found = pick(values, axis=-1)
        if keepdim:
            for axis in sorted((rows, columns)):
                found = na.expand_dims(found, axis=axis)
        return found
    if ord not in (1, -1, math.inf, -math.inf):
        raise ArgumentError(
            f"matrix_norm: ord: got {ord!r}, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
        )
    summed, kept = (rows, columns) if builtins.abs(ord) == 1 else (columns, rows)
    sums = na.sum(na.abs(A), axis=summed, keepdims=True)
    found = (na.max if ord > 0 else na.min)(sums, axis=kept, keepdims=True)
    return found if keepdim else na.squeeze(found, axis=(rows, columns))


def norm(
    A: Array,
    ord: float | str | None = None,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """`vector_norm`, or `matrix_norm` for two dimensions and an order."""
    pair = dim is not None and not isinstance(dim, int) and len(dim) == 2
    if ord is not None and (pair or (dim is None and ndim_of(A) == 2)):
        return matrix_norm(A, ord, dim if pair else (-2, -1), keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise ArgumentError(f"norm: ord: got {ord!r} for vectors, expected a number")
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def cross(input: Array, other: Array, *, dim: int = -1) -> Array:
    """The vector product along a dimension of size 3."""
    return vector_product(input, other, dim)


def vecdot(x: Array, y: Array, *, dim: int = -1) -> Array:
    """Σ x̄ᵢ yᵢ along a dimension."""
    x = na.conj(x) if dtypes.dtype_of(x).kind == "complex" else x
    return na.sum(na.multiply(x, y), axis=dim)


def multi_dot(tensors: Sequence[Array]) -> Array:
    """The product of several matrices."""
    return na.multi_dot(tuple(tensors))


def diagonal(A: Array, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """The diagonal of two dimensions, by default the last two."""
    return _diagonal(A, offset, dim1, dim2)


def matrix_power(A: Array, n: int) -> Array:
    """A · A · … n times; the inverse for negative n."""
    if n < 0:
        return matrix_power(inv(A), -n)
    if n == 0:
        size = shape_of(A)[-1]
        unit = na.eye(size, size, dtype=dtypes.dtype_of(A), like=A)
        return na.broadcast_to(unit, shape_of(A))
    half = matrix_power(A, n // 2) if n > 1 else None
    if half is None:
        return A
    square = na.matmul(half, half)
    return na.matmul(square, A) if n % 2 else square


def inv(A: Array) -> Array:
    """The inverse of square matrices."""
    return na.inv(A)


def det(A: Array) -> Array:
    """The determinant of square matrices; 1 for a 0×0 matrix."""
    if shape_of(A)[-1:] == (0,):
        return na.ones(shape_of(A)[:-2], dtype=dtypes.dtype_of(A), like=A)
    return na.det(A)


def slogdet(A: Array) -> SignLogDet:
    """The sign and the logarithm of the modulus of the determinant."""
    return SignLogDet(*na.slogdet(A))


def cholesky(A: Array, *, upper: bool = False) -> Array:
    """The triangular L with A = L Lᴴ."""
    return na.cholesky(A, upper=upper)


def qr(A: Array, mode: str = "reduced") -> QR:
    """Q and R with A = Q R."""
    return QR(*na.qr(A, mode=mode))


def svd(A: Array, full_matrices: bool = True) -> SVD:
    """U, S and Vᴴ with A = U diag(S) Vᴴ."""
    return SVD(*na.svd(A, full_matrices=full_matrices))


def svdvals(A: Array) -> Array:
    """The singular values, largest first."""
    return na.svdvals(A)


def eigh(A: Array, UPLO: str = "L") -> Eigen:
    """The eigenvalues of symmetric matrices, smallest first, and the eigenvectors."""
    values, vectors = na.eigh(_hermitian(A, UPLO))
    return Eigen(real(values), vectors)


def eigvalsh(A: Array, UPLO: str = "L") -> Array:
    """The eigenvalues of symmetric matrices, smallest first."""
    return real(na.eigvalsh(_hermitian(A, UPLO)))


def _hermitian(A: Array, UPLO: str = "L") -> Array:
    """The hermitian matrix that one triangle of `A` describes; the other is not looked at.

    The derivative treats `A` as hermitian, as upstream: it differentiates through (A + Aᴴ) / 2.
    """
    whole = na.multiply(na.add(A, adjoint(A)), 0.5)
    A = na.stop_gradient(A)
    if dtypes.dtype_of(A).kind == "complex":
        on_diagonal = na.eye(*shape_of(A)[-2:], dtype=dtypes.bool, like=A)
        A = na.where(on_diagonal, na.astype(na.real(A), dtypes.dtype_of(A)), A)
    rest = na.tril(A, k=-1) if UPLO.upper() == "L" else na.triu(A, k=1)
    mirrored = na.swapaxes(rest, -2, -1)
    if dtypes.dtype_of(A).kind == "complex":
        mirrored = na.conj(mirrored)
    mirrored = na.add(na.tril(A) if UPLO.upper() == "L" else na.triu(A), mirrored)
    return with_derivative_of(whole, mirrored)


def eig(A: Array) -> Eigen:
    """The eigenvalues of square matrices, in no order, and the eigenvectors."""
    return Eigen(*na.eig(A))


def eigvals(A: Array) -> Array:
    """The eigenvalues of square matrices, in no order."""
    return na.eigvals(A)


def cond(A: Array, p: float | str | None = None) -> Array:
    """‖A‖ₚ ‖A⁻¹‖ₚ; for None the ratio of the largest and the smallest singular value."""
    return na.matrix_cond(A, p=p)


def matrix_exp(A: Array) -> Array:
    """I + A + A²/2! + …"""
    return na.expm(A)


def matrix_sqrth(A: Array) -> Array:
    """The square root of symmetric positive-definite matrices, of which the lower triangle counts.

    Negative eigenvalues count as 0, as upstream.
    """
    values, vectors = eigh(A)
    roots = na.sqrt(na.clip(values, min=0.0))
    scaled = na.multiply(vectors, na.expand_dims(roots, axis=-2))
    return na.matmul(scaled, adjoint(vectors))


def polar(A: Array) -> Polar:
    """U with orthonormal columns and H = Hᴴ ≥ 0 with A = U H."""
    left, values, right = na.svd(A, full_matrices=False)
    scaled = na.multiply(adjoint(right), na.expand_dims(values, axis=-2))
    return Polar(na.matmul(left, right), na.matmul(scaled, right))


def vander(x: Array, N: int | None = None) -> Array:
    """The Vandermonde matrix: powers of each element from 0; int64 for integers."""
    x = accumulating(x if ndim_of(x) else na.reshape(x, (1,)))
    return na.vander(x, N=N, increasing=True)


def householder_product(A: Array, tau: Array) -> Array:
    """The first columns of the product of reflections."""
    return na.householder_product(A, tau)


def tensorinv(A: Array, ind: int = 2) -> Array:
    """The inverse of `tensordot` with `A` over its last dimensions."""
    return na.tensorinv(A, ind=ind)


def pinv(
    A: Array,
    *,
    atol: float | Array | None = None,
    rtol: float | Array | None = None,
    hermitian: bool = False,
) -> Array:
    """The pseudo-inverse; singular values up to max(atol, rtol · the largest) count as 0."""
    A = _hermitian(A) if hermitian else A
    if numel_of(A) == 0:
        return na.swapaxes(A, -2, -1)
    u, s, vh = na.svd(A, full_matrices=False)
    limit = _limit(s, A, atol, rtol)
    kept = na.greater(s, limit)
    safe = na.where(kept, s, na.ones_like(s))
    inverse = na.where(kept, na.reciprocal(safe), na.zeros_like(s))
    left, right = na.swapaxes(vh, -2, -1), na.swapaxes(u, -2, -1)
    if dtypes.dtype_of(A).kind == "complex":
        left, right = na.conj(left), na.conj(right)
    return na.matmul(na.multiply(left, na.expand_dims(inverse, axis=-2)), right)


def matrix_rank(
    A: Array,
    *,
    atol: float | Array | None = None,
    rtol: float | Array | None = None,
    hermitian: bool = False,
) -> Array:
    """The number of singular values above max(atol, rtol · the largest)."""
    if numel_of(A) == 0:
        return na.zeros(shape_of(A)[:-2], dtype=dtypes.int64, like=A)
    s = na.abs(eigvalsh(A)) if hermitian else svdvals(A)
    return cast(na.count_nonzero(na.greater(s, _limit(s, A, atol, rtol)), axis=-1), dtypes.int64)


def _limit(s: Array, A: Array, atol: float | Array | None, rtol: float | Array | None) -> Array:
    """The threshold below which singular values `s` of `A` count as 0, `(*, 1)`."""
    largest = na.max(s, axis=-1, keepdims=True)
    if rtol is None:
        eps = float(na.finfo(dtypes.dtype_of(s)).eps) * builtins.max(shape_of(A)[-2:])
        if atol is None:
            rtol = eps
        elif hasattr(atol, "dtype"):  # given as an array, the default holds where it is 0
            rtol = na.where(na.greater(atol, 0), na.zeros_like(atol), na.full_like(atol, eps))
        else:
            rtol = 0.0 if atol > 0 else eps
    limit = na.multiply(largest, _column(rtol))
    if atol is not None:
        limit = na.maximum(limit, na.add(na.zeros_like(limit), _column(atol)))
    return limit


def _column(x: float | Array) -> float | Array:
    return na.expand_dims(x, axis=-1) if hasattr(x, "dtype") else x


class LeastSquares(NamedTuple):
    """torch.return_types.linalg_lstsq."""

    solution: Array
    residuals: Array
    rank: Array
    singular_values: Array


def lstsq(
    A: Array, B: Array, rcond: float | None = None, *, driver: str | None = None
) -> LeastSquares:
    """X that minimizes ‖A X − B‖, and the further results of LAPACK's `driver`; others are empty.

    Residuals come from "gels", "gelsd" and "gelss" where A is higher than wide and of full rank,
    ranks from all but "gels", singular values from "gelsd" and "gelss".
    """
    known = ("gels", "gelsy", "gelsd", "gelss")
    if driver is not None and driver not in known:
        raise ArgumentError(f"lstsq: driver: got {driver!r}, expected one of {', '.join(known)}")
    driver = "gelsy" if driver is None else driver
    vectors = ndim_of(B) == 1 or (ndim_of(A) - 1 == ndim_of(B) and shape_of(A)[:-1] == shape_of(B))
    right = na.expand_dims(B, axis=-1) if vectors else B
    solution, residuals, rank, values = na.lstsq(A, right, rtol=rcond)
    values = na.stop_gradient(values)  # torch does not differentiate them
    solution = na.squeeze(solution, axis=-1) if vectors else solution
    residuals = na.squeeze(residuals, axis=-1) if vectors else residuals
    m, n = shape_of(A)[-2:]
    nothing = na.zeros((0,), dtype=dtypes.dtype_of(values), like=values)
    if driver == "gelsy" or m <= n or (driver != "gels" and not _is_full(rank, n)):
        residuals = nothing
    return LeastSquares(
        solution,
        residuals,
        cast(nothing if driver == "gels" else rank, dtypes.int64),
        values if driver in ("gelsd", "gelss") else nothing,
    )


def _is_full(rank: Array, n: int) -> bool:
    return bool(na.all(na.equal(rank, n)))


_public_namespace(__name__)
