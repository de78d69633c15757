"""JAX: `nestarray.ops.pooling_layouts`, channels last, without transposes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import supports
from nestarray.backends.jax.pooling import _avg_pooled, _max_pooled
from nestarray.numerics import windows


def _is_native(x: Any, /, *, data_format: str = "channels_first", **_: Any) -> bool:
    is_last = data_format == "channels_last" and 3 <= len(x.shape) <= 5
    return is_last and jnp.issubdtype(x.dtype, jnp.floating)


def _max_is_native(x: Any, /, *, dilation: Any = 1, **settings: Any) -> bool:
    # reduce_window has no derivative with window dilation
    return windows.is_dense(dilation, len(x.shape) - 2) and _is_native(x, **settings)


@supports(_max_is_native)
def max_pool(
    x: Any,
    /,
    *,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    data_format: str = "channels_first",
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html"""
    at = windows.channels_last_pooling(
        "max_pool", x.shape, kernel_size, stride=stride, padding=padding, dilation=dilation,
        ceil_mode=ceil_mode,
    )  # fmt: skip
    return _max_pooled(x, at, is_last=True)


@supports(_is_native)
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
    data_format: str = "channels_first",
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html"""
    at = windows.channels_last_pooling(
        "avg_pool", x.shape, kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode,
        divisor=divisor_override,
    )  # fmt: skip
    return _avg_pooled(
        x, at, count_include_pad=count_include_pad, divisor_override=divisor_override, is_last=True,
    )  # fmt: skip
