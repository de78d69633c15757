"""JAX: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.jax import core
from nestarray.backends.jax.core import native_dtype


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.astype.html"""
    cast = jnp.asarray(x).astype(native_dtype(dtype), copy=copy)
    return cast if device is None else core.to_device(cast, device)


def stop_gradient(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.stop_gradient.html"""
    return jax.lax.stop_gradient(x)
