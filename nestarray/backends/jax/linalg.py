"""JAX: `nestarray.ops.linalg`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.base import mean_dtype, promoted
from nestarray.backends.jax.core import native_dtype
from nestarray.backends.jax.elementwise import _cast
from nestarray.backends.results import (
    EighResult,
    EigResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)

matrix_transpose = jnp.matrix_transpose
det = jnp.linalg.det
inv = jnp.linalg.inv
svdvals = jnp.linalg.svdvals
eigvalsh = jnp.linalg.eigvalsh
matrix_norm = jnp.linalg.matrix_norm
matrix_power = jnp.linalg.matrix_power


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.diagonal.html"""
    return jnp.diagonal(x, offset, -2, -1)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.cross.html"""
    return jnp.linalg.cross(*promoted((x1, x2), _cast), axis=axis)


def kron(x1: Any, x2: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.kron.html"""
    return jnp.kron(*promoted((x1, x2), _cast))


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.vector_norm.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    axis = tuple(axis) if isinstance(axis, list) else axis
    return jnp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def slogdet(x: Any, /) -> SlogdetResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.slogdet.html"""
    return SlogdetResult(*jnp.linalg.slogdet(x))


def solve(x1: Any, x2: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.solve.html"""
    return jnp.linalg.solve(*promoted((x1, x2), _cast))


def solve_triangular(x1: Any, x2: Any, /, *, upper: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.scipy.linalg.solve_triangular.html"""
    x1, x2 = promoted((x1, x2), _cast)
    right = x2[:, None] if x2.ndim == 1 else x2
    batch = jnp.broadcast_shapes(x1.shape[:-2], right.shape[:-2])
    x1 = jnp.broadcast_to(x1, (*batch, *x1.shape[-2:]))
    right = jnp.broadcast_to(right, (*batch, *right.shape[-2:]))
    solution = jax.scipy.linalg.solve_triangular(x1, right, lower=not upper)
    return solution[..., 0] if x2.ndim == 1 else solution


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.cholesky.html"""
    return jnp.linalg.cholesky(x, upper=upper)


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.qr.html"""
    return QRResult(*jnp.linalg.qr(x, mode))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.svd.html"""
    return SVDResult(*jnp.linalg.svd(x, full_matrices))


def eigh(x: Any, /) -> EighResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.eigh.html"""
    return EighResult(*jnp.linalg.eigh(x))


def eig(x: Any, /) -> EigResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.eig.html"""
    return EigResult(*jnp.linalg.eig(x))


def pinv(x: Any, /, *, rtol: float | None = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.pinv.html"""
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(jnp.finfo(x.dtype).eps)
    return jnp.linalg.pinv(x, rtol=rtol)
