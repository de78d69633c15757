"""JAX: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.jax.core import native_dtype


def astype(x: Any, dtype: Any, *, copy: bool = True) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.astype.html"""
    return jnp.asarray(x).astype(native_dtype(dtype), copy=copy)


def stop_gradient(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.stop_gradient.html"""
    return jax.lax.stop_gradient(x)
