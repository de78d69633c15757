"""Sorting and searching.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.promotion import (
    as_array,
    as_dtype,
    as_index,
    normal_axis,
    promote,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "argpartition", "argsort", "digitize", "lexsort", "partition", "searchsorted", "sort",
    "sort_complex", "top_k",
]  # fmt: skip


def sort(
    a: Array,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: builtins.bool = True,
    descending: builtins.bool = False,
) -> Array:
    """Sorted along an axis, NaN last; flattened if `axis` is None."""
    a, axis = _flat(a, axis)
    if dtypes.dtype_of(a).kind == "complex":
        return na.take_along_axis(a, argsort(a, axis, descending=descending), axis=axis)
    return na.sort(a, axis=axis, stable=stable, descending=descending)


def argsort(
    a: Array,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: builtins.bool = True,
    descending: builtins.bool = False,
    dtype: DTypeLike | None = None,
) -> Array:
    """The positions that sort an array, NaN last."""
    a, axis = _flat(a, axis)
    if dtypes.dtype_of(a).kind == "complex":
        found = lexsort((na.imag(a), na.real(a)), axis)
        found = na.flip(found, axis=axis) if descending else found
    else:
        found = na.argsort(a, axis=axis, stable=stable, descending=descending)
    return na.astype(found, as_dtype(int if dtype is None else dtype))


def _flat(a: Any, axis: int | None) -> tuple[Array, int]:
    a = as_array(a)
    return (na.reshape(a, (-1,)), 0) if axis is None else (a, axis)


def sort_complex(a: Array) -> Array:
    """Sorted by real, then imaginary part, as complex numbers."""
    found = sort(a)
    return (
        found
        if dtypes.dtype_of(found).kind == "complex"
        else na.astype(
            found,
            dtypes.complex128 if dtypes.dtype_of(found) is dtypes.float64 else dtypes.complex64,
        )
    )


def lexsort(keys: Sequence[Array], axis: int = -1, *, batch_size: int = 16) -> Array:
    """The positions that sort by several keys, the last one first; all in one batch."""
    keys = list(na.unstack(keys)) if hasattr(keys, "shape") else list(keys)
    if not na.shape(keys[0]):
        return na.zeros((), dtype=as_dtype(int), like=keys[0])
    return as_index(na.lexsort(keys, axis=axis))


def top_k(
    a: Array,
    k: int,
    /,
    *,
    axis: int = -1,
    mode: str = "largest",
    sorted: builtins.bool = True,
) -> tuple[Array, Array]:
    """(values, int32 positions) of the k largest or smallest; always sorted, the first of ties first."""
    if mode not in ("largest", "smallest"):
        raise ArgumentError(f"top_k: mode: got {mode!r}, expected 'largest' or 'smallest'")
    a = as_array(a)
    places = na.argsort(a, axis=axis, stable=True, descending=mode == "largest")
    places = na.take(places, na.arange(k, like=places), axis=axis)
    return na.take_along_axis(a, places, axis=axis), as_index(places)


def partition(a: Array, kth: int, axis: int = -1) -> Array:
    """The kth smallest element in its place, with no larger one before it; sorted."""
    _check_kth(a, kth, axis)
    return sort(a, axis)


def argpartition(a: Array, kth: int, axis: int = -1) -> Array:
    """The positions of a `partition`."""
    _check_kth(a, kth, axis)
    return argsort(a, axis)


def _check_kth(a: Array, kth: int, axis: int) -> None:
    size = na.shape(a)[normal_axis(axis, len(na.shape(a)))]
    if math.prod(na.shape(a)):
        normal_axis(kth, size)


def searchsorted(
    a: Array,
    v: Array,
    side: str = "left",
    sorter: Array | None = None,
    *,
    method: str = "scan",
) -> Array:
    """Where elements belong in a sorted array."""
    a, v = promote(a, v)
    a = a if sorter is None else na.take(a, sorter, axis=0)
    return na.astype(na.searchsorted(a, v, side=side), dtypes.int32)


def digitize(
    x: Array, bins: Array, right: builtins.bool = False, *, method: str | None = None
) -> Array:
    """The bin of each element, between monotonic edges."""
    x, bins = promote(x, bins)
    if not na.shape(bins)[0]:
        return na.zeros(na.shape(x), dtype=as_dtype(int), like=x)
    side = "left" if right else "right"
    rising = na.searchsorted(bins, x, side=side)
    falling = na.subtract(
        na.shape(bins)[0],
        na.searchsorted(na.flip(bins), x, side=side),
    )
    is_rising = na.greater_equal(na.getitem(bins, -1), na.getitem(bins, 0))
    return as_index(na.where(is_rising, rising, falling))
