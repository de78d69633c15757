"""JAX: `nestarray.ops.sets`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.promotion import promoted


@compiled
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.isin.html"""
    return jnp.isin(*promoted((x1, x2)), invert=invert)
