"""JAX: `nestarray.ops.complex_numbers`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.base import parts_dtype
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.promotion import cast


@compiled
def complex(real: Any, imag: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.complex.html"""
    dtype = parts_dtype("complex", real=real, imag=imag)
    return jax.lax.complex(*jnp.broadcast_arrays(cast(real, dtype), cast(imag, dtype)))
