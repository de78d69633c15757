"""JAX: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray import dtypes
from nestarray.backends.checks.shapes import check_bitcast
from nestarray.backends.jax import core
from nestarray.backends.jax.core import native_dtype
from nestarray.errors import DtypeError


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.astype.html"""
    cast = jnp.asarray(x).astype(native_dtype(dtype), copy=copy)
    return cast if device is None else core.to_device(cast, device)


def bitcast(x: Any, dtype: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.Array.view.html"""
    wanted, native = dtypes.as_dtype(dtype), native_dtype(dtype)
    if native.name != wanted.name:
        raise DtypeError(
            f"bitcast: dtype: jax computes in 32 bits and has no {wanted.name} now. Call "
            'jax.config.update("jax_enable_x64", True) first'
        )
    check_bitcast(x, dtype)
    return jax.lax.stop_gradient(jnp.asarray(x)).view(native)


def stop_gradient(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.stop_gradient.html"""
    return jax.lax.stop_gradient(x)
