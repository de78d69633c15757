"""JAX: `nestarray.ops.factorizations`."""

from __future__ import annotations

import inspect
from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.base import supports
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.core import native_dtype
from nestarray.backends.jax.derivatives import with_derivative_of
from nestarray.backends.jax.promotion import cast
from nestarray.backends.precision import in_single_precision
from nestarray.numerics.matrices import check_matrices, check_square
from nestarray.numerics.results import (
    EighResult,
    EigResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SVDResult,
)

_single = in_single_precision(cast)

#: New in JAX 0.10.1.
_HAS_DERIVATIVES_OF_VECTORS = (
    "enable_eigvec_derivs" in inspect.signature(jax.lax.linalg.eig).parameters
)

svdvals = compiled(_single(jnp.linalg.svdvals))


@compiled
@_single
def eigvalsh(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.eigvalsh.html"""
    check_square("eigvalsh", "x", x)  # JAX adds the adjoint, which may broadcast
    return jnp.linalg.eigvalsh(_of_triangle(x))


def _of_triangle(x: Any, *, upper: bool = False) -> Any:
    """The Hermitian matrix of one triangle, with Hermitian derivatives; JAX averages both."""

    def adjoint(x: Any) -> Any:
        return jnp.conj(jnp.matrix_transpose(x))

    def mirrored(x: Any) -> Any:
        if upper:
            return jnp.triu(x) + jnp.tril(adjoint(x), -1)
        return jnp.tril(x) + jnp.triu(adjoint(x), 1)

    return with_derivative_of(lambda x: (x + adjoint(x)) / 2, mirrored)(x)


@compiled
@_single
def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.cholesky.html"""
    check_square("cholesky", "x", x)  # JAX adds the adjoint, which may broadcast
    return jnp.linalg.cholesky(_of_triangle(x, upper=upper), upper=upper)


@supports(lambda *_, pivoting=False, **_settings: not pivoting)
@compiled
@_single
def qr(x: Any, /, *, mode: str = "reduced", pivoting: bool = False) -> QRResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.qr.html"""
    return QRResult(*jnp.linalg.qr(x, mode))


@compiled
@_single
def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.svd.html"""
    return SVDResult(*jnp.linalg.svd(x, full_matrices))


@compiled
@_single
def eigh(x: Any, /) -> EighResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.eigh.html"""
    check_square("eigh", "x", x)  # JAX adds the adjoint, which may broadcast
    return EighResult(*jnp.linalg.eigh(_of_triangle(x)))


@compiled
@_single
def eig(x: Any, /) -> EigResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.eig.html"""
    if not x.size:  # JAX cannot differentiate eigenvectors of an empty array
        x = jax.lax.stop_gradient(x)
    # the derivative assumes vectors of length 1 and a loss independent of their phase
    derivatives = {"enable_eigvec_derivs": x.size > 0} if _HAS_DERIVATIVES_OF_VECTORS else {}
    return EigResult(*jax.lax.linalg.eig(x, compute_left_eigenvectors=False, **derivatives))


@compiled
@_single
def lu_factor(x: Any, /) -> LUFactorResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.scipy.linalg.lu_factor.html"""
    check_matrices("lu_factor", "x", x)
    LU, pivots = jax.scipy.linalg.lu_factor(x)
    return LUFactorResult(LU, pivots.astype(native_dtype("int64")))


@compiled
@_single
def lu(x: Any, /) -> LUResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.linalg.lu.html"""
    check_matrices("lu", "x", x)
    LU, _, order = jax.lax.linalg.lu(x)  # jax.scipy.linalg.lu supports one matrix only
    m, n = x.shape[-2:]
    k = min(m, n)
    L = jnp.tril(LU[..., :k], -1) + jnp.eye(m, k, dtype=LU.dtype)
    P = jax.nn.one_hot(order, m, dtype=LU.real.dtype, axis=-2)
    return LUResult(P, L, jnp.triu(LU[..., :k, :]))
