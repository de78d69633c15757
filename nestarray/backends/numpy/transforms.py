"""NumPy: `nestarray.transforms`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from nestarray.errors import UnsupportedError


def value_and_grad(fn: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str) -> NoReturn:
    """NumPy records nothing that could be differentiated."""
    _refuse(name)


def vjp(fn: Callable[..., Any], arrays: list[Any], name: str) -> NoReturn:
    """NumPy records nothing that could be differentiated."""
    _refuse(name)


def jvp(fn: Callable[..., Any], arrays: list[Any], tangents: list[Any], name: str) -> NoReturn:
    """NumPy records nothing that could be differentiated."""
    _refuse(name)


def _refuse(name: str) -> NoReturn:
    raise UnsupportedError(
        f"{name}: the backend 'numpy' cannot differentiate. Move the variables first, for "
        'example with v.to_backend("jax"), and the data that the function uses with them'
    )


def jit(fn: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """`fn` itself: there is nothing to compile with."""
    return fn


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> list[Any]:
    """One call for each row. Of no rows the results are known by a row of zeros."""
    if not len(arrays[0]):
        one = fn(*(np.zeros(x.shape[1:], x.dtype) for x in arrays))
        return [np.zeros((0, *np.shape(x)), np.asarray(x).dtype) for x in one]
    return [np.stack(column) for column in zip(*(fn(*row) for row in zip(*arrays)))]
