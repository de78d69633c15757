"""JAX: `nestarray.ops.statistical`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.base import accumulation_dtype, mean_dtype, refuse_complex, supports
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.core import native_dtype
from nestarray.numerics.axes import one_axis


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


@compiled
def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.sum.html"""
    if dtype is not None or x.dtype.kind != "f":
        dtype = native_dtype(accumulation_dtype(x, dtype))
    return jnp.sum(x, axis=_axes(axis), dtype=dtype, keepdims=keepdims)


@compiled
def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.prod.html"""
    dtype = native_dtype(accumulation_dtype(x, dtype))
    return jnp.prod(x, axis=_axes(axis), dtype=dtype, keepdims=keepdims)


@compiled
def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.mean.html"""
    return jnp.mean(x, axis=_axes(axis), dtype=native_dtype(mean_dtype(x)), keepdims=keepdims)


@compiled
def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.max.html"""
    refuse_complex(x)
    return jnp.max(x, axis=_axes(axis), keepdims=keepdims)


@compiled
def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.min.html"""
    refuse_complex(x)
    return jnp.min(x, axis=_axes(axis), keepdims=keepdims)


def _truth(x: Any) -> Any:
    """`x`, with complex numbers compared with 0; JAX would test the real part only."""
    return x != 0 if jnp.iscomplexobj(x) else x


@compiled
def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.all.html"""
    return jnp.all(_truth(x), axis=_axes(axis), keepdims=keepdims)


@compiled
def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.any.html"""
    return jnp.any(_truth(x), axis=_axes(axis), keepdims=keepdims)


@compiled
def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.var.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    return jnp.var(x, axis=_axes(axis), correction=correction, keepdims=keepdims)


@compiled
def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.std.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    return jnp.std(x, axis=_axes(axis), correction=correction, keepdims=keepdims)


@supports(lambda *_, include_initial=False, **_settings: include_initial is False)
@compiled
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.cumsum.html"""
    return jnp.cumsum(x, axis=axis, dtype=native_dtype(accumulation_dtype(x, dtype)))


@supports(lambda *_, include_initial=False, **_settings: include_initial is False)
@compiled
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.cumprod.html"""
    return jnp.cumprod(x, axis=axis, dtype=native_dtype(accumulation_dtype(x, dtype)))


@compiled
def cummax(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.cummax.html"""
    if axis is None:
        x, axis = x.reshape(-1), 0
    refuse_complex(x)
    return jax.lax.cummax(x, one_axis(axis, x.ndim, "cummax"))


@compiled
def cummin(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.cummin.html"""
    if axis is None:
        x, axis = x.reshape(-1), 0
    refuse_complex(x)
    return jax.lax.cummin(x, one_axis(axis, x.ndim, "cummin"))


@supports(lambda *_, b=None, return_sign=False, **_settings: b is None and return_sign is False)
@compiled
def logsumexp(
    x: Any,
    /,
    *,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.logsumexp.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    return jax.nn.logsumexp(x, axis=_axes(axis), keepdims=keepdims)


@compiled
def cumulative_logsumexp(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.cumlogsumexp.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    if axis is None:
        x, axis = x.reshape(-1), 0
    return jax.lax.cumlogsumexp(x, one_axis(axis, x.ndim, "cumulative_logsumexp"))
