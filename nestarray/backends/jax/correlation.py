"""JAX: `nestarray.ops.correlation`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import mean_dtype, supports
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.core import native_dtype
from nestarray.backends.jax.promotion import in_float32


def _is_plain(x: Any, rowvar: bool, correction: float) -> bool:
    """Whether x has variables, and more observations than an integer correction."""
    if x.ndim not in (1, 2) or 0 in x.shape:
        return False
    return float(correction).is_integer() and x.shape[-1 if rowvar else 0] > correction


@supports(
    lambda x, rowvar=True, correction=1.0, fweights=None, aweights=None: (
        fweights is aweights is None and _is_plain(x, rowvar, correction)
    )
)
@compiled
def cov(
    x: Any,
    /,
    *,
    rowvar: bool = True,
    correction: float = 1.0,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.cov.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    return in_float32(lambda x: jnp.cov(x, rowvar=rowvar, ddof=int(correction)))(x)


@supports(lambda x, **_: x.ndim in (1, 2) and 0 not in x.shape)
@compiled
def corrcoef(x: Any, /, *, rowvar: bool = True) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.corrcoef.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    return in_float32(lambda x: jnp.corrcoef(x, rowvar=rowvar))(x)
