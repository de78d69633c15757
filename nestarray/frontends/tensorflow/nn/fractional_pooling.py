"""Pooling over windows of random sizes.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/fractional_max_pool. The windows are
determined by ``key`` and differ from upstream's.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import tensor
from nestarray.typing import Array

__all__ = ["fractional_avg_pool", "fractional_max_pool"]


class FractionalPool(NamedTuple):
    """Reductions of windows, and the bounds of the windows along rows and columns."""

    output: Any
    row_pooling_sequence: Any
    col_pooling_sequence: Any


def _ratios(name: str, value: Any) -> tuple[float, float]:
    """The ratios of the rows and columns."""
    ratios = [value] if isinstance(value, (int, float)) else list(value)
    if len(ratios) in (1, 2):
        ratios = [1.0, ratios[0], ratios[-1], 1.0]
    if len(ratios) != 4 or min(ratios) < 1 or ratios[0] != 1 or ratios[3] != 1:
        raise ArgumentError(
            f"{name}: pooling_ratio: got {value}, expected numbers of at least 1 for the rows and "
            "columns, and 1 for the batch and channels"
        )
    return ratios[1], ratios[2]


def _bounds(size: int, count: int, is_pseudo_random: bool, key: Array) -> Array:
    """`(count + 1,)`: the start of each window and the end, whose differences vary by at most 1."""
    least = size // count
    if is_pseudo_random and size % count:
        ratio = size / count
        most = min((least + 2) / ratio - 1, (size + 1 - least) / ratio - (count - 1))
        start = na.multiply(na.random.uniform(key, shape=()), most)
        index = na.arange(1, count, dtype=dtypes.float32, like=key)
        inner = na.subtract(na.ceil(na.multiply(na.add(index, start), ratio)), 1)
        inner = na.astype(inner, dtypes.int64)
    else:
        longer = na.astype(
            na.less(na.arange(count, dtype=dtypes.int32, like=key), size % count), dtypes.int64
        )
        steps = na.add(na.take(longer, na.random.permutation(key, count), axis=0), least)
        inner = na.getitem(na.cumulative_sum(steps), slice(None, -1))
    first = na.zeros((1,), dtype=dtypes.int64, like=key)
    return na.concat([first, na.astype(inner, dtypes.int64), na.full_like(first, size)])


def _windows(
    x: Array, axis: int, bounds: Array, overlapping: bool, fill: float
) -> tuple[Array, Array]:
    """The elements of each window in a new axis behind `axis`, filled up, and the sizes of windows."""
    size = na.shape(x)[axis]
    count = na.shape(bounds)[0] - 1
    longest = -(-size // count) + overlapping
    first, end = na.getitem(bounds, slice(None, -1)), na.getitem(bounds, slice(1, None))
    if overlapping:
        end = na.minimum(na.add(end, 1), size)
    place = na.add(
        na.expand_dims(first, 1), na.arange(longest, dtype=na.dtype_of(first), like=first)
    )
    is_inside = na.less(place, na.expand_dims(end, 1))
    found = na.take(x, na.minimum(place, size - 1), axis=axis)
    mask = na.reshape(is_inside, (count, longest) + (1,) * (len(na.shape(x)) - axis - 1))
    return na.where(mask, found, na.full_like(found, fill)), na.subtract(end, first)


def _sequences(
    name: str, x: Array, pooling_ratio: Any, pseudo_random: bool, key: Array
) -> list[Array]:
    keys = na.random.split(key)
    sizes = na.shape(x)[1:3]
    return [
        _bounds(size, math.floor(size / ratio), pseudo_random, na.getitem(keys, i))
        for i, (size, ratio) in enumerate(zip(sizes, _ratios(name, pooling_ratio), strict=True))
    ]


def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
    *,
    key: Array,
) -> FractionalPool:
    """The maxima of windows of random sizes.

    Args:
        value: `(batch, rows, columns, channels)`.
        pooling_ratio: the size of the input divided by the size of the result: a number, one for
            each of rows and columns, or one for each axis.
        pseudo_random: whether the sizes follow from one random number, else they are shuffled.
        overlapping: whether a window has the first element of the next one too.
        seed, name: have no effect.
        key: the random key.
    """
    x = tensor(value)
    rows, columns = _sequences("fractional_max_pool", x, pooling_ratio, pseudo_random, key)
    return FractionalPool(maxima(x, rows, columns, overlapping), rows, columns)


def maxima(x: Array, rows: Array, columns: Array, overlapping: bool) -> Array:
    """The maxima of windows with these bounds."""
    dtype = dtypes.dtype_of(x)
    lowest = -math.inf if dtype.is_floating else dtypes.iinfo(dtype).min
    found = na.max(_windows(x, 1, rows, overlapping, lowest)[0], axis=2)
    return na.max(_windows(found, 2, columns, overlapping, lowest)[0], axis=3)


def fractional_avg_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
    *,
    key: Array,
) -> FractionalPool:
    """The means of windows of random sizes; arguments as of `fractional_max_pool`."""
    x = tensor(value)
    rows, columns = _sequences("fractional_avg_pool", x, pooling_ratio, pseudo_random, key)
    return FractionalPool(means(x, rows, columns, overlapping), rows, columns)


def means(x: Array, rows: Array, columns: Array, overlapping: bool) -> Array:
    """The means of windows with these bounds."""
    found, heights = _windows(x, 1, rows, overlapping, 0)
    found, widths = _windows(na.sum(found, axis=2), 2, columns, overlapping, 0)
    areas = na.multiply(na.reshape(heights, (-1, 1, 1)), na.reshape(widths, (1, -1, 1)))
    return na.divide(na.sum(found, axis=3), na.astype(areas, dtypes.dtype_of(x)))
