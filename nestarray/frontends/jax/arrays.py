"""Arrays and their places.

Upstream: https://docs.jax.dev/en/latest/jax.html
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import backends, dtypes
from nestarray.frontends.jax import tree_util

__all__ = ["Array", "ShapeDtypeStruct", "block_until_ready", "device_get", "device_put"]


class _IsArray(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return backends.backend_of_type(type(x)) is not None


class Array(metaclass=_IsArray):
    """The type of the arrays of all frameworks, for ``isinstance``."""


class ShapeDtypeStruct:
    """The shape and dtype of an array."""

    def __init__(self, shape: Sequence[int], dtype: Any, **placement: Any) -> None:
        self.shape, self.dtype = tuple(shape), dtypes.as_dtype(dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return functools.reduce(lambda a, b: a * b, self.shape, 1)

    def __eq__(self, other: Any) -> bool:
        same = isinstance(other, ShapeDtypeStruct)
        return same and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype})"


def block_until_ready(x: Any) -> Any:
    """`x`, when its arrays are computed."""

    def ready(x: Any) -> Any:
        name = backends.backend_of_type(type(x))
        return x if name is None else backends.core(name).block_until_ready(x)

    return tree_util.tree_map(ready, x)


def device_get(x: Any) -> Any:
    """`x` with NumPy arrays."""

    def fetched(x: Any) -> Any:
        name = backends.backend_of_type(type(x))
        return x if name is None else backends.core(name).to_numpy(x)

    return tree_util.tree_map(fetched, x)


def device_put(
    x: Any, device: Any = None, *, src: Any = None, donate: Any = False, may_alias: Any = None
) -> Any:
    """`x` with its arrays on a device; numbers become arrays of the default backend."""

    def placed(x: Any) -> Any:
        if isinstance(x, (bool, int, float, complex)):
            x = na.asarray(x)
        return x if device is None else na.to_device(x, device)

    return tree_util.tree_map(placed, x)
