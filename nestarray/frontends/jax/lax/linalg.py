"""Factors of matrices.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html#module-jax.lax.linalg
"""

from __future__ import annotations

import enum
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.jax.lax.polar import qdwh
from nestarray.frontends.jax.lax.reflections import (
    hessenberg,
    householder_product,
    ormqr,
    tridiagonal,
)
from nestarray.frontends.jax.lax.schur import schur
from nestarray.typing import Array

__all__ = [
    "EigImplementation", "EighImplementation", "SvdAlgorithm", "cholesky", "cholesky_update", "eig",
    "eigh", "hessenberg", "householder_product", "lu", "lu_pivots_to_permutation", "ormqr", "qdwh",
    "qr", "schur", "svd", "symmetric_product", "triangular_solve", "tridiagonal",
    "tridiagonal_solve",
]  # fmt: skip


class EigImplementation(enum.Enum):
    """The library of `eig`."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """The algorithm of `eigh`."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """The algorithm of `svd`."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def _adjoint(x: Array) -> Array:
    return na.conj(na.matrix_transpose(x))


def _symmetrized(x: Array) -> Array:
    return na.divide(na.add(x, _adjoint(x)), 2)


def _product(x: Array, y: Array) -> Array:
    return na.matmul(x, y)


def eigh(
    x: Array,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: Any = None,
) -> tuple[Array, Array]:
    """(eigenvectors, ascending eigenvalues) of a Hermitian matrix.

    One triangle is read, of (x + xᴴ) / 2 with `symmetrize_input`.
    """
    x = _symmetrized(x) if symmetrize_input else x
    half = na.tril(x) if lower else _adjoint(na.triu(x))
    values, vectors = na.eigh(half + _adjoint(na.tril(half, k=-1)))
    if subset_by_index is not None:
        part = slice(*subset_by_index)
        values, vectors = na.getitem(values, (..., part)), na.getitem(vectors, (..., part))
    return vectors, values


def qr(
    x: Array, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> tuple[Array, ...]:
    """(Q, R) with x = Q R; with `pivoting` (Q, R, p) with x[:, p] = Q R."""
    mode = "complete" if full_matrices else "reduced"
    if not pivoting:
        q, r = na.qr(x, mode=mode)
        return q, r
    order = _pivots(x)
    index = na.expand_dims(na.astype(order, dtypes.int64), -2)
    q, r = na.qr(na.take_along_axis(x, na.broadcast_to(index, na.shape(x)), axis=-1), mode=mode)
    return q, r, order


def _pivots(x: Array) -> Array:
    """The order of the columns in which each has the largest rest, as of LAPACK's geqp3."""
    *batch, rows, columns = na.shape(x)
    x = na.stop_gradient(x)
    order = na.arange(columns, dtype=dtypes.int32, like=x)
    order = na.broadcast_to(order, (*batch, columns))
    for i in range(min(rows, columns)):
        rest = na.sum(na.square(na.abs(x)), axis=-2)
        is_left = na.greater_equal(na.arange(columns, like=order), i)
        best = na.argmax(na.where(is_left, rest, -1.0), axis=-1, keepdims=True)
        source = _exchanged(best, i, columns)
        order = na.take_along_axis(order, source, axis=-1)
        columns_of = na.broadcast_to(na.expand_dims(source, -2), na.shape(x))
        x = na.take_along_axis(x, columns_of, axis=-1)
        # remove the direction of column i from the others
        column = na.getitem(x, (..., slice(i, i + 1)))
        norm = na.vector_norm(column, axis=-2, keepdims=True)
        unit = na.divide(column, na.where(na.equal(norm, 0), na.ones_like(norm), norm))
        x = na.subtract(x, _product(unit, _product(_adjoint(unit), x)))
    return order


def _exchanged(best: Array, i: int, count: int) -> Array:
    """0, 1, …, count − 1 with i and `best` exchanged, int64."""
    places = na.arange(count, dtype=dtypes.int64, like=best)
    best = na.astype(best, dtypes.int64)
    found = na.where(na.equal(places, i), best, places)
    return na.where(na.equal(places, best), na.full_like(found, i), found)


def svd(
    x: Array,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: Any = None,
) -> Array | tuple[Array, Array, Array]:
    """(U, singular values, Vᴴ), or the values alone."""
    part = slice(*(subset_by_index or (None,)))
    if not compute_uv:
        return na.getitem(na.svdvals(x), (..., part))
    u, s, vh = na.svd(x, full_matrices=full_matrices)
    if subset_by_index is None:
        return u, s, vh
    u, vh = na.getitem(u, (..., part)), na.getitem(vh, (..., part, slice(None)))
    return u, na.getitem(s, (..., part)), vh


def cholesky(x: Array, *, symmetrize_input: bool = True) -> Array:
    """The lower factor L of x = L Lᴴ.

    The lower triangle of x is read, of (x + xᴴ) / 2 with `symmetrize_input`.
    """
    x = _symmetrized(x) if symmetrize_input else x
    lower = na.tril(x)
    return na.cholesky(lower + _adjoint(na.tril(x, k=-1)))


def cholesky_update(r_matrix: Array, w_vector: Array) -> Array:
    """The upper factor of RᵀR + w wᵀ of an upper R, by rotations of their rows."""
    rows = []
    for i in range(na.shape(r_matrix)[-1]):
        row = na.getitem(r_matrix, i)
        x, y = na.getitem(row, i), na.getitem(w_vector, i)
        c, s = _rotation(x, y)
        rows.append(na.add(na.multiply(c, row), na.multiply(s, w_vector)))
        w_vector = na.subtract(na.multiply(c, w_vector), na.multiply(s, row))
    return na.stack(rows)


def _rotation(x: Array, y: Array) -> tuple[Array, Array]:
    """(c, s) with c y = s x; c x + s y has the sign of the larger."""
    larger = na.where(na.greater(na.abs(x), na.abs(y)), x, y)
    length = na.multiply(na.hypot(x, y), na.where(na.less(larger, 0), -1.0, 1.0))
    is_one = na.equal(y, 0)
    length = na.where(is_one, na.ones_like(length), length)
    return na.where(is_one, na.ones_like(x), na.divide(x, length)), na.divide(y, length)


def triangular_solve(
    a: Array,
    b: Array,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """X with A X = B, or X A = B if not `left_side`, of a triangular A."""
    a = na.conj(a) if conjugate_a else a
    if transpose_a:
        a, lower = na.matrix_transpose(a), not lower
    if left_side:
        return na.solve_triangular(a, b, upper=not lower, unit_diagonal=unit_diagonal)
    found = na.solve_triangular(
        na.matrix_transpose(a), na.matrix_transpose(b), upper=lower, unit_diagonal=unit_diagonal
    )
    return na.matrix_transpose(found)


def eig(
    x: Array,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: Any = None,
    use_magma: bool | None = None,
) -> tuple[Array, ...]:
    """(eigenvalues, left eigenvectors, right eigenvectors), the latter if they are computed."""
    if not compute_left_eigenvectors and not compute_right_eigenvectors:
        return (na.eigvals(x),)
    values, right = na.eig(x)
    found = [values]
    if compute_left_eigenvectors:
        left = na.conj(na.matrix_transpose(na.inv(right)))
        found.append(na.divide(left, na.vector_norm(left, axis=-2, keepdims=True)))
    return (*found, right) if compute_right_eigenvectors else tuple(found)


def lu(x: Array) -> tuple[Array, Array, Array]:
    """(L without its diagonal and U in one matrix, pivots, permutation of the rows), int32."""
    factors, pivots = na.lu_factor(x)
    pivots = na.astype(pivots, dtypes.int32)
    return factors, pivots, lu_pivots_to_permutation(pivots, na.shape(x)[-2])


def lu_pivots_to_permutation(pivots: Array, permutation_size: int) -> Array:
    """The permutation of the rows that exchanges of row i and row ``pivots[i]`` make, in order."""
    *batch, count = na.shape(pivots)
    rows = na.arange(permutation_size, dtype=dtypes.int32, like=pivots)
    order = na.broadcast_to(rows, (*batch, permutation_size))
    for i in range(count):
        other = na.getitem(pivots, (..., slice(i, i + 1)))
        here = na.getitem(order, (..., slice(i, i + 1)))
        there = na.take_along_axis(order, na.astype(other, dtypes.int64), axis=-1)
        order = na.where(na.equal(rows, other), here, order)
        order = na.where(na.equal(rows, i), there, order)
    return order


def symmetric_product(
    a_matrix: Array,
    c_matrix: Array,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """α A Aᵀ + β C, of which only the lower triangle is defined unless `symmetrize_output`."""
    product = na.multiply(na.matmul(a_matrix, na.matrix_transpose(a_matrix)), alpha)
    found = na.add(product, na.multiply(c_matrix, beta))
    if not symmetrize_output:
        return found
    return na.tril(found) + na.matrix_transpose(na.tril(found, k=-1))


def tridiagonal_solve(
    dl: Array, d: Array, du: Array, b: Array, *, perturb_singular: bool = False
) -> Array:
    """X with A X = B of a tridiagonal A, by elimination without pivots.

    Args:
        dl, d, du: `(*batch, m)`, the diagonals below, in and above the middle; the first element
            of `dl` and the last of `du` are ignored.
        b: `(*batch, m, n)`.
        perturb_singular: whether pivots that are zero are replaced by the smallest normal number.
    """
    if not na.shape(d)[-1]:
        return b
    rows = [na.moveaxis(x, -1, 0) for x in (dl, d, du)]
    right = na.moveaxis(b, -2, 0)
    tiny = dtypes.finfo(dtypes.dtype_of(d)).smallest_normal

    def eliminate(carry: tuple[Array, Array], row: tuple[Array, ...]) -> Any:
        upper, above = carry
        low, middle, up, y = row
        pivot = na.subtract(middle, na.multiply(low, upper))
        if perturb_singular:
            pivot = na.where(na.equal(pivot, 0), na.full_like(pivot, tiny), pivot)
        new = na.divide(up, pivot)
        low, pivot = na.expand_dims(low, -1), na.expand_dims(pivot, -1)
        found = na.divide(na.subtract(y, na.multiply(low, above)), pivot)
        return (new, found), (new, found)

    def substitute(below: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
        upper, y = row
        found = na.subtract(y, na.multiply(na.expand_dims(upper, -1), below))
        return found, found

    start = na.zeros_like(na.getitem(rows[0], 0)), na.zeros_like(na.getitem(right, 0))
    _, eliminated = na.scan(eliminate, start, (*rows, right))
    _, solution = na.scan(substitute, start[1], eliminated, reverse=True)
    return na.moveaxis(solution, 0, -2)
