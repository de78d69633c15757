"""JAX: `nestarray.ops.searching`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nestarray.backends import portable
from nestarray.backends.base import refuse_complex, supports
from nestarray.backends.checks.positions import check_sorter
from nestarray.backends.jax.compiled import compiled, traced
from nestarray.backends.jax.core import native_dtype
from nestarray.backends.jax.promotion import cast, promoted
from nestarray.backends.promotion import choosing
from nestarray.numerics.results import TopKResult


def argmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.argmax.html"""
    return jnp.argmax(x, axis=axis, keepdims=keepdims)


def argmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.argmin.html"""
    return jnp.argmin(x, axis=axis, keepdims=keepdims)


@supports(
    lambda x, size=None, fill_value=0: size is None or (fill_value.__class__ is int and x.size)
)  # JAX pads with 0
def nonzero(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> tuple[Any, ...]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nonzero.html"""
    return jnp.nonzero(x) if size is None else jnp.nonzero(x, size=size, fill_value=fill_value)


where = choosing(jnp.where, cast, boolean=np.dtype(bool), finish=traced)


@compiled
def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.searchsorted.html"""
    check_sorter("searchsorted", {"x1": x1, "sorter": sorter})
    x1, x2 = promoted((x1, x2))
    refuse_complex(x1)
    if sorter is None and not isinstance(x1.shape[-1], int):  # JAX takes the length as a number
        return portable.searchsorted(x1, x2, side)
    return jnp.searchsorted(x1, x2, side=side, sorter=sorter).astype(native_dtype("int64"))


def _takes_last(x: Any, /, k: int, *, axis: int = -1, largest: bool = True) -> bool:
    return largest is True and axis in (-1, x.ndim - 1)


@supports(_takes_last)
def top_k(x: Any, /, k: int, *, axis: int = -1, largest: bool = True) -> TopKResult:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.top_k.html"""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        values, indices = jax.lax.top_k(x, k)
        return TopKResult(values, indices.astype(native_dtype("int64")))
    # jax.lax.top_k orders −0 before 0
    level = jnp.where(x == 0, 0, jax.lax.stop_gradient(x))
    indices = jax.lax.top_k(level, k)[1].astype(native_dtype("int64"))
    values = jnp.take_along_axis(x, indices, axis=-1, mode="promise_in_bounds")
    return TopKResult(values, indices)
