"""Arrays from data and from other arrays.

Upstream: https://numpy.org/doc/stable/reference/routines.array-creation.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nestarray as na
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.frontends.numpy.arrays import (
    as_array,
    cast,
    first_array,
    is_number,
    numpy_dtype,
)
from nestarray.frontends.numpy.ndarray import wrapped
from nestarray.typing import Array

__all__ = [
    "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray",
    "astype", "copy", "fromstring", "full", "full_like", "linspace",
]  # fmt: skip


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
) -> Array:
    """A new array from numbers, nested lists and arrays.

    Arrays of other frameworks than NumPy become an `ndarray`, which has NumPy's methods.
    """
    found = as_array(object, first_array([like]), dtype)
    if copy and found is object:
        found = na.asarray(found, copy=True)
    missing = ndmin - len(na.shape(found))
    found = na.reshape(found, (1,) * missing + na.shape(found)) if missing > 0 else found
    return wrapped(found)


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> Array:
    """An array from numbers, nested lists and arrays; arrays of the dtype are returned."""
    return array(a, dtype, copy=copy, like=like)


def asanyarray(a: Any, dtype: Any = None, order: str | None = None, **kwargs: Any) -> Array:
    """`asarray`."""
    return asarray(a, dtype, order, **kwargs)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Array:
    """`asarray`, with at least one axis."""
    return array(a, dtype, copy=None, ndmin=1, like=like)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Array:
    """`asarray`, with at least one axis; the layout in memory is the framework's."""
    return array(a, dtype, copy=None, ndmin=1, like=like)


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> Array:
    """`asarray`; raises a ValueError for NaN and infinities."""
    found = asarray(a, dtype, order)
    if numpy_dtype(found).kind in "fc" and not bool(na.all(na.isfinite(found))):
        raise ValueError("array must not contain infs or NaNs")
    return found


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """`x` in a dtype."""
    found = cast(x, np.dtype(dtype) if isinstance(dtype, type) else dtype)
    return na.asarray(found, copy=True) if copy and found is x else found


def copy(a: Any, order: str = "K", subok: bool = False) -> Array:
    """A new array with the same elements."""
    return na.asarray(as_array(a), copy=True)


def fromstring(
    string: str, dtype: Any = float, count: int = -1, *, sep: str, like: Any = None
) -> Array:
    """The numbers in a text."""
    return asarray(np.fromstring(string, dtype, count, sep=sep), like=like)


_full, _full_like = adapted("full", jnp.full), adapted("full_like", jnp.full_like)
_linspace = adapted("linspace", jnp.linspace)


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Array:
    """`fill_value` everywhere; raises an OverflowError for a number that the dtype lacks."""
    return _full(shape, as_array(fill_value, first_array((fill_value, like)), dtype))


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """`fill_value` everywhere, in the shape and dtype of `a` by default."""
    a = as_array(a, first_array((a, fill_value)))
    dtype = numpy_dtype(a) if dtype is None else dtype
    return _full_like(a, as_array(fill_value, a, dtype), dtype, shape=shape)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` numbers at equal distances; with `retstep` also the distance."""
    like = first_array((start, stop))
    start, stop = (x if is_number(x) else as_array(x, like) for x in (start, stop))
    found = _linspace(start, stop, num, endpoint, retstep, axis=axis)
    found, *step = found if retstep else (found,)
    if dtype is not None:
        found = cast(na.floor(found) if np.dtype(dtype).kind in "iu" else found, dtype)
    return (found, *step) if retstep else found
