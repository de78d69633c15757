"""JAX: `nestarray.ops.matrices`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import supports
from nestarray.backends.jax.compiled import compiled


@supports(lambda x, **_: x.ndim in (1, 2))
@compiled
def diag(x: Any, /, *, k: int = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.diag.html"""
    return jnp.diag(x, k)
