"""JAX: `nestarray.ops.indexing`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nestarray import dtypes
from nestarray.backends import xp
from nestarray.backends.base import refuse_complex
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.derivatives import with_derivative_of
from nestarray.backends.jax.promotion import cast
from nestarray.backends.precision import is_half
from nestarray.numerics.fills import check_fill
from nestarray.numerics.index import (
    ON_THE_HOST,
    as_tuple,
    axes_taken,
    check_mode,
    check_numbers,
    check_rows,
    expanded,
    without_ones,
)
from nestarray.numerics.products import products_at

_METHODS = {"replace": "set", "add": "add", "min": "min", "max": "max"}


def getitem(x: Any, index: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"""
    items = as_tuple(index)
    if any(isinstance(item, bool) for item in items):
        x, items = _without_bools(x, items)
    elif any(isinstance(item, ON_THE_HOST) for item in items):
        check_numbers("getitem", items, x.shape)  # JAX clips
    if any(isinstance(item, jax.Array) for item in items):
        return x.at[items].get(mode="fill")  # instead of clipping
    return x[items]


def _without_bools(x: Any, items: Any) -> tuple[Any, tuple[Any, ...]]:
    """Replace True and False by new axes of length 1 or 0; JAX misreads them together with None."""
    items = expanded(items, x.ndim)
    axes: list[Any] = []
    for item in items:
        axes += [None] if isinstance(item, bool) else [slice(None)] * axes_taken(item)
    places = [np.zeros(int(i), np.int32) if isinstance(i, bool) else i for i in items]
    return x[tuple(axes)], tuple(places)


def setitem(x: Any, index: Any, value: Any, /, *, mode: str = "replace") -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"""
    check_fill("setitem", "value", value, x.dtype)
    if mode in ("min", "max"):
        refuse_complex(x)
    # directly: an int above the range of int64 fits uint64
    value = cast(value, x.dtype) if value.__class__ is int else jnp.asarray(value).astype(x.dtype)
    items = as_tuple(index)
    if any(isinstance(item, ON_THE_HOST) for item in items):
        check_numbers("setitem", items, x.shape)  # JAX drops other positions
    if value.shape[:1] == (1,):
        value = value.reshape(without_ones(value.shape, x[items].ndim))
    if 0 in x.shape:  # JAX does not check the shape of the value
        jnp.broadcast_to(value, x[items].shape)
    mask = items[0] if len(items) == 1 else None
    is_traced_mask = isinstance(mask, jax.core.Tracer) and mask.dtype == bool
    if is_traced_mask and value.ndim == 0 and mask.shape == x.shape[: mask.ndim]:
        changed = setitem(x, ..., value, mode=mode)  # JAX takes only masks with known values
        return jnp.where(jnp.expand_dims(mask, tuple(range(mask.ndim, x.ndim))), changed, x)
    if check_mode(mode, "setitem") == "mul":
        return _multiplied(x, items, value)
    if mode == "add" and is_half(dtypes.as_dtype(x.dtype)):  # sums are rounded once
        return x.astype(jnp.float32).at[items].add(value).astype(x.dtype)
    if mode == "replace" and jnp.issubdtype(x.dtype, jnp.inexact) and _may_repeat(items):
        return _replaced(x, items, value)
    if isinstance(value, jax.core.Tracer) and value.ndim:
        # XLA writes in place while it reads a shifted slice: https://github.com/openxla/xla/issues/49176
        value = jax.lax.optimization_barrier(value)
    return getattr(x.at[items], _METHODS[mode])(value)


def _may_repeat(items: tuple[Any, ...]) -> bool:
    """Whether an index can select a position twice: it has an array of integers, not masks alone."""
    return any(hasattr(x, "dtype") and x.dtype != bool and x.size > 1 for x in items)


def _replaced(x: Any, items: tuple[Any, ...], value: Any) -> Any:
    """``x.at[items].set(value)``, where each written element has the derivative of its position.

    JAX's own derivative finds the one that remains; PyTorch and TensorFlow do not.
    """
    arrays, filled = _apart(items)

    @jax.custom_jvp
    def replace(x: Any, value: Any, *arrays: Any) -> Any:
        return x.at[filled(arrays)].set(value)

    @replace.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        x, _, *arrays = primals
        index, (dx, dvalue, *_) = filled(arrays), tangents
        is_kept = jnp.ones(x.shape, bool).at[index].set(False)
        return replace(*primals), jnp.where(is_kept, dx, 0).at[index].add(dvalue)

    return replace(x, value, *arrays)


def _multiplied(x: Any, items: tuple[Any, ...], value: Any) -> Any:
    """``x.at[items].mul(value)``, which JAX differentiates for unique positions only."""
    arrays, filled = _apart(items)

    def native(x: Any, value: Any, *arrays: Any) -> Any:
        return x.at[filled(arrays)].mul(value)

    def smooth(x: Any, value: Any, *arrays: Any) -> Any:
        index = filled(arrays)
        places = jnp.arange(x.size).reshape(x.shape).at[index].get(mode="fill", fill_value=x.size)
        factors = jnp.broadcast_to(value, places.shape).astype(x.dtype)
        products = products_at(xp, x.reshape(-1), places.reshape(-1), factors.reshape(-1))
        return products.reshape(x.shape)

    return with_derivative_of(smooth, native)(jnp.asarray(x), jnp.asarray(value), *arrays)


def _apart(items: tuple[Any, ...]) -> tuple[list[Any], Callable[[Sequence[Any]], tuple[Any, ...]]]:
    """The arrays of an index, and the index with other arrays: functions with a rule take these.

    A traced array that the rule only closes over is lost under `jax.checkpoint`.
    """
    places = [i for i, item in enumerate(items) if isinstance(item, jax.Array)]

    def filled(arrays: Sequence[Any]) -> tuple[Any, ...]:
        index = list(items)
        for i, x in zip(places, arrays, strict=True):
            index[i] = x
        return tuple(index)

    return [items[i] for i in places], filled


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take.html"""
    if indices.dtype == bool:
        raise TypeError("JAX takes False and True for 0 and 1")
    return jnp.take(x, indices, axis=axis)


@compiled
def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take_along_axis.html"""
    return jnp.take_along_axis(x, indices, axis)


@compiled
def embedding(indices: Any, weight: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"""
    check_rows(weight)
    if indices.dtype == bool:
        raise TypeError("JAX takes False and True for 0 and 1")
    return weight.at[indices].get(mode="fill", wrap_negative_indices=False)
