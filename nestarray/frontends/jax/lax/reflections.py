"""Householder reflections: H = I − τ v vᴴ, of which v₀ = 1 is not stored.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html#module-jax.lax.linalg. Signs are LAPACK's.

References:
    https://www.netlib.org/lapack/explore-html/d8/d0d/group__larfg.html
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.typing import Array

__all__ = ["hessenberg", "householder_product", "ormqr", "tridiagonal"]


def _reflection(x: Array, i: int) -> tuple[Array, Array, Array]:
    """(v, τ, β) with Hᴴ x = β at place i and zeros after it, of x `(*batch, n)`.

    v is 1 at place i and 0 before it; τ and β have the shape `(*batch,)`.
    """
    places = na.arange(na.shape(x)[-1], like=x)
    rest = na.where(na.greater(places, i), x, na.zeros_like(x))
    first = na.getitem(x, (..., i))
    length = na.vector_norm(rest, axis=-1)
    is_complex = dtypes.dtype_of(x).kind == "complex"
    real = na.real(first) if is_complex else first
    is_none = na.equal(length, 0)
    if is_complex:
        is_none = na.logical_and(is_none, na.equal(na.imag(first), 0))
    size = na.hypot(na.abs(first), length)
    beta = na.where(na.less(real, 0), size, na.negative(size))
    safe = na.where(is_none, na.ones_like(beta), beta)
    if is_complex:
        safe = na.astype(safe, dtypes.dtype_of(x))
    tau = na.where(is_none, na.zeros_like(first), na.divide(na.subtract(safe, first), safe))
    scale = na.where(is_none, na.ones_like(first), na.subtract(first, safe))
    v = na.divide(rest, na.expand_dims(scale, -1))
    one = na.astype(na.equal(places, i), dtypes.dtype_of(x))
    beta = na.where(is_none, first, safe)
    return na.add(v, one), tau, beta


def _from_left(v: Array, tau: Array, x: Array) -> Array:
    """(I − τ v vᴴ) x."""
    column = na.expand_dims(v, -1)
    product = na.matmul(na.conj(na.matrix_transpose(column)), x)
    return na.subtract(x, na.multiply(na.expand_dims(tau, (-2, -1)), na.matmul(column, product)))


def _from_right(v: Array, tau: Array, x: Array) -> Array:
    """x (I − τ v vᴴ)."""
    column = na.expand_dims(v, -1)
    product = na.matmul(na.matmul(x, column), na.conj(na.matrix_transpose(column)))
    return na.subtract(x, na.multiply(na.expand_dims(tau, (-2, -1)), product))


def geqrf(a: Array) -> tuple[Array, Array]:
    """(R with the vectors of the reflections below its diagonal, their τ): A = Q R."""
    *batch, m, n = na.shape(a)
    vectors, taus = [], []
    for i in range(min(m, n)):
        v, tau, _ = _reflection(na.getitem(a, (..., i)), i)
        a = _from_left(v, na.conj(tau), a)
        vectors.append(v)
        taus.append(tau)
    if not taus:
        return a, na.zeros((*batch, 0), dtype=dtypes.dtype_of(a), like=a)
    packed = na.stack([*vectors, *[na.zeros_like(vectors[0])] * (n - len(taus))], axis=-1)
    return na.add(na.triu(a), na.tril(packed, k=-1)), na.stack(taus, axis=-1)


def hessenberg(a: Array) -> tuple[Array, Array]:
    """(H with the vectors of the reflections below its subdiagonal, their τ): A = Q H Qᴴ."""
    n = na.shape(a)[-1]
    vectors, taus = [], []
    for i in range(n - 1):
        v, tau, _ = _reflection(na.getitem(a, (..., i)), i + 1)
        a = _from_right(v, tau, _from_left(v, na.conj(tau), a))
        vectors.append(v)
        taus.append(tau)
    if not taus:
        return a, na.zeros_like(na.getitem(a, (..., 0)))[..., :0]
    packed = na.stack([*vectors, na.zeros_like(vectors[0])], axis=-1)
    return na.add(na.triu(a, k=-1), na.tril(packed, k=-2)), na.stack(taus, axis=-1)


def tridiagonal(a: Array, *, lower: bool = True) -> tuple[Array, Array, Array, Array]:
    """(vectors of reflections, diagonal, off-diagonal, τ) of a Hermitian matrix: A = Q T Qᴴ."""
    if not lower:
        packed, d, e, taus = tridiagonal(na.flip(a, axis=(-2, -1)))
        packed = na.flip(packed, axis=(-2, -1))
        return packed, na.flip(d, axis=-1), na.flip(e, axis=-1), na.flip(taus, axis=-1)
    below = na.tril(a, k=-1)
    whole = na.add(na.tril(a), na.conj(na.matrix_transpose(below)))
    packed, taus = hessenberg(whole)
    d = na.real(na.diagonal(packed))
    e = na.real(na.diagonal(packed, offset=-1))
    return na.add(na.tril(packed), na.triu(a, k=1)), d, e, taus


def householder_product(a: Array, taus: Array) -> Array:
    """H₀ H₁ …, its first n columns, of the vectors below the diagonal of `a` `(*batch, m, n)`."""
    return na.householder_product(a, taus)


def ormqr(a: Array, taus: Array, c: Array, *, left: bool = True, transpose: bool = False) -> Array:
    """Q c, or c Q if not `left`, of Q = H₀ H₁ …, or of Qᴴ with `transpose`."""
    count = na.shape(taus)[-1]
    rows = na.arange(na.shape(a)[-2], like=a)
    order = range(count) if left == transpose else range(count - 1, -1, -1)
    for i in order:
        column, tau = na.getitem(a, (..., i)), na.getitem(taus, (..., i))
        v = na.where(na.greater(rows, i), column, na.zeros_like(column))
        v = na.add(v, na.astype(na.equal(rows, i), dtypes.dtype_of(a)))
        tau = na.conj(tau) if transpose else tau
        c = _from_left(v, tau, c) if left else _from_right(v, tau, c)
    return c
