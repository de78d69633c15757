"""Linear algebra with SciPy's names. ``overwrite_a`` and ``check_finite`` have no effect.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.linalg
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.numpy import linalg
from nestarray.frontends.jax.promotion import as_dtype, as_index, inexact, promote, promote_inexact
from nestarray.typing import Array, DTypeLike

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "circulant", "companion",
    "convolution_matrix", "det", "dft", "eigh", "expm", "fiedler", "hadamard", "hankel", "hilbert",
    "inv", "leslie", "lu", "lu_factor", "lu_solve", "polar", "qr", "solve", "solve_triangular",
    "sqrtm", "svd", "toeplitz",
]  # fmt: skip

# -- factors and systems -------------------------------------------------------------------------


def cholesky(
    a: Array, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """The upper factor, or the lower one; the other triangle of `a` is not read."""
    return linalg.cholesky(a, upper=not lower, symmetrize_input=False)


def cho_factor(
    a: Array, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """(factor, lower), for `cho_solve`."""
    return cholesky(a, lower), lower


def cho_solve(
    c_and_lower: tuple[Array, bool],
    b: Array,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """x with a x = b, from the factor of `cho_factor`."""
    factor, is_lower = c_and_lower
    factor, b = promote_inexact(factor, b)
    first = solve_triangular(factor, b, 0 if is_lower else 2, is_lower)
    return solve_triangular(factor, first, 2 if is_lower else 0, is_lower)


def solve_triangular(
    a: Array,
    b: Array,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """x with a x = b of a triangular matrix; aᵀ for trans 1 or "T", aᴴ for 2 or "C"."""
    a, b = promote_inexact(a, b)
    kind = {"N": 0, "T": 1, "C": 2}.get(trans, trans) if isinstance(trans, str) else trans
    if kind not in (0, 1, 2):
        raise ArgumentError(
            f"solve_triangular: trans: got {trans!r}, expected 0, 1, 2, 'N', 'T' or 'C'"
        )
    if kind:
        a, lower = na.matrix_transpose(a), not lower
    a = na.conj(a) if kind == 2 else a
    is_vector = len(na.shape(b)) < len(na.shape(a))
    right = na.expand_dims(b, -1) if is_vector else b
    found = na.solve_triangular(a, right, upper=not lower, unit_diagonal=unit_diagonal)
    return na.squeeze(found, axis=-1) if is_vector else found


def solve(
    a: Array,
    b: Array,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """x with a x = b; with `assume_a` "pos" of one triangle of a positive definite matrix."""
    a, b = promote_inexact(a, b)
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ArgumentError(
            f"solve: assume_a: got {assume_a!r}, expected 'gen', 'sym', 'her' or 'pos'"
        )
    return cho_solve(cho_factor(a, lower), b) if assume_a == "pos" else linalg.solve(a, b)


def lu(
    a: Array, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, ...]:
    """(P, L, U) with a = P L U, or (P L, U)."""
    permutation, lower, upper = na.lu(inexact(a))
    return (na.matmul(permutation, lower), upper) if permute_l else (permutation, lower, upper)


def lu_factor(
    a: Array, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, Array]:
    """(L and U in one matrix, the row that each row was exchanged with)."""
    factors, pivots = na.lu_factor(inexact(a))
    return factors, as_index(pivots)


def lu_solve(
    lu_and_piv: tuple[Array, Array],
    b: Array,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """x with a x = b, from the factors of `lu_factor`; aᵀ for trans 1, aᴴ for 2."""
    factors, pivots = lu_and_piv
    size = na.shape(factors)[-1]
    order = _permutation(pivots, size)
    is_vector = len(na.shape(b)) < len(na.shape(factors))
    right = na.expand_dims(b, -1) if is_vector else b
    if trans == 0:
        right = na.take(right, order, axis=-2)
        right = solve_triangular(factors, right, 0, True, True)
        found = solve_triangular(factors, right)
    else:
        right = solve_triangular(factors, right, trans)
        right = solve_triangular(factors, right, trans, True, True)
        found = na.take(right, na.argsort(order), axis=-2)
    return na.squeeze(found, axis=-1) if is_vector else found


def _permutation(pivots: Array, size: int) -> Array:
    """The order of rows after all exchanges, of one matrix."""
    order = na.arange(size, dtype=dtypes.int32, like=pivots)
    for i, pivot in enumerate(na.unstack(pivots)):
        first, second = na.getitem(order, i), na.take(order, pivot)
        order = na.setitem(order, i, second)
        order = na.setitem(order, pivot, first)
    return order


def qr(
    a: Array,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """(Q, R), or R alone for the mode "r"; with `pivoting` also the order of columns."""
    a = inexact(a)
    if pivoting:
        q, r, order = na.qr(a, mode="reduced" if mode == "economic" else "complete", pivoting=True)
        return (r, as_index(order)) if mode == "r" else (q, r, as_index(order))
    q, r = linalg.qr(a, "reduced" if mode == "economic" else "complete")
    return (r,) if mode == "r" else (q, r)


def svd(
    a: Array,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """(U, singular values, Vᴴ), or the values alone."""
    found = linalg.svd(a, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def eigh(
    a: Array,
    b: Array | None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: Any = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues and eigenvectors of a Hermitian matrix; of (a + aᴴ) / 2 if it is not."""
    if b is not None or eigvals is not None or type != 1:
        raise ArgumentError("eigh: b, eigvals, type: expected their defaults, as upstream")
    values, vectors = linalg.eigh(a)
    return values if eigvals_only else (values, vectors)


def det(a: Array, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant."""
    return linalg.det(a)


def inv(a: Array, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverse."""
    return linalg.inv(a)


def expm(A: Array, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The matrix exponential."""
    return na.expm(inexact(A))


def sqrtm(A: Array, blocksize: int = 1) -> Array:
    """The matrix square root, complex."""
    A = inexact(A)
    wide = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
    return na.sqrtm(na.astype(A, wide.get(na.dtype_of(A), na.dtype_of(A))))


def polar(
    a: Array,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """(unitary factor, positive semidefinite factor)."""
    unitary, positive = na.polar_decomposition(inexact(a), side=side)
    return unitary, positive


# -- special matrices ----------------------------------------------------------------------------


def block_diag(*arrs: Array) -> Array:
    """Matrices along a diagonal."""
    return na.block_diag([na.atleast_2d(x) for x in promote(*arrs)])


def _gather(x: Array, places: Any) -> Array:
    """Elements at positions that shapes alone determine."""
    index = na.asarray(np.asarray(places, "int64"), like=x)
    found = na.take(x, na.reshape(index, (-1,)), axis=-1)
    return na.reshape(found, (*na.shape(x)[:-1], *na.shape(index)))


def toeplitz(c: Array, r: Array | None = None) -> Array:
    """A matrix with constant diagonals, of its first column and first row."""
    r = na.conj(c) if r is None else r
    c, r = promote(na.atleast_1d(c), na.atleast_1d(r))
    m, n = na.shape(c)[-1], na.shape(r)[-1]
    values = na.concat([na.flip(na.getitem(r, (..., slice(1, None))), axis=-1), c], axis=-1)
    return _gather(values, np.arange(m)[:, None] - np.arange(n)[None, :] + n - 1)


def hankel(c: Array, r: Array | None = None) -> Array:
    """A matrix with constant anti-diagonals, of its first column and last row."""
    c, r = promote(c, na.zeros_like(c) if r is None else r)
    m, n = na.shape(c)[-1], na.shape(r)[-1]
    values = na.concat([c, na.getitem(r, (..., slice(1, None)))], axis=-1)
    return _gather(values, np.arange(m)[:, None] + np.arange(n)[None, :])


def circulant(c: Array) -> Array:
    """A matrix of which each column is the one before it, rolled by 1."""
    n = na.shape(c)[-1]
    return _gather(c, (np.arange(n)[:, None] - np.arange(n)[None, :]) % n)


def companion(a: Array) -> Array:
    """The matrix with the characteristic polynomial `a`."""
    a = inexact(a)
    n = na.shape(a)[-1] - 1
    lead = na.shape(a)[:-1]
    top = na.divide(
        na.negative(na.getitem(a, (..., slice(1, None)))), na.getitem(a, (..., slice(0, 1)))
    )
    below = na.broadcast_to(na.eye(n - 1, n, dtype=na.dtype_of(a), like=a), (*lead, n - 1, n))
    return na.concat([na.expand_dims(top, -2), below], axis=-2)


def convolution_matrix(a: Array, n: int, mode: str = "full") -> Array:
    """The matrix that convolves a vector of length n with `a`."""
    m = na.shape(a)[-1]
    padded = na.pad(a, [*[(0, 0)] * (len(na.shape(a)) - 1), (n - 1, n - 1)])
    full = _gather(padded, np.arange(m + n - 1)[:, None] - np.arange(n)[None, :] + n - 1)
    length = {"full": m + n - 1, "same": max(m, n), "valid": max(m, n) - min(m, n) + 1}.get(mode)
    if length is None:
        raise ArgumentError(
            f"convolution_matrix: mode: got {mode!r}, expected 'full', 'same' or 'valid'"
        )
    start = (m + n - 1 - length) // 2
    return na.getitem(full, (..., slice(start, start + length), slice(None)))


def leslie(f: Array, s: Array) -> Array:
    """The Leslie matrix of fecundities and survivals."""
    f, s = promote(f, s)
    n = na.shape(f)[-1]
    below = na.pad(
        na.diag(s) if len(na.shape(s)) == 1 else _diagonals(s),
        [*[(0, 0)] * (len(na.shape(f)) - 1), (0, 0), (0, 1)],
    )
    return na.reshape(na.concat([na.expand_dims(f, -2), below], axis=-2), (*na.shape(f)[:-1], n, n))


def _diagonals(x: Array) -> Array:
    size = na.shape(x)[-1]
    return na.multiply(na.expand_dims(x, -1), na.eye(size, dtype=na.dtype_of(x), like=x))


def fiedler(a: Array) -> Array:
    """The absolute differences of all pairs of elements."""
    return na.abs(na.subtract(na.expand_dims(a, -1), na.expand_dims(a, -2)))


def hilbert(n: int) -> Array:
    """The matrix 1 / (i + j + 1)."""
    steps = na.arange(n, dtype=dtypes.float32)
    return na.reciprocal(na.add(na.add(na.expand_dims(steps, -1), steps), 1.0))


def hadamard(n: int, dtype: DTypeLike = int) -> Array:
    """The Hadamard matrix of a size that is a power of 2."""
    if n < 1 or n & (n - 1):
        raise ArgumentError(f"hadamard: n: got {n}, expected a power of 2")
    found = np.ones((1, 1), "int32")
    while len(found) < n:
        found = np.block([[found, found], [found, -found]])
    return na.asarray(found, dtype=as_dtype(dtype))


def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """The matrix of the discrete Fourier transform."""
    factor = {None: 1.0, "sqrtn": 1 / math.sqrt(n), "n": 1 / n}.get(scale)
    if factor is None:
        raise ArgumentError(f"dft: scale: got {scale!r}, expected None, 'sqrtn' or 'n'")
    steps = np.arange(n)
    found = np.exp(-2j * np.pi * (steps[:, None] * steps % n) / n) * factor
    return na.asarray(found, dtype=dtypes.complex64 if dtype is None else as_dtype(dtype))
