"""JAX: `nestarray.ops.arrangement`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import lenient, supports
from nestarray.backends.fast_paths import at_defaults
from nestarray.backends.jax.compiled import compiled
from nestarray.numerics.axes import are_plane  # noqa: F401  # in a condition given as text


@at_defaults("jnp.rot90(x)")
@supports("(axes == (0, 1) and x.ndim > 1) or are_plane(x, axes)")
@lenient
@compiled
def rot90(x: Any, /, *, k: int = 1, axes: Any = (0, 1)) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.rot90.html"""
    return jnp.rot90(x, k, tuple(axes))
