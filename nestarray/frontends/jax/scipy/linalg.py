"""Linear algebra with SciPy's names. ``overwrite_a`` and ``check_finite`` have no effect.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.linalg
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax.lax import linalg as lax_linalg
from nestarray.frontends.jax.numpy import linalg
from nestarray.frontends.jax.promotion import as_dtype, as_index, inexact, promote, promote_inexact
from nestarray.typing import Array, DTypeLike

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "circulant", "companion",
    "convolution_matrix", "det", "dft", "eigh", "eigh_tridiagonal", "expm", "expm_frechet",
    "fiedler", "fiedler_companion", "funm", "hadamard", "hankel", "helmert", "hessenberg", "hilbert", "inv",
    "invhilbert", "invpascal", "leslie", "lu", "lu_factor", "lu_solve", "pascal", "polar", "qr",
    "qr_multiply", "rsf2csf", "schur", "solve", "solve_sylvester", "solve_triangular", "sqrtm", "svd", "toeplitz",
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


def schur(a: Array, output: str = "real") -> tuple[Array, Array]:
    """(T, Z) with a = Z T Zᴴ: T is triangular; for "real" and real a, with blocks of two rows."""
    if output not in ("real", "complex"):
        raise ArgumentError(f"schur: output: got {output!r}, expected 'real' or 'complex'")
    form, vectors = lax_linalg.schur(_complex(a) if output == "complex" else a)
    return form, vectors


def _complex(a: Array) -> Array:
    dtype = dtypes.dtype_of(a)
    return na.astype(a, _COMPLEX.get(dtype, dtype))


_COMPLEX = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


def rsf2csf(T: Array, Z: Array, check_finite: bool = True) -> tuple[Array, Array]:
    """The complex Schur form and its vectors, of the real ones: each block by one rotation."""
    T, Z = map(_complex, promote_inexact(T, Z))
    batch = np.broadcast_shapes(na.shape(T)[:-2], na.shape(Z)[:-2])
    T, Z = (na.broadcast_to(x, (*batch, *na.shape(x)[-2:])) for x in (T, Z))
    eps = float(dtypes.finfo(dtypes.dtype_of(T)).eps)
    for m in range(na.shape(T)[-1] - 1, 0, -1):
        pair, below = slice(m - 1, m + 1), na.getitem(T, (..., m, m - 1))
        first, last = na.getitem(T, (..., m - 1, m - 1)), na.getitem(T, (..., m, m))
        is_block = na.greater(na.abs(below), eps * (na.abs(first) + na.abs(last)))
        half, above = (first - last) / 2, na.getitem(T, (..., m - 1, m))
        root = na.real(half * half + above * below)
        shift = half + na.sqrt(na.complex(root, na.zeros_like(root)))  # eigenvalue − last
        length = na.astype(na.hypot(na.abs(shift), na.abs(below)), dtypes.dtype_of(T))
        length = na.where(is_block, length, na.ones_like(length))
        c = na.where(is_block, shift / length, na.ones_like(length))
        s = na.where(is_block, below / length, na.zeros_like(length))
        rows = [na.stack([na.conj(c), s], axis=-1), na.stack([-s, c], axis=-1)]
        rotation = na.stack(rows, axis=-2)
        adjoint = na.conj(na.matrix_transpose(rotation))
        for place, factors in (
            ((..., pair, slice(m - 1, None)), (rotation, None)),
            ((..., slice(None, m + 1), pair), (None, adjoint)),
        ):
            part = na.getitem(T, place)
            left, right = factors
            part = na.matmul(part, right) if left is None else na.matmul(left, part)
            T = na.setitem(T, place, part)
        columns = (..., slice(None), pair)
        Z = na.setitem(Z, columns, na.matmul(na.getitem(Z, columns), adjoint))
        T = na.setitem(T, (..., m, m - 1), 0)
    return T, Z


def funm(
    A: Array, func: Callable[[Array], Array], disp: bool = True
) -> Array | tuple[Array, Array]:
    """A function of a matrix, complex: `func` of its eigenvalues, by Parlett's recurrence.

    Args:
        A: `(n, n)`.
        func: function of an array of numbers.
        disp: whether the estimate of the relative error is left out.

    References:
        https://doi.org/10.1016/0024-3795(76)90018-5
    """
    A = inexact(A)
    if len(na.shape(A)) != 2 or na.shape(A)[0] != na.shape(A)[1]:
        raise ArgumentError(f"funm: A: got the shape {tuple(na.shape(A))}, expected (n, n)")
    T, Z = rsf2csf(*schur(A))
    values = na.diagonal(T)
    found = na.diagflat(na.astype(func(values), dtypes.dtype_of(T)))
    gaps = na.expand_dims(values, 0) - na.expand_dims(values, 1)  # of column and row
    is_equal = na.equal(gaps, 0)
    for k in range(1, na.shape(T)[0]):  # the diagonal k of F follows from F T = T F
        change = na.matmul(T, found) - na.matmul(found, T)
        change = na.triu(na.tril(change, k=k), k=k)
        found = found + change / na.where(is_equal, na.ones_like(gaps), gaps)
    found = na.matmul(na.matmul(Z, found), na.conj(na.matrix_transpose(Z)))
    if disp:
        return found
    eps = float(dtypes.finfo(dtypes.dtype_of(T)).eps)
    above = na.triu(na.ones_like(na.abs(gaps)), k=1)
    smallest = na.minimum(
        na.abs(na.getitem(values, 0)), na.min(na.where(na.equal(above, 1), na.abs(gaps), math.inf))
    )
    smallest = na.where(na.equal(smallest, 0), eps, smallest)
    error = eps / smallest * na.matrix_norm(na.triu(T, k=1), ord=1)
    error = na.minimum(na.maximum(error, eps), 1.0)
    return found, na.where(na.any(na.isinf(found)), math.inf, error)


# -- special matrices ----------------------------------------------------------------------------


def hessenberg(
    a: Array, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array | tuple[Array, Array]:
    """H of a = Q H Qᴴ with zeros below its subdiagonal; with `calc_q` (H, Q)."""
    a = inexact(a)
    n = na.shape(a)[-1]
    if n < 3:
        eye = na.broadcast_to(na.eye(n, dtype=dtypes.dtype_of(a), like=a), na.shape(a))
        return (a, eye) if calc_q else a
    packed, taus = lax_linalg.hessenberg(a)
    h = na.triu(packed, k=-1)
    if not calc_q:
        return h
    part = na.getitem(packed, (..., slice(1, None), slice(None, -1)))
    q = lax_linalg.householder_product(part, taus)
    pads = [(0, 0)] * (len(na.shape(a)) - 2) + [(1, 0), (1, 0)]
    first = na.zeros_like(a)
    first = na.setitem(first, (..., 0, 0), 1)
    return h, na.add(na.pad(q, pads), first)


def qr_multiply(
    a: Array,
    c: Array,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """(c Q, R), or with `mode` "left" (Q c, R), of a = Q R; with `pivoting` the order too."""
    if mode not in ("left", "right"):
        raise ArgumentError(f"qr_multiply: mode: got {mode!r}, expected 'left' or 'right'")
    a, c = promote_inexact(a, c)
    is_vector = len(na.shape(c)) == 1
    c = na.expand_dims(c, -1 if mode == "left" else 0) if is_vector else c
    found = lax_linalg.qr(a, full_matrices=False, pivoting=pivoting)
    q = na.conj(found[0]) if conjugate and dtypes.dtype_of(a).kind == "complex" else found[0]
    product = na.matmul(q, c) if mode == "left" else na.matmul(c, q)
    product = na.squeeze(product, axis=-1 if mode == "left" else 0) if is_vector else product
    return (product, *found[1:])


def eigh_tridiagonal(
    d: Array,
    e: Array,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: Array | None = None,
) -> Array:
    """The eigenvalues of a symmetric tridiagonal matrix with diagonals `d` and `e`, ascending.

    Args:
        d, e: `(n,)` and `(n - 1,)`.
        eigvals_only: True, as upstream requires.
        select: "a" for all, "i" for the eigenvalues of the numbers `select_range`, inclusive.
        select_range: (first, last).
        tol, key: not used.
    """
    if not eigvals_only:
        raise UnsupportedError("eigh_tridiagonal: eigvals_only: got False, expected True")
    if select not in ("a", "i"):
        raise UnsupportedError(f"eigh_tridiagonal: select: got {select!r}, expected 'a' or 'i'")
    d, e = promote_inexact(d, e)
    if dtypes.dtype_of(d).kind == "complex":
        d = na.real(d)
    matrix = na.diagflat(na.astype(d, dtypes.dtype_of(e)))
    if na.shape(d)[0] > 1:
        beside = na.add(na.diagflat(e, k=-1), na.diagflat(na.conj(e), k=1))
        matrix = na.add(matrix, beside)
    values = na.eigvalsh(matrix)
    if select == "a":
        return values
    if select_range is None:
        raise ArgumentError("eigh_tridiagonal: select_range: got None, expected (first, last)")
    return na.getitem(values, slice(int(select_range[0]), int(select_range[1]) + 1))


def expm_frechet(
    A: Array, E: Array, *, method: str | None = None, compute_expm: bool = True
) -> Array | tuple[Array, Array]:
    """(expm(A), its derivative in the direction E), or the derivative alone."""
    A, E = promote_inexact(A, E)
    value, tangent = na.jvp(lambda x: expm(x), [A], [E])
    return (value, tangent) if compute_expm else tangent


def solve_sylvester(
    A: Array, B: Array, C: Array, *, method: str = "schur", tol: float = 1e-8
) -> Array:
    """X with A X + X B = C, as one linear system of all elements."""
    A, B, C = promote_inexact(A, B, C)
    m, n = na.shape(A)[-1], na.shape(B)[-1]
    eyes = [na.eye(k, dtype=dtypes.dtype_of(A), like=A) for k in (m, n)]
    system = na.add(na.kron(A, eyes[1]), na.kron(eyes[0], na.matrix_transpose(B)))
    return na.reshape(na.solve(system, na.reshape(C, (m * n,))), (m, n))


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


def fiedler_companion(a: Array) -> Array:
    """The pentadiagonal matrix whose characteristic polynomial has the coefficients `a`."""
    a = inexact(a)
    n = na.shape(a)[0] - 1
    if n < 1:
        return na.zeros((0,), dtype=dtypes.dtype_of(a), like=a)
    scaled = na.negative(na.divide(na.getitem(a, slice(1, None)), na.getitem(a, 0)))
    numbers = na.asarray([0.0, 1.0], dtype=dtypes.dtype_of(a), like=a)
    places = np.zeros((n, n), "int64")  # into 0, 1, −a₁/a₀, −a₂/a₀, …
    for i in range(n):
        if i % 2 == 0:
            places[i, i + 1 : i + 2] = i + 3
            places[i, i + 2 : i + 3] = 1
            places[i, max(i - 1, 0)] = i + 2
        elif i > 1:
            places[i, i - 2] = 1
    if n > 1:
        places[1, 0] = 1
    index = na.asarray(places, like=a)
    return na.take(na.concat([numbers, scaled]), index, axis=0)


def _constant(values: Any) -> Array:
    """Numbers as an array of the default backend, float32."""
    return na.asarray(np.asarray(values, "float32"))


def helmert(n: int, full: bool = False) -> Array:
    """Orthogonal contrasts: rows that sum to 0; with `full` the constant row first."""
    if n <= 0:
        raise ArgumentError(f"helmert: n: got {n}, expected a positive number")
    rows = np.tril(np.ones((n, n)), -1) - np.diag(np.arange(n))
    rows[0] = 1
    lengths = np.sqrt(np.arange(n) * (np.arange(n) + 1.0))
    lengths[0] = np.sqrt(n)
    return _constant((rows / lengths[:, None])[0 if full else 1 :])


def _binomials(n: int) -> list[list[int]]:
    return [[math.comb(i, j) for j in range(n)] for i in range(n)]


def pascal(n: int, kind: str | None = None) -> Array:
    """Pascal's matrix of binomial coefficients: "symmetric" (None), "lower" or "upper"."""
    lower = np.asarray(_binomials(n), dtype=object)
    return _constant(_of_kind("pascal", kind, lower, lambda: lower @ lower.T))


def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of `pascal`."""
    signs = (-1) ** np.add.outer(np.arange(n), np.arange(n))
    lower = np.asarray(_binomials(n), dtype=object) * signs
    return _constant(_of_kind("invpascal", kind, lower, lambda: lower.T @ lower))


def _of_kind(function: str, kind: str | None, lower: Any, symmetric: Callable[[], Any]) -> Any:
    if kind not in (None, "symmetric", "lower", "upper"):
        raise ArgumentError(
            f"{function}: kind: got {kind!r}, expected 'symmetric', 'lower' or 'upper'"
        )
    return lower if kind == "lower" else lower.T if kind == "upper" else symmetric()


def invhilbert(n: int) -> Array:
    """The inverse of `hilbert`, of integers."""
    found = np.zeros((n, n), dtype=object)
    for i in range(n):
        for j in range(n):
            ways = math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1)
            found[i, j] = (-1) ** (i + j) * (i + j + 1) * ways * math.comb(i + j, i) ** 2
    return _constant(found)


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
