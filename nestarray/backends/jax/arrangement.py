"""JAX: `nestarray.ops.arrangement`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import supports
from nestarray.backends.jax.compiled import compiled
from nestarray.numerics.axes import are_plane  # in a condition given as text


@supports(lambda x, axes=(0, 1), **_: (axes == (0, 1) and x.ndim > 1) or are_plane(x, axes))
@compiled
def rot90(x: Any, /, *, k: int = 1, axes: Any = (0, 1)) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.rot90.html"""
    return jnp.rot90(x, k, tuple(axes))
