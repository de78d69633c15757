"""Custom derivatives of this backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax


def with_derivative_of(smooth: Callable[..., Any], native: Callable[..., Any]) -> Any:
    """`native` with the derivatives of `smooth`, a function with the same values.

    https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html
    """
    function = jax.custom_jvp(native)
    function.defjvp(lambda primals, tangents: jax.jvp(smooth, primals, tangents))
    return function
