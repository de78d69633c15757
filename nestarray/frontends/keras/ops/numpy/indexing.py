"""Parts of arrays, and orders.

Upstream: https://keras.io/api/ops/numpy/. Positions are int32. The number of results of `nonzero`
and `unique` depends on values; compiled code requires a `size`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.jax.numpy import sets
from nestarray.frontends.keras.promotion import (
    as_array,
    as_index,
    cast,
    normal_axis,
    promote,
)
from nestarray.typing import Array

__all__ = [
    "argpartition", "argsort", "digitize", "get_item", "histogram", "nonzero", "searchsorted",
    "sort", "take", "take_along_axis", "unique", "unravel_index",
]  # fmt: skip


def get_item(x: Array, key: Any) -> Array:
    """x[key]."""
    return na.getitem(as_array(x), tuple(key) if isinstance(key, list) else key)


def take(x: Array, indices: Array, axis: int | None = None) -> Array:
    """The elements at positions along an axis, or of the flattened array."""
    x = as_array(x)
    if axis is None:
        x, axis = na.reshape(x, (-1,)), 0
    indices = as_array(indices, like=x)
    axis = normal_axis("take", axis, len(na.shape(x)))
    size = na.shape(x)[axis]
    indices = na.where(na.less(indices, 0), na.add(indices, size), indices)
    return na.take(x, indices, axis=axis)


def take_along_axis(x: Array, indices: Array, axis: int | None = None) -> Array:
    """The element at a position along an axis, for each position of the other axes."""
    x = as_array(x)
    indices = as_array(indices, like=x)
    if axis is None:
        if len(na.shape(indices)) != 1:
            raise ShapeError(
                f"take_along_axis: indices: got the shape {na.shape(indices)}, expected a vector, "
                "because axis is None"
            )
        x, axis = na.reshape(x, (-1,)), 0
    axis = normal_axis("take_along_axis", axis, len(na.shape(x)))
    size = na.shape(x)[axis]
    indices = na.where(na.less(indices, 0), na.add(indices, size), indices)
    return na.take_along_axis(x, indices, axis=axis)


def nonzero(x: Array) -> list[Array]:
    """The indices of the true elements, one array for each axis."""
    return [as_index(i) for i in na.nonzero(cast(as_array(x), dtypes.bool))]


def unravel_index(indices: Array, shape: Sequence[int]) -> tuple[Array, ...]:
    """The coordinates of positions in a flattened array."""
    indices = as_array(indices)
    dtype = dtypes.dtype_of(indices)
    size = math.prod(shape)
    indices = na.where(na.less(indices, 0), na.add(indices, size), indices)
    return tuple([cast(i, dtype) for i in na.unravel_index(indices, tuple(shape))])


def searchsorted(sorted_sequence: Array, values: Array, side: str = "left") -> Array:
    """The positions at which values keep a sorted vector sorted.

    Raises:
        ShapeError: `sorted_sequence` is not a vector.
    """
    sorted_sequence, values = promote(sorted_sequence, values)
    if len(na.shape(sorted_sequence)) != 1:
        raise ShapeError(
            f"searchsorted: sorted_sequence: got the shape {na.shape(sorted_sequence)}, expected a "
            "vector; vectorized_map extends the function to more axes"
        )
    return as_index(na.searchsorted(sorted_sequence, values, side=side))


def digitize(x: Array, bins: Array) -> Array:
    """The number of bounds that are at most x."""
    x = as_array(x)
    bins = as_array(list(bins) if isinstance(bins, tuple) else bins, like=x)
    x, bins = promote(x, bins, also=(dtypes.float32,))
    return as_index(na.searchsorted(bins, x, side="right"))


# -- orders --------------------------------------------------------------------------------------


def sort(x: Array, axis: int | None = -1) -> Array:
    """The elements in order."""
    x = as_array(x)
    if axis is None:
        x, axis = na.reshape(x, (-1,)), 0
    return na.sort(x, axis=axis)


def argsort(x: Array, axis: int | None = -1) -> Array:
    """The positions of the elements in order; of equal elements in the given order."""
    x = as_array(x)
    if not na.shape(x):
        return na.zeros((1,), dtype=dtypes.int32, like=x)
    if axis is None:
        x, axis = na.reshape(x, (-1,)), 0
    return as_index(na.argsort(x, axis=axis))


def argpartition(x: Array, kth: int, axis: int | None = -1) -> Array:
    """Positions such that the k-th element of the order is in its place, smaller ones before it."""
    x = as_array(x)
    if axis is None:
        x, axis = na.reshape(x, (-1,)), 0
    return as_index(na.argpartition(x, kth, axis=axis))


def unique(
    x: Array,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The different elements, or slices along an axis, in order.

    Args:
        x: array.
        sorted: kept for upstream's signature; the result is always in order.
        return_index: also return the first position of each.
        return_inverse: also return the position in the result of each element.
        return_counts: also return the number of occurrences.
        axis: compare slices along this axis; None: compare all elements.
        size: the number of results: the first ones, or padded.
        fill_value: the padding; None: 0. Positions are padded by 1, counts by 0.
    """
    x = as_array(x)
    fill = 0 if fill_value is None else fill_value
    found, index, inverse, counts = sets.unique(
        x, True, True, True, axis, size=size, fill_value=fill
    )
    index = na.where(na.greater(counts, 0), as_index(index), 1)
    kept = [found]
    if return_index:
        kept.append(index)
    if return_inverse:
        kept.append(as_index(na.reshape(inverse, na.shape(x) if axis is None else (-1,))))
    if return_counts:
        kept.append(as_index(counts))
    return tuple(kept) if len(kept) > 1 else found


def histogram(x: Array, bins: int = 10, range: Any = None) -> tuple[Array, Array]:
    """The numbers of elements in intervals, and their edges, both in the dtype of x."""
    x = as_array(x)
    dtype = dtypes.dtype_of(x)
    counts, edges = na.histogram(x, bins, range=range)
    return cast(counts, dtype), cast(edges, dtype)
