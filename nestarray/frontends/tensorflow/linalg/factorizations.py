"""Factorizations and eigenvalues.

Upstream: https://www.tensorflow.org/api_docs/python/tf/linalg
"""

from __future__ import annotations

from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import inexact, integers, tensors
from nestarray.frontends.tensorflow.linalg.diagonals import diag
from nestarray.typing import Array, DTypeLike

__all__ = [
    "cholesky", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh", "lu", "qr", "svd",
]  # fmt: skip


class Qr(NamedTuple):
    """Orthonormal columns and an upper triangular matrix."""

    q: Any
    r: Any


class Lu(NamedTuple):
    """Both factors in one matrix, and the permutation of the rows."""

    lu: Any
    p: Any


def cholesky(input: Any, name: str | None = None) -> Array:
    """The lower triangular factor of hermitian positive definite matrices."""
    return na.cholesky(inexact("cholesky", input))


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Orthonormal columns and an upper triangular matrix, whose product is `input`."""
    found = na.qr(inexact("qr", input), mode="complete" if full_matrices else "reduced")
    return Qr(found.Q, found.R)


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """The singular values, descending, and with `compute_uv` both matrices of singular vectors."""
    x = inexact("svd", tensor)
    if not compute_uv:
        return na.svdvals(x)
    u, s, vh = na.svd(x, full_matrices=full_matrices)
    v = na.matrix_transpose(vh)
    return s, u, na.conj(v) if dtypes.dtype_of(v).kind == "complex" else v


def eig(tensor: Any, name: str | None = None) -> tuple[Array, Array]:
    """The eigenvalues and eigenvectors, complex, in no order."""
    values, vectors = na.eig(inexact("eig", tensor))
    return values, vectors


def eigvals(tensor: Any, name: str | None = None) -> Array:
    """The eigenvalues, complex, in no order."""
    return na.eigvals(inexact("eigvals", tensor))


def eigh(tensor: Any, name: str | None = None) -> tuple[Array, Array]:
    """The eigenvalues, ascending, and the eigenvectors of hermitian matrices."""
    values, vectors = na.eigh(_from_lower(inexact("eigh", tensor)))
    return _like_matrix(values, vectors), vectors


def eigvalsh(tensor: Any, name: str | None = None) -> Array:
    """The eigenvalues of hermitian matrices, ascending."""
    x = _from_lower(inexact("eigvalsh", tensor))
    return _like_matrix(na.eigvalsh(x), x)


def _from_lower(x: Array) -> Array:
    """The hermitian matrix with this lower triangle: upstream reads, and derives by, no other."""
    below = na.matrix_transpose(na.tril(x, k=-1))
    is_complex = dtypes.dtype_of(x).kind == "complex"
    return na.add(na.tril(x), na.conj(below) if is_complex else below)


def _like_matrix(values: Array, matrix: Array) -> Array:
    """Eigenvalues in the dtype of the matrix, as upstream returns them."""
    dtype = dtypes.dtype_of(matrix)
    return na.complex(values, na.zeros_like(values)) if dtype.kind == "complex" else values


def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Any:
    """The eigenvalues of a hermitian tridiagonal matrix, ascending, by its dense form.

    Args:
        alpha: `(n,)`, the diagonal.
        beta: `(n − 1,)`, the diagonal above.
        eigvals_only: False returns the eigenvectors too, as columns.
        select: ``"a"`` all eigenvalues, ``"i"`` those with indices in `select_range`, both limits
            included, ``"v"`` those in the half-open interval.
        select_range: two numbers.
        tol: without effect: all values have full precision.
        name: without effect.
    """
    alpha, beta = tensors("eigh_tridiagonal", alpha, beta)
    below = na.conj(beta) if dtypes.dtype_of(beta).kind == "complex" else beta
    matrix = na.add(diag(alpha), na.add(diag(beta, k=1), diag(below, k=-1)))
    values, vectors = (na.eigvalsh(matrix), None) if eigvals_only else na.eigh(matrix)
    if select == "i":
        first, last = integers(select_range)
        kept: Any = slice(first, last + 1)
    elif select == "v":
        low, high = select_range
        is_inside = na.logical_and(na.greater(values, low), na.less_equal(values, high))
        kept = na.nonzero(is_inside)[0]
    elif select == "a":
        kept = slice(None)
    else:
        raise ArgumentError(f"eigh_tridiagonal: select: got {select!r}, expected 'a', 'i' or 'v'")
    if vectors is None:
        return na.getitem(values, kept)
    return na.getitem(values, kept), na.getitem(vectors, (slice(None), kept))


def lu(input: Any, output_idx_type: DTypeLike = dtypes.int32, name: str | None = None) -> Lu:
    """L without its diagonal and U in one matrix, and the permutation: input[p] = L U."""
    permutation, lower, upper = na.lu(inexact("lu", input))
    rows = na.argmax(na.astype(na.real(permutation), dtypes.float32), axis=-2)
    return Lu(na.add(na.tril(lower, k=-1), upper), na.astype(rows, output_idx_type))
