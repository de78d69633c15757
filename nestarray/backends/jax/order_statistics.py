"""JAX: `nestarray.ops.order_statistics`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import refuse_complex


def ptp(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ptp.html"""
    refuse_complex(x)
    return jnp.ptp(x, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)
