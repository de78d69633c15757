"""Sorting, searching and running values.

Upstream: https://docs.pytorch.org/docs/stable/torch.html, one page a function:
https://docs.pytorch.org/docs/stable/generated/torch.sort.html
"""

from __future__ import annotations

import builtins
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.torch.dims import ndim_of, numel_of, shape_of, wrap
from nestarray.frontends.torch.promotion import accumulating, cast, promote_arrays
from nestarray.frontends.torch.return_types import ValuesIndices
from nestarray.typing import Array, DTypeLike

__all__ = [
    "argsort", "bincount", "bucketize", "cummax", "cummin", "cumprod", "cumsum", "diff", "histc",
    "kthvalue", "logcumsumexp", "msort", "searchsorted", "sort", "topk",
]  # fmt: skip

# -- sorting -------------------------------------------------------------------------------


def sort(
    input: Array, dim: int = -1, descending: bool = False, stable: bool = False
) -> ValuesIndices:
    """The sorted elements and their indices. The sort is stable."""
    if ndim_of(input) == 0:
        return ValuesIndices(input, na.zeros((), dtype=dtypes.int64, like=input))
    axis = wrap("sort", dim, ndim_of(input))
    indices = argsort(input, axis, descending, stable)
    return ValuesIndices(na.take_along_axis(input, indices, axis=axis), indices)


def argsort(input: Array, dim: int = -1, descending: bool = False, stable: bool = False) -> Array:
    """The indices that sort the elements. The sort is stable."""
    if ndim_of(input) == 0:
        return na.zeros((), dtype=dtypes.int64, like=input)
    axis = wrap("argsort", dim, ndim_of(input))
    x = na.astype(input, dtypes.uint8) if dtypes.dtype_of(input) is dtypes.bool else input
    return cast(na.argsort(x, axis=axis, descending=descending, stable=True), dtypes.int64)


def msort(input: Array) -> Array:
    """The elements in order along the first dimension."""
    return sort(input, 0).values


def topk(
    input: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> ValuesIndices:
    """The `k` largest (or smallest) elements in order, and their indices."""
    extent = shape_of(input)[wrap("topk", dim, ndim_of(input))] if ndim_of(input) else 1
    if isinstance(extent, int) and isinstance(k, int) and not 0 <= k <= extent:
        raise ArgumentError(f"topk: k: got {k}, expected 0 to {extent}, the size of dim {dim}")
    if ndim_of(input) == 0:
        values, indices = sort(input)
        return ValuesIndices(values, indices)
    axis = wrap("topk", dim, ndim_of(input))
    indices = argsort(input, axis, descending=largest)
    indices = na.getitem(indices, (builtins.slice(None),) * axis + (builtins.slice(0, k),))
    return ValuesIndices(na.take_along_axis(input, indices, axis=axis), indices)


def kthvalue(input: Array, k: int, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The `k`-th smallest element, counted from 1, and its index."""
    extent = shape_of(input)[wrap("kthvalue", dim, ndim_of(input))] if ndim_of(input) else 1
    if not 1 <= k <= extent:
        raise ArgumentError(f"kthvalue: k: got {k}, expected 1 to {extent}, the size of dim {dim}")
    if ndim_of(input) == 0:
        return sort(input)
    axis = wrap("kthvalue", dim, ndim_of(input))
    place = (builtins.slice(None),) * axis + (builtins.slice(k - 1, k),)
    indices = na.getitem(argsort(input, axis), place)
    values = na.take_along_axis(input, indices, axis=axis)
    return one_along(values, indices, axis, keepdim)


def one_along(values: Array, indices: Array, axis: int, keepdim: bool) -> ValuesIndices:
    """Values and indices of length 1 along an axis, which is removed unless `keepdim`."""
    if not keepdim:
        values, indices = na.squeeze(values, axis=axis), na.squeeze(indices, axis=axis)
    return ValuesIndices(values, indices)


# -- searching -----------------------------------------------------------------------------


def searchsorted(
    sorted_sequence: Array,
    input: Array | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
) -> Array:
    """The insertion index of `input` that keeps each row sorted."""
    leading = shape_of(sorted_sequence)[:-1]
    if leading and leading != shape_of(input)[:-1]:
        raise ShapeError(
            f"searchsorted: input: got shape {shape_of(input)} beside sequences of shape "
            f"{shape_of(sorted_sequence)}, expected all dimensions but the last to be equal, or "
            "one sequence"
        )
    rows, x = promote_arrays(sorted_sequence, input)
    if sorter is not None:
        rows = na.take_along_axis(rows, sorter, axis=-1)
    after = right or side == "right"
    result = dtypes.int32 if out_int32 else dtypes.int64
    if ndim_of(rows) == 1:
        return cast(na.searchsorted(rows, x, side="right" if after else "left"), result)
    lies_before = na.less_equal if after else na.less
    x = na.expand_dims(x, axis=-1)
    is_before = lies_before(na.expand_dims(rows, axis=-2), x)
    if dtypes.dtype_of(x).is_floating:
        is_before = na.logical_or(is_before, na.isnan(x))
    return cast(na.sum(na.astype(is_before, dtypes.int64), axis=-1), result)


def bucketize(
    input: Array | float, boundaries: Array, *, out_int32: bool = False, right: bool = False
) -> Array:
    """The bucket of each element between 1-d `boundaries`."""
    if ndim_of(boundaries) != 1:
        raise ShapeError(f"bucketize: boundaries: got {ndim_of(boundaries)} dimensions, expected 1")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def histc(input: Array, bins: int = 100, min: float = 0, max: float = 0) -> Array:
    """The number of elements in each of `bins` equal intervals of [min, max]."""
    dtype = dtypes.dtype_of(input)
    x = na.reshape(input, (-1,))
    wide = dtype if dtype.is_floating else dtypes.float32
    low = na.full((), min, dtype=wide, like=x)
    high = na.full((), max, dtype=wide, like=x)
    if min == max and numel_of(input):
        low, high = cast(na.min(x), wide), cast(na.max(x), wide)
        flat = na.equal(low, high)
        one = na.ones_like(low)
        low, high = (
            na.where(flat, na.subtract(low, one), low),
            na.where(flat, na.add(high, one), high),
        )
    x = cast(x, wide)
    place = na.floor(
        na.divide(na.multiply(na.subtract(x, low), float(bins)), na.subtract(high, low))
    )
    place = na.where(na.equal(x, high), na.full_like(place, bins - 1), place)
    inside = na.logical_and(na.greater_equal(x, low), na.less_equal(x, high))
    place = na.where(inside, place, na.full_like(place, -1))
    buckets = na.arange(bins, dtype=wide, like=x)
    hits = na.equal(na.expand_dims(place, axis=-1), buckets)
    return na.sum(na.astype(hits, dtype), axis=0)


def bincount(input: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """The counts of the integers from 0; reads the largest value, so it cannot be compiled."""
    return counted(input, weights, minlength)


def counted(
    input: Array, weights: Array | None, minlength: int, length: int | None = None
) -> Array:
    """`bincount` with a fixed number of counts, `length`."""
    if weights is not None and dtypes.dtype_of(weights) is not dtypes.float32:
        weights = cast(weights, dtypes.float64)
    found = na.bincount(input, weights, minlength=minlength, length=length)
    return found if weights is not None else cast(found, dtypes.int64)


# -- running values ------------------------------------------------------------------------


def cumsum(input: Array, dim: int, *, dtype: DTypeLike | None = None) -> Array:
    """The running sum; integers and booleans are summed in int64."""
    return _running(na.cumulative_sum, "cumsum", accumulating(input, dtype), dim)


def cumprod(input: Array, dim: int, *, dtype: DTypeLike | None = None) -> Array:
    """The running product; integers and booleans are multiplied in int64."""
    return _running(na.cumulative_prod, "cumprod", accumulating(input, dtype), dim)


def cummax(input: Array, dim: int) -> ValuesIndices:
    """The running maximum, and where it was last."""
    return _running_extreme(input, dim, "cummax")


def cummin(input: Array, dim: int) -> ValuesIndices:
    """The running minimum, and where it was last."""
    return _running_extreme(input, dim, "cummin")


def logcumsumexp(input: Array, dim: int) -> Array:
    """ln of the running sum of eˣ."""
    if ndim_of(input) == 0:
        return input
    axis = wrap("logcumsumexp", dim, ndim_of(input))
    return na.cumulative_logsumexp(input, axis=axis)


def diff(
    input: Array,
    n: int = 1,
    dim: int = -1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """The differences of neighbours along a dimension, taken `n` times."""
    if n < 0:
        raise ArgumentError(f"diff: n: got {n}, expected 0 or more")
    axis = wrap("diff", dim, ndim_of(input))
    if n == 0:  # not even joined
        return input
    return na.diff(input, axis=axis, n=n, prepend=prepend, append=append)


def _running(function: Any, name: str, x: Array, dim: int) -> Array:
    axis = wrap(name, dim, ndim_of(x))
    if ndim_of(x) == 0:
        return x
    return function(x, axis=axis, dtype=dtypes.dtype_of(x))


def _running_extreme(x: Array, dim: int, name: str) -> ValuesIndices:
    if ndim_of(x) == 0:
        return ValuesIndices(x, na.zeros((), dtype=dtypes.int64, like=x))
    own = dtypes.dtype_of(x)
    if own is dtypes.bool:  # not all frameworks order them
        found = _running_extreme(na.astype(x, dtypes.uint8), dim, name)
        return ValuesIndices(na.astype(found.values, own), found.indices)
    axis = wrap(name, dim, ndim_of(x))
    values = getattr(na, name)(x, axis=axis)
    is_last = na.equal(x, values)
    if own.is_floating:
        is_last = na.logical_or(is_last, na.isnan(x))
    shape = [-1 if i == axis else 1 for i in range(ndim_of(x))]
    places = na.reshape(na.arange(shape_of(x)[axis], dtype=dtypes.int64, like=x), shape)
    return ValuesIndices(values, na.cummax(na.where(is_last, places, 0), axis=axis))
