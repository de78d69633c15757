"""JAX: `nestarray.ops.creation`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray import dtypes
from nestarray.backends.base import lengths, supports, whole_range
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.core import device_to_share, find_device, native_dtype
from nestarray.numerics.fills import check_fill


def _dtype(dtype: Any, default: Any = dtypes.float32) -> Any:
    return native_dtype(default if dtype is None else dtype)


def _place(device: Any, like: Any) -> Any:
    return device_to_share(like) if device is None and like is not None else find_device(device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.zeros.html"""
    return jnp.zeros(lengths(shape), _dtype(dtype), device=_place(device, like))


def ones(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ones.html"""
    return jnp.ones(lengths(shape), _dtype(dtype), device=_place(device, like))


def empty(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.empty.html"""
    return jnp.empty(lengths(shape), _dtype(dtype), device=_place(device, like))


def full(
    shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, like: Any = None
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.full.html"""
    found = _dtype(dtype, None if dtype is not None else dtypes.dtype_of(fill_value))
    check_fill("full", "fill_value", fill_value, found)
    return jnp.full(lengths(shape), fill_value, found, device=_place(device, like))


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.zeros_like.html"""
    dtype = None if dtype is None else native_dtype(dtype)
    return jnp.zeros_like(x, dtype, device=_place(device, x))


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ones_like.html"""
    dtype = None if dtype is None else native_dtype(dtype)
    return jnp.ones_like(x, dtype, device=_place(device, x))


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.empty_like.html"""
    dtype = None if dtype is None else native_dtype(dtype)
    return jnp.empty_like(x, dtype, device=_place(device, x))


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.full_like.html"""
    found = _dtype(dtype, x.dtype)
    check_fill("full_like", "fill_value", fill_value, found)
    return jnp.full_like(x, fill_value, found, device=_place(device, x))


@supports(whole_range)
def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    like: Any = None,
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.arange.html"""
    first, end = (0, start) if stop is None else (start, stop)
    found = _dtype(dtype, dtypes.int64)
    made = jnp.int32 if found.kind == "b" else found
    return jnp.arange(first, end, step, made, device=_place(device, like)).astype(found)


@supports(lambda *sizes, batch_shape=(), **settings: batch_shape == ())
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Any = None,
    batch_shape: Any = (),
    like: Any = None,
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.eye.html"""
    return jnp.eye(n_rows, n_cols, k, _dtype(dtype), device=_place(device, like))


@compiled
def tril(x: Any, /, *, k: int = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.tril.html"""
    return jnp.tril(x, k)


@compiled
def triu(x: Any, /, *, k: int = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.triu.html"""
    return jnp.triu(x, k)
