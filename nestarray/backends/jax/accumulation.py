"""Sums and products of half precision, which JAX rounds at each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from nestarray.backends.jax.core import native_dtype
from nestarray.backends.precision import is_half


def accumulated(reduce: Callable[..., Any], x: Any, wanted: Any, **settings: Any) -> Any:
    """A sum or a product in dtype `wanted`, of half precision in float32.

    JAX accumulates in the `dtype` that it is given, and products in half precision.
    """
    native = native_dtype(wanted)
    if not is_half(wanted):
        return reduce(x, dtype=native, **settings)
    return reduce(x.astype(native), dtype=jnp.float32, **settings).astype(native)
