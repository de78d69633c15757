"""JAX: `nestarray.ops.linear_systems`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.base import supports
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.promotion import cast, promoted
from nestarray.backends.precision import in_single_precision
from nestarray.numerics.matrices import check_factors

_single = in_single_precision(cast)
_single_pair = in_single_precision(cast, arrays=(0, 1))

inv = compiled(_single(jnp.linalg.inv))


@compiled
@_single_pair
def solve(x1: Any, x2: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.solve.html"""
    return jnp.linalg.solve(*promoted((x1, x2)))


@compiled
@_single_pair
def solve_triangular(
    x1: Any, x2: Any, /, *, upper: bool = False, unit_diagonal: bool = False
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.scipy.linalg.solve_triangular.html"""
    x1, x2 = promoted((x1, x2))
    right = x2[:, None] if x2.ndim == 1 else x2
    batch = jnp.broadcast_shapes(x1.shape[:-2], right.shape[:-2])
    x1 = jnp.broadcast_to(x1, (*batch, *x1.shape[-2:]))
    right = jnp.broadcast_to(right, (*batch, *right.shape[-2:]))
    solution = jax.scipy.linalg.solve_triangular(
        x1, right, lower=not upper, unit_diagonal=unit_diagonal
    )
    return solution[..., 0] if x2.ndim == 1 else solution


@supports(lambda *_, atol=None, **_settings: atol is None)
@compiled
@_single
def pinv(x: Any, /, *, rtol: Any = None, atol: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.pinv.html"""
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(jnp.finfo(x.dtype).eps)
    return jnp.linalg.pinv(x, rtol=rtol)


@compiled
@in_single_precision(cast, arrays=(0, 2))
def lu_solve(LU: Any, pivots: Any, x2: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.scipy.linalg.lu_solve.html"""
    check_factors(LU, pivots, x2)
    LU, x2 = promoted((LU, x2))
    right = x2[:, None] if x2.ndim == 1 else x2
    batch = jnp.broadcast_shapes(LU.shape[:-2], right.shape[:-2])
    LU = jnp.broadcast_to(LU, (*batch, *LU.shape[-2:]))
    right = jnp.broadcast_to(right, (*batch, *right.shape[-2:]))
    pivots = jnp.broadcast_to(pivots.astype(jnp.int32), (*batch, pivots.shape[-1]))
    solution = jax.scipy.linalg.lu_solve((LU, pivots), right)
    return solution[..., 0] if x2.ndim == 1 else solution
