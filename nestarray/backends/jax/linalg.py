"""JAX: `nestarray.ops.linalg`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends import xp
from nestarray.backends.base import mean_dtype, supports
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.core import native_dtype
from nestarray.backends.jax.derivatives import with_derivative_of
from nestarray.backends.jax.promotion import cast, promoted
from nestarray.backends.precision import in_single_precision
from nestarray.numerics.determinants import differentiable_det
from nestarray.numerics.matrices import check_square
from nestarray.numerics.results import SlogdetResult
from nestarray.numerics.roots import root

_single = in_single_precision(cast)

matrix_transpose = jnp.matrix_transpose
_power = in_single_precision(cast, integers=True)(jnp.linalg.matrix_power)


@supports(lambda x, n: n >= 0)  # the inverse of integers is not integral
def matrix_power(x: Any, /, n: int) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.matrix_power.html"""
    return _power(x, n)


def _differentiable_det(x: Any) -> Any:
    return differentiable_det(xp, x, jnp.linalg.det, jax.lax.cond)


det = compiled(_single(with_derivative_of(_differentiable_det, jnp.linalg.det)))


@compiled
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.diagonal.html"""
    return jnp.diagonal(x, offset, -2, -1)


@compiled
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.cross.html"""
    return jnp.linalg.cross(*promoted((x1, x2)), axis=axis)


@compiled
def kron(x1: Any, x2: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.kron.html"""
    return jnp.kron(*promoted((x1, x2)))


@supports(lambda *_, ord=2, **__: ord == 2)
@compiled
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.vector_norm.html

    JAX's function has the derivative NaN at the zero vector.
    """
    x = x.astype(native_dtype(mean_dtype(x)))
    axis = tuple(axis) if isinstance(axis, list) else axis
    return root(jnp, jnp.sum(jnp.real(x * jnp.conj(x)), axis=axis, keepdims=keepdims))


@compiled
@_single
def slogdet(x: Any, /) -> SlogdetResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.slogdet.html"""
    size = x.shape[-1]
    if not 1 < size < 4:
        return SlogdetResult(*jnp.linalg.slogdet(x))
    # by the determinant, which underflows
    scale = jax.lax.stop_gradient(jnp.max(jnp.abs(x), axis=(-2, -1)))
    scale = jnp.where((scale > 0) & jnp.isfinite(scale), scale, 1)
    sign, logarithm = jnp.linalg.slogdet(x / scale[..., None, None])
    return SlogdetResult(sign, logarithm + size * jnp.log(scale))


# its approximation loses up to four digits in single precision, the body one
@_single
@supports(lambda x: x.dtype in (jnp.float64, jnp.complex128))
def expm(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.scipy.linalg.expm.html"""
    check_square("expm", "x", x)
    return jax.scipy.linalg.expm(x)
