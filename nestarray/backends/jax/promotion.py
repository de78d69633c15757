"""JAX: how operands of several dtypes, and Python numbers among them, come to one dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from nestarray.backends import promotion
from nestarray.backends.base import refuse_complex
from nestarray.backends.jax.compiled import traced
from nestarray.backends.jax.core import native_dtype


def cast(x: Any, dtype: Any) -> Any:
    """An array or a Python number as an array of `dtype`."""
    return jnp.asarray(x, dtype=native_dtype(dtype))


def promoting(native: Callable[..., Any], *, declined: Any = None) -> Callable[..., Any]:
    """A two-operand function of promoted dtypes; see `nestarray.backends.promotion`."""
    return promotion.promoting(native, cast, declined=declined, finish=traced)


def ordering(native: Callable[..., Any]) -> Callable[..., Any]:
    """`promoting` for real numbers: JAX orders complex ones, by the real part first."""

    def of_real(x1: Any, x2: Any, /) -> Any:
        refuse_complex(x1)
        refuse_complex(x2)
        return native(x1, x2)

    return promoting(of_real)


def floating(
    native: Callable[..., Any], of_complex: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """`native`, with integers as float32, and `of_complex` of complex numbers."""
    return promotion.floating(native, cast, of_complex, finish=traced)


def floating_pair(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` of two operands of one dtype, with integers as float32."""
    return promotion.floating_pair(native, cast)


promoted = promotion.promoting_all(cast)
