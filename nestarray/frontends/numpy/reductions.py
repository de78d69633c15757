"""Reductions and cumulative functions, by the methods of universal functions.

Upstream: https://numpy.org/doc/stable/reference/routines.math.html#sums-products-differences
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.numpy import ufuncs
from nestarray.frontends.numpy.arrays import as_array
from nestarray.typing import Array

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "cumprod",
    "cumsum",
    "max",
    "min",
    "nancumprod",
    "nancumsum",
    "prod",
    "sum",
]


def _reduction(name: str, function: ufuncs.ufunc) -> Callable[..., Any]:
    """NumPy's function `name`: the reduction of all elements if `axis` is None."""
    signature = inspect.signature(getattr(np, name))

    def reduce(*args: Any, **kwargs: Any) -> Any:
        try:
            given = dict(signature.bind(*args, **kwargs).arguments)
        except TypeError as error:
            raise ArgumentError(f"{name}: {error}; {name}{signature}") from None
        missing = np._NoValue  # type: ignore[attr-defined]
        given = {k: v for k, v in given.items() if v is not missing}
        return function.reduce(given.pop("a"), given.pop("axis", None), **given)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"The elements along axes, combined by `{function.__name__}`."
    reduce.__signature__ = signature  # type: ignore[attr-defined]
    return reduce


all = _reduction("all", ufuncs.logical_and)
any = _reduction("any", ufuncs.logical_or)
amax = max = _reduction("max", ufuncs.maximum)
amin = min = _reduction("min", ufuncs.minimum)
prod = _reduction("prod", ufuncs.multiply)
sum = _reduction("sum", ufuncs.add)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Cumulative sums, of all elements if `axis` is None."""
    return _accumulated(ufuncs.add, as_array(a), axis, dtype, out)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Cumulative products, of all elements if `axis` is None."""
    return _accumulated(ufuncs.multiply, as_array(a), axis, dtype, out)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Cumulative sums, with NaN as 0."""
    a = as_array(a)
    return cumsum(na.where(na.isnan(a), na.zeros_like(a), a), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Cumulative products, with NaN as 1."""
    a = as_array(a)
    return cumprod(na.where(na.isnan(a), na.ones_like(a), a), axis, dtype, out)


def _accumulated(function: ufuncs.ufunc, a: Array, axis: int | None, dtype: Any, out: Any) -> Array:
    is_scalar = not na.shape(a) and axis in (0, -1)
    a, axis = (na.reshape(a, (-1,)), 0) if axis is None or is_scalar else (a, axis)
    return function.accumulate(a, axis, dtype, out)
