"""Factors of matrices.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html#module-jax.lax.linalg
"""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray.typing import Array

__all__ = ["cholesky", "eigh", "fft", "qr", "svd", "triangular_solve"]


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
