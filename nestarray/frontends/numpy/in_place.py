"""Writes into arrays: NumPy arrays, tensors of PyTorch and variables of TensorFlow.

Upstream: https://numpy.org/doc/stable/reference/routines.indexing.html#inserting-data-into-arrays.
On JAX arrays and tensors of TensorFlow, which cannot be changed, they raise an UnsupportedError.
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.numpy.arrays import (
    as_array,
    cast,
    check_positions,
    numpy_dtype,
    write,
)
from nestarray.typing import Array

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


def copyto(dst: Array, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Write `src` into `dst`, where a mask is true."""
    value = na.broadcast_to(as_array(src, dst), na.shape(dst))
    value = cast(value, numpy_dtype(dst)) if casting == "unsafe" else value
    write(dst, value, where if where is True else as_array(where, dst))


def put(a: Array, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values at positions of the flattened array; values repeat."""
    values = cast(as_array(v, a), numpy_dtype(a))
    if mode == "raise":
        check_positions("put", ind, math.prod(na.shape(a)))
    write(a, jnp.put(a, as_array(ind, a), values, None if mode == "raise" else mode, inplace=False))


def place(arr: Array, mask: Any, vals: Any) -> None:
    """Write values, one after the other, where a mask is true; values repeat."""
    values = cast(as_array(vals, arr), numpy_dtype(arr))
    write(arr, jnp.place(arr, as_array(mask, arr), values, inplace=False))


def putmask(a: Array, mask: Any, values: Any) -> None:
    """Write ``values[i]`` at each position i of the flattened array where a mask is true."""
    new = cast(as_array(values, a), numpy_dtype(a))
    write(a, na.where(as_array(mask, a), jnp.resize(new, na.shape(a)), a))


def put_along_axis(arr: Array, indices: Any, values: Any, axis: int | None) -> None:
    """Write values at positions along an axis."""
    new = cast(as_array(values, arr), numpy_dtype(arr))
    write(arr, jnp.put_along_axis(arr, as_array(indices, arr), new, axis, inplace=False))


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """Write values on the diagonal."""
    new = cast(as_array(val, a), numpy_dtype(a))
    write(a, jnp.fill_diagonal(a, new, wrap, inplace=False))
