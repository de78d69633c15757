"""Different elements, and choices among them.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#comparison-ops
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.torch.dims import ndim_of, numel_of, shape_of, wrap
from nestarray.frontends.torch.promotion import cast
from nestarray.typing import Array

__all__ = ["combinations", "unique", "unique_consecutive", "unravel_index"]


def unique(
    input: Array,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The unique elements, or slices along a dimension, sorted; a tuple if other results are requested."""
    if dim is None:
        values, _, inverse, counts = na.unique_all(input)
        return _asked(values, inverse, counts, return_inverse, return_counts)
    axis = wrap("unique", dim, ndim_of(input))
    codes = _ranks(_rows(input, axis))
    _, first, inverse, counts = na.unique_all(codes)
    values = na.take(input, first, axis=axis)
    return _asked(values, inverse, counts, return_inverse, return_counts)


def unique_consecutive(
    input: Array,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The first of each run of equal elements, or of equal slices along a dimension."""
    axis = 0 if dim is None else wrap("unique_consecutive", dim, ndim_of(input))
    x = na.reshape(input, (-1,)) if dim is None else input
    rows = _rows(x, axis)
    size = shape_of(rows)[0]
    before, behind = (na.getitem(rows, (part,)) for part in (slice(0, -1), slice(1, None)))
    changes = na.any(na.not_equal(before, behind), axis=1)
    is_first = na.concat([na.ones((min(size, 1),), dtype=dtypes.bool, like=x), changes])
    (places,) = na.nonzero(is_first)
    places = cast(places, dtypes.int64)
    end = na.full((1,), size, dtype=dtypes.int64, like=x)
    counts = na.diff(na.concat([places, end])) if size else places
    inverse = na.subtract(na.cumulative_sum(cast(is_first, dtypes.int64), axis=0), 1)
    inverse = na.reshape(inverse, shape_of(input)) if dim is None else inverse
    values = na.take(x, places, axis=axis)
    return _asked(values, inverse, counts, return_inverse, return_counts)


def _rows(x: Array, axis: int) -> Array:
    """The slices along an axis, each as a row."""
    x = na.moveaxis(x, axis, 0)
    size = shape_of(x)[0]
    return na.reshape(x, (size, numel_of(x) // size if size else 0))


def _ranks(rows: Array) -> Array:
    """The index of each row among the sorted unique rows."""
    size, columns = shape_of(rows)
    codes = na.zeros((size,), dtype=dtypes.int64, like=rows)
    for column in range(columns):
        found = na.unique_inverse(na.getitem(rows, (slice(None), column))).inverse_indices
        codes = na.add(na.multiply(codes, size), cast(found, dtypes.int64))
        # small again, so that many columns do not overflow
        codes = cast(na.unique_inverse(codes).inverse_indices, dtypes.int64)
    return codes


def _asked(
    values: Array, inverse: Array, counts: Array, return_inverse: bool, return_counts: bool
) -> Any:
    rest = ((inverse, return_inverse), (counts, return_counts))
    more = [cast(part, dtypes.int64) for part, is_asked in rest if is_asked]
    return (values, *more) if more else values


def combinations(input: Array, r: int = 2, with_replacement: bool = False) -> Array:
    """All choices of `r` elements, a row each."""
    if ndim_of(input) != 1:
        raise ShapeError(f"combinations: input: got {ndim_of(input)} dimensions, expected 1")
    chosen = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(chosen(range(numel_of(input)), r))
    if not r:
        return na.zeros((0,), dtype=dtypes.dtype_of(input), like=input)
    places = na.asarray(np.asarray(rows, np.int64).reshape(-1), like=input)
    return na.reshape(na.take(input, places, axis=0), (len(rows), r))


def unravel_index(indices: Array, shape: Any) -> tuple[Array, ...]:
    """The index along each dimension of places in the flat array."""
    shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    return na.unravel_index(cast(indices, dtypes.int64), shape)
