"""JAX: `nestarray.ops.nan_reductions`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import accumulation_dtype, mean_dtype, refuse_complex
from nestarray.backends.jax.accumulation import accumulated
from nestarray.backends.jax.compiled import compiled


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


@compiled
def nansum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nansum.html"""
    dtype = accumulation_dtype(x, dtype)
    return accumulated(jnp.nansum, x, dtype, axis=_axes(axis), keepdims=keepdims)


@compiled
def nanprod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nanprod.html"""
    dtype = accumulation_dtype(x, dtype)
    return accumulated(jnp.nanprod, x, dtype, axis=_axes(axis), keepdims=keepdims)


@compiled
def nanmean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nanmean.html"""
    return accumulated(jnp.nanmean, x, mean_dtype(x), axis=_axes(axis), keepdims=keepdims)


@compiled
def nanmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nanmax.html"""
    refuse_complex(x)
    return jnp.nanmax(x, axis=_axes(axis), keepdims=keepdims)


@compiled
def nanmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nanmin.html"""
    refuse_complex(x)
    return jnp.nanmin(x, axis=_axes(axis), keepdims=keepdims)
