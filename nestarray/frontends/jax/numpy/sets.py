"""Set functions. Without `size`, shapes depend on values.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

import builtins
import math
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.numpy.sorting import argsort
from nestarray.frontends.jax.promotion import as_array, as_index, promote
from nestarray.typing import Array

__all__ = [
    "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip


class _All(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class _Counts(NamedTuple):
    values: Array
    counts: Array


class _Inverse(NamedTuple):
    values: Array
    inverse_indices: Array


def unique(
    ar: Array,
    return_index: builtins.bool = False,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    axis: int | None = None,
    *,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: builtins.bool = True,
) -> Any:
    """The different elements, or slices along an axis, in order."""
    ar = as_array(ar)
    found = _unique(ar, axis, equal_nan, size, fill_value)
    wanted = (True, return_index, return_inverse, return_counts)
    kept = [x for x, is_wanted in zip(found, wanted, strict=True) if is_wanted]
    return tuple(kept) if len(kept) > 1 else kept[0]


def _unique(
    x: Array, axis: int | None, equal_nan: builtins.bool, size: int | None, fill_value: Any
) -> _All:
    """Sort the rows, and keep the first of each run of equal ones."""
    shape = na.shape(x)
    moved = na.reshape(x, (-1,)) if axis is None else na.moveaxis(x, axis, 0)
    count, rest = na.shape(moved)[0], na.shape(moved)[1:]
    rows = na.reshape(moved, (count, math.prod(rest)))
    columns = [key for column in na.unstack(rows, axis=1) for key in _keys(column)]
    if not columns or not count:
        order = na.arange(count, dtype=dtypes.int64, like=x)
    else:
        order = na.lexsort(columns[::-1], axis=-1)
    ordered = na.take(rows, order, axis=0)
    is_first = _is_first(ordered, equal_nan)
    fill = count if size is not None else 0
    limit = None if size is None else size + 1
    (behind,) = na.nonzero(is_first, size=limit, fill_value=fill)
    if size is None:
        behind = na.concat([behind, na.full((1,), count, dtype=na.dtype_of(behind), like=x)])
    starts = na.getitem(behind, slice(-1))
    number = na.sum(na.astype(is_first, dtypes.int32), dtype=dtypes.int32)
    is_real = na.less(na.arange(na.shape(starts)[0], dtype=dtypes.int32, like=x), number)
    if count:
        starts_inside = na.minimum(starts, count - 1)
        first = na.where(is_real, starts_inside, na.zeros_like(starts_inside))
        values = na.take(ordered, first, axis=0)
        values = na.reshape(values, (na.shape(values)[0], *rest))
        indices = na.take(order, first, axis=0)
        if fill_value is not None:
            values = _filled(values, is_real, fill_value)
    else:
        values, indices = na.reshape(ordered, (0, *rest)), starts
    counts = na.where(is_real, na.diff(na.minimum(behind, count)), na.zeros_like(starts))
    group = na.subtract(na.cumulative_sum(na.astype(is_first, dtypes.int32), axis=0), 1)
    inverse = na.setitem(na.zeros_like(group), (order,), group) if count else group
    inverse = na.reshape(inverse, shape) if axis is None else inverse
    values = values if axis is None else na.moveaxis(values, 0, axis)
    return _All(values, as_index(indices), as_index(inverse), as_index(counts))


def _keys(column: Array) -> list[Array]:
    if dtypes.dtype_of(column).kind == "complex":
        return [na.real(column), na.imag(column)]
    return [column]


def _is_first(rows: Array, equal_nan: builtins.bool) -> Array:
    """Whether a row differs from the one before it."""
    count = na.shape(rows)[0]
    before, after = na.getitem(rows, slice(0, max(count - 1, 0))), na.getitem(rows, slice(1, None))
    is_new = na.not_equal(before, after)
    if equal_nan and dtypes.dtype_of(rows).is_inexact:
        both = na.logical_and(na.isnan(before), na.isnan(after))
        is_new = na.logical_and(is_new, na.logical_not(both))
    is_new = na.any(is_new, axis=1)
    return na.concat([na.ones((min(count, 1),), dtype=dtypes.bool, like=rows), is_new])


def _filled(values: Array, is_real: Array, fill_value: Any) -> Array:
    sizes = (-1,) + (1,) * (len(na.shape(values)) - 1)
    fill = na.astype(na.asarray(fill_value, like=values), dtypes.dtype_of(values))
    return na.where(na.reshape(is_real, sizes), values, fill)


def unique_all(x: Array, /, *, size: int | None = None, fill_value: Any = None) -> _All:
    """Values, first positions, positions of each element among the values, and counts."""
    return _unique(as_array(x), None, False, size, fill_value)


def unique_counts(x: Array, /, *, size: int | None = None, fill_value: Any = None) -> _Counts:
    """Values and counts."""
    found = unique_all(x, size=size, fill_value=fill_value)
    return _Counts(found.values, found.counts)


def unique_inverse(x: Array, /, *, size: int | None = None, fill_value: Any = None) -> _Inverse:
    """Values, and the position of each element among them."""
    found = unique_all(x, size=size, fill_value=fill_value)
    return _Inverse(found.values, found.inverse_indices)


def unique_values(x: Array, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The different values, in order."""
    return unique_all(x, size=size, fill_value=fill_value).values


def isin(
    element: Array,
    test_elements: Array,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    *,
    method: str = "auto",
) -> Array:
    """Whether elements are among others."""
    return na.isin(*promote(element, test_elements), invert=invert)


def union1d(ar1: Array, ar2: Array, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The elements of either array, in order."""
    parts = [na.reshape(x, (-1,)) for x in promote(ar1, ar2)]
    return unique(na.concat(parts), size=size, fill_value=fill_value)


def setdiff1d(
    ar1: Array,
    ar2: Array,
    assume_unique: builtins.bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """The elements of the first array that are not in the second, in order."""
    ar1, ar2 = promote(ar1, ar2)
    values = na.reshape(ar1, (-1,)) if assume_unique else unique(ar1)
    is_kept = isin(values, ar2, invert=True)
    return _chosen(values, is_kept, size, fill_value)


def _chosen(values: Array, is_kept: Array, size: int | None, fill_value: Any) -> Array:
    """The kept values; exactly `size`, filled with the first one or `fill_value`."""
    (places,) = na.nonzero(is_kept, size=size, fill_value=0)
    found = na.take(values, places, axis=0)
    if size is None:
        return found
    number = na.sum(na.astype(is_kept, dtypes.int32))
    is_real = na.less(na.arange(size, dtype=dtypes.int32, like=values), number)
    fill = na.getitem(found, 0) if fill_value is None else fill_value
    return _filled(found, is_real, fill)


def intersect1d(
    ar1: Array,
    ar2: Array,
    assume_unique: builtins.bool = False,
    return_indices: builtins.bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The elements of both arrays, in order; with `return_indices` also their first positions."""
    ar1, ar2 = (na.reshape(x, (-1,)) for x in promote(ar1, ar2))
    values, first = unique(ar1, return_index=True)
    is_kept = isin(values, ar2)
    found = _chosen(values, is_kept, size, fill_value)
    if not return_indices:
        return found
    if size is not None:
        raise ArgumentError("intersect1d: return_indices: got True with a size, expected no size")
    others, second = unique(ar2, return_index=True)
    (kept,) = na.nonzero(is_kept)
    (kept_others,) = na.nonzero(isin(others, ar1))
    return found, na.take(first, kept, axis=0), na.take(second, kept_others, axis=0)


def setxor1d(
    ar1: Array,
    ar2: Array,
    assume_unique: builtins.bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """The elements of exactly one array, in order."""
    ar1, ar2 = promote(ar1, ar2)
    values, is_one = unique(ar1), unique(ar2)
    both = na.concat([values, is_one])
    is_kept = na.concat([isin(values, is_one, invert=True), isin(is_one, values, invert=True)])
    order = argsort(both)
    return _chosen(na.take(both, order, axis=0), na.take(is_kept, order, axis=0), size, fill_value)
