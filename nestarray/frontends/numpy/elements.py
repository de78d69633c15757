"""Functions whose arguments or dtypes differ from those of the JAX frontend.

Upstream: https://numpy.org/doc/stable/reference/routines.math.html
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ShapeError
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.numpy import ufuncs
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.frontends.numpy.arrays import (
    as_array,
    cast,
    check_positions,
    first_array,
    numpy_dtype,
    write,
)
from nestarray.typing import Array

__all__ = [
    "choose",
    "clip",
    "cumprod",
    "cumsum",
    "einsum",
    "einsum_path",
    "fix",
    "nancumprod",
    "nancumsum",
    "nonzero",
    "pad",
    "real_if_close",
    "setdiff1d",
    "sort_complex",
    "take",
]

_fix = adapted("round", lambda a, decimals=0: na.trunc(a))


def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **kwargs: Any,
) -> Array:
    """The elements within bounds; Python integers beyond the dtype's limits bound nothing."""
    like = first_array((a, a_min, a_max, min, max))
    found = as_array(a, like)
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    dtype = numpy_dtype(found)
    if dtype.kind in "iu":
        low = None if type(low) is int and low < np.iinfo(dtype).min else low
        high = None if type(high) is int and high > np.iinfo(dtype).max else high
    if low is not None:
        found = ufuncs.maximum(found, low)
    if high is not None:
        found = ufuncs.minimum(found, high, **kwargs)
    return found if out is None else write(out, found)


def fix(x: Any, out: Any = None) -> Array:
    """The integer part."""
    return _fix(x, out=out)


def real_if_close(a: Any, tol: float = 100) -> Array:
    """The real part, if all imaginary parts are within `tol` (of machine epsilons, above 1)."""
    a = as_array(a)
    dtype = numpy_dtype(a)
    if dtype.kind != "c":
        return a
    tol = tol * float(np.finfo(dtype).eps) if tol > 1 else tol
    return na.real(a) if bool(na.all(na.less(na.abs(na.imag(a)), tol))) else a


def sort_complex(a: Any) -> Array:
    """Sorted by the real, then by the imaginary parts, as complex numbers."""
    a = as_array(a)
    dtype = numpy_dtype(a)
    if dtype.kind != "c":
        a = cast(
            a, np.complex64 if dtype in (np.int8, np.uint8, np.int16, np.uint16) else np.complex128
        )
    return jnp.sort_complex(a)


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """The array with values added at the ends of axes."""
    return jnp.pad(as_array(array), pad_width, mode, **kwargs)


def einsum(
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> Array:
    """A sum of products over axes that are named by letters or numbers."""
    values, like = list(operands), first_array(operands)
    places = range(1, len(values)) if isinstance(values[0], str) else range(0, len(values) - 1, 2)
    for i in places:
        values[i] = as_array(values[i], like)
    wanted = dtype or np.result_type(*[numpy_dtype(values[i]) for i in places])
    for i in places:
        values[i] = cast(values[i], wanted)
    found = cast(jnp.einsum(*values), wanted)
    return found if out is None else write(out, found)


def einsum_path(
    *operands: Any, optimize: Any = "greedy", einsum_call: bool = False
) -> tuple[list[Any], str]:
    """(the order of pairwise products, a report)."""
    shapes: list[Any] = [np.empty(na.shape(x)) if hasattr(x, "shape") else x for x in operands]
    return np.einsum_path(*shapes, optimize=optimize)


_nonzero = adapted("nonzero", jnp.nonzero)


def nonzero(a: Any) -> tuple[Array, ...]:
    """The positions of the elements that are not 0, one array for each axis."""
    if not na.shape(as_array(a)):
        raise ShapeError(
            "nonzero: a: got shape (), expected at least one axis; use np.atleast_1d(a)"
        )
    return _nonzero(a)


_choose, _take = adapted("choose", jnp.choose), adapted("take", jnp.take)


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Array:
    """The element of ``choices[a]`` at each place."""
    if mode == "raise":
        check_positions("choose", a, len(choices))
        mode = "wrap"
    return _choose(a, choices, out, mode)


def take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Array:
    """The slices at positions along an axis; elements of the flattened array without one."""
    if mode == "raise":
        shape = na.shape(as_array(a))
        check_positions("take", indices, math.prod(shape) if axis is None else shape[axis])
        mode = "wrap"
    return _take(a, indices, axis, out, mode)


_setdiff1d = adapted("setdiff1d", jnp.setdiff1d)


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The elements of the first array that are not in the second, in order."""
    ar1 = as_array(ar1, first_array((ar1, ar2)))
    return cast(_setdiff1d(ar1, ar2, assume_unique), numpy_dtype(ar1))


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


def _accumulated(function: Any, a: Array, axis: int | None, dtype: Any, out: Any) -> Array:
    a, axis = (na.reshape(a, (-1,)), 0) if axis is None else (a, axis)
    return function.accumulate(a, axis, dtype, out)
