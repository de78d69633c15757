"""Linear algebra.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.linalg.html. ``precision`` is not used.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.jax.lax.reflections import geqrf
from nestarray.frontends.jax.numpy import contraction, reduction
from nestarray.frontends.jax.promotion import (
    as_index,
    cast,
    inexact,
    normal_axis,
    promote,
    promote_inexact,
    real_dtype,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip


class EighResult(NamedTuple):
    """The result of `eigh`."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """The result of `eig`."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """The result of `svd`."""

    U: Array
    S: Array
    Vh: Array


class SlogdetResult(NamedTuple):
    """The result of `slogdet`."""

    sign: Array
    logabsdet: Array


# -- products ------------------------------------------------------------------------------------

vecdot, matrix_transpose = contraction.vecdot, na.matrix_transpose


def matmul(
    x1: Array,
    x2: Array,
    /,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The matrix product over the last two axes."""
    return contraction.matmul(x1, x2, preferred_element_type=preferred_element_type)


def tensordot(
    x1: Array,
    x2: Array,
    /,
    *,
    axes: Any = 2,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The contraction of pairs of axes."""
    return contraction.tensordot(x1, x2, axes, preferred_element_type=preferred_element_type)


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of length 3."""
    for x in (x1, x2):
        if na.shape(x)[axis] != 3:
            raise ShapeError(f"cross: got vectors of length {na.shape(x)[axis]}, expected 3")
    return contraction.cross(x1, x2, axis=axis)


def outer(x1: Array, x2: Array, /) -> Array:
    """The products of all pairs of elements of two vectors."""
    for x in (x1, x2):
        if len(na.shape(x)) != 1:
            raise ShapeError(f"outer: got shape {tuple(na.shape(x))}, expected one axis")
    return contraction.outer(x1, x2)


def multi_dot(arrays: Sequence[Array], *, precision: Any = None) -> Array:
    """The product of several matrices, in the cheapest order."""
    return na.multi_dot(list(promote(*arrays)))


def matrix_power(a: Array, n: int) -> Array:
    """The n-th power of matrices."""
    return na.matrix_power(inexact(a) if n < 0 else a, n)


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices."""
    return na.diagonal(x, offset=offset)


def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sums of the diagonals of matrices."""
    return reduction.trace(x, offset, -2, -1, dtype)


# -- factors -------------------------------------------------------------------------------------


def cholesky(
    a: Array, *, upper: builtins.bool = False, symmetrize_input: builtins.bool = True
) -> Array:
    """L of a = L Lᴴ, or Lᴴ."""
    a = inexact(a)
    a = _symmetric(a) if symmetrize_input else _hermitian(a, "U" if upper else "L")
    return na.cholesky(a, upper=upper)


def _symmetric(a: Array) -> Array:
    return na.divide(na.add(a, _adjoint(a)), 2)


def _adjoint(a: Array) -> Array:
    return na.conj(na.matrix_transpose(a))


def _hermitian(a: Array, triangle: str) -> Array:
    """The Hermitian matrix of one triangle."""
    half = na.tril(a) if triangle == "L" else _adjoint(na.triu(a))
    return na.add(half, _adjoint(na.tril(half, k=-1)))


def eigh(a: Array, UPLO: str | None = None, symmetrize_input: builtins.bool = True) -> EighResult:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices."""
    found = na.eigh(_input_of_eigh(a, UPLO, symmetrize_input))
    return EighResult(*found)


def _input_of_eigh(a: Array, triangle: str | None, symmetrize_input: builtins.bool) -> Array:
    a = inexact(a)
    return _symmetric(a) if symmetrize_input else _hermitian(a, triangle or "L")


def eigvalsh(a: Array, UPLO: str | None = "L", *, symmetrize_input: builtins.bool = True) -> Array:
    """Eigenvalues of Hermitian matrices, ascending."""
    return na.eigvalsh(_input_of_eigh(a, UPLO, symmetrize_input))


def eig(a: Array) -> EigResult:
    """Eigenvalues and eigenvectors, complex."""
    return EigResult(*na.eig(inexact(a)))


def eigvals(a: Array) -> Array:
    """Eigenvalues, complex."""
    return na.eigvals(inexact(a))


def qr(a: Array, mode: str = "reduced") -> Any:
    """(Q, R) with a = Q R; R alone for the mode "r"; (hᵀ, τ) of LAPACK's geqrf for "raw"."""
    if mode == "r":
        return na.qr(inexact(a), mode="reduced")[1]
    if mode == "raw":
        h, tau = geqrf(inexact(a))
        return na.matrix_transpose(h), tau
    if mode not in ("reduced", "complete", "full"):
        raise ArgumentError(f"qr: mode: got {mode!r}, expected 'reduced', 'complete', 'r' or 'raw'")
    q, r = na.qr(inexact(a), mode="reduced" if mode == "full" else mode)
    return QRResult(q, r)


def svd(
    a: Array,
    full_matrices: builtins.bool = True,
    compute_uv: builtins.bool = True,
    hermitian: builtins.bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """(U, S, Vᴴ), or S alone."""
    a = inexact(a)
    part = (..., slice(*subset_by_index)) if subset_by_index else (...,)
    if not compute_uv:
        return na.getitem(na.svdvals(a), part)
    u, s, vh = na.svd(a, full_matrices=full_matrices and not subset_by_index)
    if subset_by_index:
        u, s = na.getitem(u, part), na.getitem(s, part)
        vh = na.getitem(vh, (..., slice(*subset_by_index), slice(None)))
    return SVDResult(u, s, vh)


def svdvals(x: Array, /) -> Array:
    """Singular values, descending."""
    return na.svdvals(inexact(x))


# -- systems and inverses ------------------------------------------------------------------------


def inv(a: Array) -> Array:
    """The inverse."""
    return na.inv(inexact(a))


def solve(a: Array, b: Array) -> Array:
    """x with a x = b; a `b` of one axis is a vector."""
    a, b = promote_inexact(a, b)
    if len(na.shape(b)) == 1:
        return na.squeeze(na.solve(a, na.expand_dims(b, -1)), axis=-1)
    return na.solve(a, b)


def lstsq(
    a: Array, b: Array, rcond: Any = None, *, numpy_resid: builtins.bool = False
) -> tuple[Array, Array, Array, Array]:
    """(solution, residuals, rank, singular values) of a least squares problem."""
    a, b = promote_inexact(a, b)
    m, n = na.shape(a)
    is_vector = len(na.shape(b)) == 1
    b = na.expand_dims(b, -1) if is_vector else b
    u, s, vh = na.svd(a, full_matrices=False)
    eps = na.finfo(na.dtype_of(s)).eps
    rcond = (
        eps * max(m, n)
        if rcond is None
        else eps
        if rcond is not None and _is_negative(rcond)
        else rcond
    )
    is_kept = na.greater_equal(s, na.multiply(rcond, na.getitem(s, 0)))
    is_kept = na.logical_and(is_kept, na.greater(s, 0))
    rank = as_index(na.sum(na.astype(is_kept, dtypes.int32)))
    safe = na.where(is_kept, s, na.ones_like(s))
    inverse = na.where(is_kept, na.reciprocal(safe), na.zeros_like(s))
    inverse = na.expand_dims(cast(inverse, na.dtype_of(a)), -1)
    x = na.matmul(_adjoint(vh), na.multiply(inverse, na.matmul(_adjoint(u), b)))
    residuals = na.sum(na.square(na.abs(na.subtract(b, na.matmul(a, x)))), axis=0)
    if numpy_resid and (int(rank) < n or m <= n):
        residuals = na.zeros((0,), dtype=na.dtype_of(residuals), like=a)
    return na.squeeze(x, axis=-1) if is_vector else x, residuals, rank, s


def _is_negative(x: Any) -> builtins.bool:
    return isinstance(x, (int, float)) and x < 0


def pinv(
    a: Array,
    rtol: Any = None,
    hermitian: builtins.bool = False,
    *,
    rcond: Any = None,
) -> Array:
    """The Moore-Penrose inverse."""
    a = inexact(a)
    rtol = rcond if rtol is None else rtol
    if rtol is None:
        rtol = 10.0 * max(na.shape(a)[-2:]) * na.finfo(na.dtype_of(a)).eps
    return na.pinv(a, rtol=rtol)


def matrix_rank(
    M: Array, rtol: Any = None, *, hermitian: builtins.bool = False, tol: Any = None
) -> Array:
    """The number of singular values above `rtol` times the largest one."""
    M = inexact(M)
    if len(na.shape(M)) < 2:
        return as_index(na.any(na.not_equal(M, 0)))
    s = na.svdvals(M)
    rtol = tol if rtol is None else rtol
    rtol = max(na.shape(M)[-2:]) * na.finfo(na.dtype_of(s)).eps if rtol is None else rtol
    least = na.multiply(na.max(s, axis=-1, keepdims=True), rtol)
    return as_index(na.count_nonzero(na.greater(s, least), axis=-1))


def det(a: Array) -> Array:
    """The determinant."""
    return na.det(inexact(a))


def slogdet(a: Array, *, method: str | None = None) -> SlogdetResult:
    """(sign, logarithm of the absolute value) of the determinant."""
    return SlogdetResult(*na.slogdet(inexact(a)))


def tensorinv(a: Array, ind: int = 2) -> Array:
    """The inverse of `tensordot` with `a`."""
    return na.tensorinv(inexact(a), ind=ind)


def tensorsolve(a: Array, b: Array, axes: Sequence[int] | None = None) -> Array:
    """x with ``tensordot(a, x, b.ndim) == b``."""
    return na.tensorsolve(*promote_inexact(a, b), axes=axes)


# -- norms ---------------------------------------------------------------------------------------


def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: builtins.bool = False) -> Array:
    """A norm of vectors or matrices; without `ord`, the 2-norm of all elements along axes."""
    x = inexact(x)
    rank = len(na.shape(x))
    if axis is None and ord is None:
        squares = na.sum(_squares(na.reshape(x, (-1,))))
        return na.reshape(na.sqrt(squares), (1,) * rank) if keepdims else na.sqrt(squares)
    axes = tuple(range(rank)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ArgumentError(f"norm: axis: got {axis}, expected one axis or two")
    rows, columns = (normal_axis(a, rank) for a in axes)
    moved = na.moveaxis(x, (rows, columns), (-2, -1))
    found = matrix_norm(moved, ord="fro" if ord is None else ord)
    return na.expand_dims(found, (rows, columns)) if keepdims else found


def _squares(x: Array) -> Array:
    return na.real(na.multiply(x, na.conj(x)))


def vector_norm(
    x: Array, /, *, axis: Any = None, keepdims: builtins.bool = False, ord: Any = 2
) -> Array:
    """A norm of vectors, or of all elements."""
    x = inexact(x)
    if axis is None:
        rank = len(na.shape(x))
        found = vector_norm(na.reshape(x, (-1,)), axis=0, ord=ord)
        return na.reshape(found, (1,) * rank) if keepdims else found
    if ord == 2:
        return na.sqrt(na.sum(_squares(x), axis=axis, keepdims=keepdims))
    size = na.abs(x)
    if ord == math.inf:
        return na.max(size, axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return na.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return na.sum(cast(na.not_equal(x, 0), na.dtype_of(size)), axis=axis, keepdims=keepdims)
    if ord == 1:
        return na.sum(size, axis=axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ArgumentError(f"norm: ord: got {ord!r}, expected a number for vectors")
    total = na.sum(na.pow(size, ord), axis=axis, keepdims=keepdims)
    return na.pow(total, 1.0 / ord)


def matrix_norm(x: Array, /, *, keepdims: builtins.bool = False, ord: Any = "fro") -> Array:
    """A norm of matrices."""
    x = inexact(x)
    if ord in (None, "fro"):
        return na.sqrt(na.sum(_squares(x), axis=(-2, -1), keepdims=keepdims))
    if ord in (1, -1, math.inf, -math.inf):
        first, last = (-2, -1) if abs(ord) == 1 else (-1, -2)
        sums = na.sum(na.abs(x), axis=first, keepdims=True)
        reduce = na.max if ord > 0 else na.min
        found = reduce(sums, axis=last, keepdims=True)
    elif ord in (2, -2, "nuc"):
        values = na.svdvals(x)
        reduce = na.sum if ord == "nuc" else na.max if ord == 2 else na.min
        found = na.expand_dims(reduce(values, axis=-1, keepdims=True), -1)
    else:
        raise ArgumentError(
            f"norm: ord: got {ord!r}, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices"
        )
    return found if keepdims else na.squeeze(found, axis=(-2, -1))


def cond(x: Array, p: Any = None) -> Array:
    """The condition number: norm(x) · norm(x⁻¹)."""
    x = inexact(x)
    if p in (None, 2, -2):
        s = na.svdvals(x)
        first, last = na.getitem(s, (..., 0)), na.getitem(s, (..., -1))
        return na.divide(last, first) if p == -2 else na.divide(first, last)
    found = na.multiply(norm(x, p, (-2, -1)), norm(na.inv(x), p, (-2, -1)))
    is_missing = na.any(na.isnan(x), axis=(-2, -1))
    found = na.where(
        na.logical_and(na.isnan(found), na.logical_not(is_missing)),
        na.full_like(found, math.inf),
        found,
    )
    return cast(found, real_dtype(na.dtype_of(x)))
