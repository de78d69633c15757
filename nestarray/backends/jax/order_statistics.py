"""JAX: `nestarray.ops.order_statistics`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import lenient, refuse_complex
from nestarray.backends.fast_paths import at_defaults
from nestarray.backends.jax.core import FLOATING  # noqa: F401  # in conditions given as text


@at_defaults(
    "jnp.ptp(x) if axis is None else jnp.ptp(x, axis=axis)",
    where="x.dtype in FLOATING",
)
@lenient
def ptp(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ptp.html"""
    refuse_complex(x)
    return jnp.ptp(x, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)
