"""Factors of matrices of low rank, from products with a few random vectors.

N. Halko, P. G. Martinsson, J. A. Tropp, https://arxiv.org/abs/0909.4061, algorithm 5.1.
Upstream: https://docs.pytorch.org/docs/stable/generated/torch.svd_lowrank.html
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import shape_of
from nestarray.frontends.torch.sampling import required_key
from nestarray.frontends.torch.shaping import adjoint
from nestarray.typing import Array

__all__ = ["pca_lowrank", "svd_lowrank"]


def svd_lowrank(
    A: Array, q: int = 6, niter: int = 2, M: Array | None = None, *, key: Array | None = None
) -> tuple[Array, Array, Array]:
    """U, S and V with A − M ≈ U diag(S) Vᴴ, of at most `q` columns."""
    A = A if M is None else na.subtract(A, M)
    m, n = shape_of(A)[-2:]
    if m < n:  # the factors of Aᴴ the other way round
        V, S, U = _factors(adjoint(A), q, niter, required_key("svd_lowrank", key))
        return U, S, V
    return _factors(A, q, niter, required_key("svd_lowrank", key))


def _factors(A: Array, q: int, niter: int, key: Array) -> tuple[Array, Array, Array]:
    dtype = dtypes.dtype_of(A)
    if dtype.kind == "complex":
        real = dtypes.float64 if dtype is dtypes.complex128 else dtypes.float32
        parts = (
            na.random.normal(k, (shape_of(A)[-1], q), dtype=real) for k in na.random.split(key)
        )
        random = na.add(*(na.multiply(na.astype(p, dtype), c) for p, c in zip(parts, (1.0, 1.0j))))
    else:
        random = na.random.normal(key, (shape_of(A)[-1], q), dtype=dtype)
    Q = na.qr(na.matmul(A, random))[0]
    for _ in range(niter):
        Q = na.qr(na.matmul(adjoint(A), Q))[0]
        Q = na.qr(na.matmul(A, Q))[0]
    U, S, Vh = na.svd(na.matmul(adjoint(Q), A), full_matrices=False)
    return na.matmul(Q, U), S, adjoint(Vh)


def pca_lowrank(
    A: Array,
    q: int | None = None,
    center: bool = True,
    niter: int = 2,
    *,
    key: Array | None = None,
) -> tuple[Array, Array, Array]:
    """The principal components: `svd_lowrank` of the rows less their mean."""
    m, n = shape_of(A)[-2:]
    count = min(6, m, n) if q is None else q
    if not 0 <= count <= min(m, n):
        raise ArgumentError(f"pca_lowrank: q: got {q}, expected 0 to {min(m, n)}")
    if niter < 0:
        raise ArgumentError(f"pca_lowrank: niter: got {niter}, expected 0 or more")
    A = na.subtract(A, na.mean(A, axis=-2, keepdims=True)) if center else A
    return svd_lowrank(A, count, niter, key=required_key("pca_lowrank", key))
