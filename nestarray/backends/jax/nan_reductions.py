"""JAX: `nestarray.ops.nan_reductions`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import accumulation_dtype, mean_dtype, refuse_complex
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.core import native_dtype


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


@compiled
def nansum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nansum.html"""
    dtype = native_dtype(accumulation_dtype(x, dtype))
    return jnp.nansum(x, axis=_axes(axis), dtype=dtype, keepdims=keepdims)


@compiled
def nanprod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nanprod.html"""
    dtype = native_dtype(accumulation_dtype(x, dtype))
    return jnp.nanprod(x, axis=_axes(axis), dtype=dtype, keepdims=keepdims)


@compiled
def nanmean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nanmean.html"""
    return jnp.nanmean(x, axis=_axes(axis), dtype=native_dtype(mean_dtype(x)), keepdims=keepdims)


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
