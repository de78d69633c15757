"""JAX: `nestarray.ops.searching`."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nestarray.backends.base import choosing, lenient, promoted, refuse_complex, supports
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.core import native_dtype
from nestarray.backends.jax.elementwise import _cast
from nestarray.backends.results import TopKResult

argmax = lenient(partial(jnp.argmax))
argmin = lenient(partial(jnp.argmin))


@supports("size is None or fill_value.__class__ is int and x.size")  # nothing is filled with 0
def nonzero(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> tuple[Any, ...]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nonzero.html"""
    return jnp.nonzero(x) if size is None else jnp.nonzero(x, size=size, fill_value=fill_value)


where = choosing(jnp.where, _cast, boolean=np.dtype(bool))


@compiled
def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.searchsorted.html"""
    x1, x2 = promoted((x1, x2), _cast)
    refuse_complex(x1)
    return jnp.searchsorted(x1, x2, side=side, sorter=sorter).astype(native_dtype("int64"))


def _takes_last(x: Any, /, k: int, *, axis: int = -1, largest: bool = True) -> bool:
    return largest is True and axis in (-1, x.ndim - 1)


@supports(_takes_last)
def top_k(x: Any, /, k: int, *, axis: int = -1, largest: bool = True) -> TopKResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.top_k.html"""
    values, indices = jax.lax.top_k(x, k)
    return TopKResult(values, indices.astype(native_dtype("int64")))
