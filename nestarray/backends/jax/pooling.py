"""JAX: `nestarray.ops.pooling`; the body computes adaptive and dilated pooling."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from nestarray.backends.base import supports
from nestarray.numerics import windows


def _reduce(
    x: Any, at: windows.Windows, start: Any, function: Callable[..., Any], is_last: bool
) -> Any:
    def along(other: Any, spatial: Any) -> tuple[Any, ...]:
        return (other, *spatial, other) if is_last else (other, other, *spatial)

    settings = along(1, at.kernel), along(1, at.stride), along((0, 0), at.padding)
    return lax.reduce_window(x, start, function, *settings)


def _max_pooled(x: Any, at: windows.Windows, *, is_last: bool = False) -> Any:
    """Maxima in windows, with the channels first or last."""
    lowest = -np.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
    return _reduce(x, at, np.asarray(lowest, x.dtype), lax.max, is_last)


def _avg_pooled(
    x: Any,
    at: windows.Windows,
    *,
    count_include_pad: bool,
    divisor_override: int | None,
    is_last: bool = False,
) -> Any:
    """Means in windows, with the channels first or last."""
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    total = _reduce(wide, at, np.asarray(0, wide.dtype), lax.add, is_last)
    if divisor_override is not None:
        return (total / divisor_override).astype(x.dtype)
    spatial = x.shape[1:-1] if is_last else x.shape[2:]
    numbers = windows.counts(at, spatial, count_include_pad=count_include_pad)
    if numbers is None:  # the sums of ones
        ones = jnp.ones((1, *spatial, 1) if is_last else (1, 1, *spatial), wide.dtype)
        elements = jnp.maximum(_reduce(ones, at, np.asarray(0, wide.dtype), lax.add, is_last), 1)
        return (total / elements).astype(x.dtype)
    elements = np.asarray(reduce(np.multiply.outer, numbers), wide.dtype)
    return (total / (elements[..., None] if is_last else elements)).astype(x.dtype)


def _max_pool(count: int) -> Callable[..., Any]:
    def is_native(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> bool:
        # reduce_window has no derivative with window dilation
        return windows.is_dense(dilation, count) and x.dtype.kind not in "bc"

    @supports(is_native)
    def max_pool(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        """https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html"""
        at = windows.pooling(
            f"max_pool{count}d",
            count,
            x.shape,
            kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
        )
        return _max_pooled(x, at)

    return max_pool


max_pool1d = _max_pool(1)
max_pool2d = _max_pool(2)
max_pool3d = _max_pool(3)


def _avg_pool(count: int) -> Callable[..., Any]:
    @supports(lambda x, **_: jnp.issubdtype(x.dtype, jnp.inexact))
    def avg_pool(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        """https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html"""
        at = windows.pooling(
            f"avg_pool{count}d",
            count,
            x.shape,
            kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
            divisor=divisor_override,
        )
        return _avg_pooled(
            x, at, count_include_pad=count_include_pad, divisor_override=divisor_override
        )

    return avg_pool


avg_pool1d = _avg_pool(1)
avg_pool2d = _avg_pool(2)
avg_pool3d = _avg_pool(3)
