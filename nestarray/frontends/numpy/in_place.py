"""Writes into arrays: NumPy arrays, tensors of PyTorch and variables of TensorFlow.

Upstream: https://numpy.org/doc/stable/reference/routines.indexing.html#inserting-data-into-arrays.
On JAX arrays and tensors of TensorFlow, which cannot be changed, they raise an UnsupportedError.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import DtypeError, IndexingError, ShapeError
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.jax.promotion import normal_axis
from nestarray.frontends.numpy.arrays import (
    as_array,
    cast,
    check_positions,
    is_number,
    numpy_dtype,
    write,
)
from nestarray.typing import Array

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


def copyto(dst: Array, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Write `src` into `dst`, where a mask is true."""
    value, shape = as_array(src, dst), na.shape(dst)
    if len(na.shape(value)) > len(shape):  # leading axes of length 1 are left out
        value = na.reshape(value, na.shape(value)[-len(shape) :] if shape else ())
    where = where if where is True else as_array(where, dst)
    write(dst, na.broadcast_to(value, shape), where, casting)


def put(a: Array, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values at positions of the flattened array; values repeat."""
    values = as_array(v, a, numpy_dtype(a))
    if not math.prod(na.shape(a)) and na.shape(as_array(ind))[:1] != (0,):
        raise IndexingError("put: a: got an array without elements")
    if not math.prod(na.shape(values)):
        return
    if mode == "raise":
        check_positions("put", ind, math.prod(na.shape(a)))
    write(a, jnp.put(a, as_array(ind, a), values, None if mode == "raise" else mode, inplace=False))


def place(arr: Array, mask: Any, vals: Any) -> None:
    """Write values, one after the other, where a mask is true; values repeat."""
    values = as_array(vals, arr, numpy_dtype(arr))
    if not math.prod(na.shape(values)):
        if bool(na.any(as_array(mask, arr))):
            raise ShapeError("place: vals: got no values, expected at least one")
        return
    write(arr, jnp.place(arr, as_array(mask, arr), values, inplace=False))


def putmask(a: Array, mask: Any, values: Any) -> None:
    """Write ``values[i]`` at each position i of the flattened array where a mask is true."""
    new = as_array(values, a, numpy_dtype(a) if is_number(values) else None)
    if not np.can_cast(numpy_dtype(new), numpy_dtype(a), "safe"):
        raise DtypeError(
            f"putmask: values: got {numpy_dtype(new)} for an array of {numpy_dtype(a)}"
        )
    if not math.prod(na.shape(new)):
        return
    new = cast(new, numpy_dtype(a))
    write(a, na.where(as_array(mask, a), jnp.resize(new, na.shape(a)), a))


def put_along_axis(arr: Array, indices: Any, values: Any, axis: int | None) -> None:
    """Write values at positions along an axis."""
    new = as_array(values, arr, numpy_dtype(arr))
    sizes = na.shape(arr)
    size = math.prod(sizes) if axis is None else sizes[normal_axis(axis, len(sizes))]
    check_positions("put_along_axis", indices, size)
    write(arr, jnp.put_along_axis(arr, as_array(indices, arr), new, axis, inplace=False))


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """Write values on the diagonal; `wrap` starts it again below in matrices with more rows."""
    sizes = na.shape(a)
    if len(sizes) < 2 or (len(sizes) > 2 and len({*sizes}) > 1):
        raise ShapeError(f"fill_diagonal: a: got shape {sizes}, expected a matrix or equal axes")
    step = sum(math.prod(sizes[i:]) for i in range(1, len(sizes))) + 1
    stop = math.prod(sizes) if wrap or len(sizes) > 2 else min(math.prod(sizes), sizes[1] ** 2)
    places = na.arange(0, stop, step, like=a)
    values = as_array(val, a, numpy_dtype(a))
    if 0 in (*na.shape(places), *na.shape(values)):
        return
    new = jnp.resize(values, na.shape(places))
    write(a, na.reshape(na.setitem(na.reshape(a, (-1,)), places, new), sizes))
