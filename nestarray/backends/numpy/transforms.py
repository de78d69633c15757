"""NumPy: `nestarray.transforms`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from nestarray.errors import UnsupportedError


def value_and_grad(fn: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str) -> NoReturn:
    """NumPy records nothing that could be differentiated."""
    raise UnsupportedError(
        f"{name}: the backend 'numpy' cannot differentiate. Move the variables first, for "
        'example with v.to_backend("jax"), and the data that the function uses with them'
    )


def jit(fn: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """`fn` itself: there is nothing to compile with."""
    return fn
