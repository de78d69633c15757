"""JAX: `nestarray.ops.sorting`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray import dtypes
from nestarray.backends.base import refuse_complex, supports
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.core import native_dtype
from nestarray.numerics.axes import has_place


@compiled
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.sort.html"""
    refuse_complex(x)
    if not descending:
        return jnp.sort(x, axis=axis, stable=stable)
    # reverse, sort, reverse: equal elements keep their order, and so do their derivatives
    return jnp.flip(jnp.sort(jnp.flip(x, axis), axis=axis, stable=stable), axis)


@compiled
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.argsort.html"""
    refuse_complex(x)
    return jnp.argsort(x, axis=axis, descending=descending, stable=stable)


@supports(has_place)
def argpartition(x: Any, kth: int, /, *, axis: int = -1) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.argpartition.html"""
    refuse_complex(x)
    return jnp.argpartition(x, kth, axis).astype(native_dtype(dtypes.int64))
