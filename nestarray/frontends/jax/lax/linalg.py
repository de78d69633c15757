"""Factors of matrices.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html#module-jax.lax.linalg
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.typing import Array

__all__ = [
    "cholesky", "eig", "eigh", "fft", "lu", "lu_pivots_to_permutation", "qr", "svd",
    "symmetric_product", "triangular_solve", "tridiagonal_solve",
]  # fmt: skip


def fft(x: Array, fft_type: str, fft_lengths: Sequence[int]) -> Array:
    """The discrete Fourier transform of the last axes: FFT, IFFT, RFFT or IRFFT."""
    kind = str(fft_type).lower()
    axes = tuple(range(-len(fft_lengths), 0))
    function = {"fft": na.fftn, "ifft": na.ifftn, "rfft": na.rfftn, "irfft": na.irfftn}[kind]
    return function(x, s=tuple(fft_lengths), axes=axes)


def eigh(
    x: Array,
    *,
    lower: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
) -> tuple[Array, Array]:
    """(eigenvectors, ascending eigenvalues) of a Hermitian matrix, of which one triangle is read."""
    half = na.tril(x) if lower else na.conj(na.matrix_transpose(na.triu(x)))
    whole = half + na.conj(na.matrix_transpose(na.tril(half, k=-1)))
    values, vectors = na.eigh(whole)
    if subset_by_index is not None:
        part = slice(*subset_by_index)
        values, vectors = na.getitem(values, (..., part)), na.getitem(vectors, (..., part))
    return vectors, values


def qr(x: Array, *, full_matrices: bool = True) -> tuple[Array, Array]:
    """(Q, R) with x = Q R."""
    q, r = na.qr(x, mode="complete" if full_matrices else "reduced")
    return q, r


def svd(
    x: Array,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
) -> tuple[Array, ...]:
    """(singular values, U, Vᴴ), or the values alone."""
    if not compute_uv:
        return (na.svdvals(x),)
    u, s, vh = na.svd(x, full_matrices=full_matrices)
    return s, u, vh


def cholesky(x: Array) -> Array:
    """The lower factor L of x = L Lᴴ; only the lower triangle of x is read."""
    lower = na.tril(x)
    return na.cholesky(lower + na.conj(na.matrix_transpose(na.tril(x, k=-1))))


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
    x: Array, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True
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
