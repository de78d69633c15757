"""JAX: `nestarray.ops.statistical`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends import xp
from nestarray.backends.base import accumulation_dtype, mean_dtype, refuse_complex, supports
from nestarray.backends.jax.accumulation import accumulated
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.core import native_dtype
from nestarray.backends.jax.derivatives import with_derivative_of
from nestarray.backends.jax.promotion import in_float32
from nestarray.numerics.axes import one_axis
from nestarray.numerics.logarithms import differentiable_log_sum
from nestarray.numerics.roots import root


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


@compiled
def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.sum.html"""
    dtype = accumulation_dtype(x, dtype)
    return accumulated(jnp.sum, x, dtype, axis=_axes(axis), keepdims=keepdims)


@compiled
def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.prod.html"""
    dtype = accumulation_dtype(x, dtype)
    return accumulated(jnp.prod, x, dtype, axis=_axes(axis), keepdims=keepdims)


@compiled
def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.mean.html"""
    return accumulated(jnp.mean, x, mean_dtype(x), axis=_axes(axis), keepdims=keepdims)


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
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.std.html

    JAX's function has the derivative NaN at 0.
    """
    x = x.astype(native_dtype(mean_dtype(x)))
    return root(jnp, jnp.var(x, axis=_axes(axis), correction=correction, keepdims=keepdims))


@supports(lambda *_, include_initial=False, **_settings: include_initial is False)
@compiled
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.cumsum.html"""
    return accumulated(jnp.cumsum, x, accumulation_dtype(x, dtype), axis=axis)


@supports(lambda *_, include_initial=False, **_settings: include_initial is False)
@compiled
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.cumprod.html"""
    return accumulated(jnp.cumprod, x, accumulation_dtype(x, dtype), axis=axis)


def _latest(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, with the derivative of the last of equal elements; JAX shares it between them."""

    @partial(jax.custom_jvp, nondiff_argnums=(1,))
    def running(x: Any, axis: int) -> Any:
        return native(x, axis)

    @running.defjvp
    def _(axis: int, primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        y = running(x, axis)
        places = jax.lax.broadcasted_iota("int32", x.shape, axis)
        latest = jax.lax.cummax(jnp.where((x == y) | jnp.isnan(x), places, 0), axis)
        return y, jnp.take_along_axis(t, latest, axis)

    return lambda x, axis: (running if x.dtype.kind in "fV" else native)(x, axis)


@compiled
def cummax(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.cummax.html"""
    if axis is None:
        x, axis = x.reshape(-1), 0
    refuse_complex(x)
    return _latest(jax.lax.cummax)(x, one_axis(axis, x.ndim, "cummax"))


@compiled
def cummin(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.cummin.html"""
    if axis is None:
        x, axis = x.reshape(-1), 0
    refuse_complex(x)
    return _latest(jax.lax.cummin)(x, one_axis(axis, x.ndim, "cummin"))


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
    return in_float32(_log_sum(_axes(axis), keepdims))(x)


def _log_sum(axes: Any, keepdims: bool) -> Callable[..., Any]:
    def native(x: Any) -> Any:
        return jax.nn.logsumexp(x, axis=axes, keepdims=keepdims)

    def smooth(x: Any) -> Any:
        is_nothing = jnp.all(x == -jnp.inf, axis=axes, keepdims=keepdims)
        return differentiable_log_sum(xp, native, is_nothing, x)

    return lambda x: (native if jnp.iscomplexobj(x) else with_derivative_of(smooth, native))(x)


@compiled
def cumulative_logsumexp(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.cumlogsumexp.html"""
    x = x.astype(native_dtype(mean_dtype(x)))
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = one_axis(axis, x.ndim, "cumulative_logsumexp")
    return in_float32(_running_log_sum(axis))(x)


def _running_log_sum(axis: int) -> Callable[..., Any]:
    def native(x: Any) -> Any:
        return jax.lax.cumlogsumexp(x, axis)

    def smooth(x: Any) -> Any:
        is_nothing = jax.lax.cummin((x == -jnp.inf).astype("int8"), axis) == 1
        return differentiable_log_sum(xp, native, is_nothing, x)

    return lambda x: (native if jnp.iscomplexobj(x) else with_derivative_of(smooth, native))(x)
