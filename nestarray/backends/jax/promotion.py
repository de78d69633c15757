"""JAX: promotion of operands of several dtypes and of Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from nestarray.backends import promotion
from nestarray.backends.base import refuse_complex
from nestarray.backends.jax.compiled import traced
from nestarray.backends.jax.core import native_dtype


def cast(x: Any, dtype: Any, like: Any = None) -> Any:
    """An array or a Python number as an array of `dtype`; `like` has no effect."""
    return jnp.asarray(x, dtype=native_dtype(dtype))


def promoting(
    native: Callable[..., Any], *, declined: Any = None, **kind: bool
) -> Callable[..., Any]:
    """A two-operand function that promotes; see `nestarray.backends.promotion`."""
    return promotion.promoting(native, cast, declined=declined, finish=traced, **kind)


def ordering(native: Callable[..., Any], **kind: bool) -> Callable[..., Any]:
    """`promoting` for real numbers; JAX would order complex numbers lexicographically."""

    def of_real(x1: Any, x2: Any, /) -> Any:
        refuse_complex(x1)
        refuse_complex(x2)
        return native(x1, x2)

    return promoting(of_real, **kind)


def floating(
    native: Callable[..., Any], of_complex: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """`native` with integers cast to float32; `of_complex` for complex numbers."""
    return promotion.floating(native, cast, of_complex, finish=traced)


def in_float32(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` with half precision computed in float32."""

    def call(x: Any, /) -> Any:
        is_half = x.dtype.itemsize == 2
        return native(x.astype(jnp.float32)).astype(x.dtype) if is_half else native(x)

    return call


def floating_pair(native: Callable[..., Any]) -> Callable[..., Any]:
    """Like `floating`, for two operands of one dtype."""
    return promotion.floating_pair(native, cast)


promoted = promotion.promoting_all(cast)
