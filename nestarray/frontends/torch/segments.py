"""Reductions over consecutive parts of a dimension.

Upstream: https://docs.pytorch.org/docs/stable/generated/torch.segment_reduce.html
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import ndim_of, shape_of, wrap
from nestarray.frontends.torch.promotion import cast
from nestarray.typing import Array

__all__ = ["segment_reduce"]

_REDUCTIONS = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def segment_reduce(
    data: Array,
    reduce: str,
    *,
    lengths: Array | None = None,
    indices: Array | None = None,
    offsets: Array | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Array:
    """ "sum", "mean", "prod", "max" or "min" of parts of `axis`, given by lengths or by offsets.

    Lengths and offsets have the dimensions before `axis`. The result of an empty part is `initial`
    or the neutral element; NaN for the mean.
    """
    if reduce not in _REDUCTIONS:
        raise ArgumentError(
            f"segment_reduce: reduce: got {reduce!r}, expected one of {', '.join(_REDUCTIONS)}"
        )
    if indices is not None or (lengths is None) == (offsets is None):
        raise ArgumentError("segment_reduce: expected lengths or offsets, and no indices")
    dim = wrap("segment_reduce", axis, ndim_of(data))
    bounds = lengths if offsets is None else offsets
    if shape_of(bounds)[:-1] != shape_of(data)[:dim]:
        raise ArgumentError(
            f"segment_reduce: got parts of the shape {shape_of(bounds)}, expected "
            f"{(*shape_of(data)[:dim], 'parts')} for axis={axis}"
        )
    bounds = cast(bounds, dtypes.int64)
    if offsets is None:
        ends = na.cumulative_sum(bounds, axis=-1)
        starts = na.subtract(ends, bounds)
    else:
        starts, ends = na.getitem(bounds, (..., slice(0, -1))), bounds[..., 1:]
    places = na.arange(shape_of(data)[dim], dtype=dtypes.int64, like=data)
    inside = na.logical_and(
        na.greater_equal(places, na.expand_dims(starts, axis=-1)),
        na.less(places, na.expand_dims(ends, axis=-1)),
    )  # (*outer, parts, size)
    rest = ndim_of(data) - dim - 1
    inside = na.reshape(inside, (*shape_of(inside), *(1,) * rest))
    x = na.expand_dims(data, axis=dim)
    neutral = _REDUCTIONS[reduce]
    chosen = na.where(inside, x, na.full_like(x, neutral))
    function = {"sum": na.sum, "mean": na.sum, "prod": na.prod, "max": na.max, "min": na.min}
    found = function[reduce](chosen, axis=dim + 1)
    if initial is not None:
        start = na.full_like(found, initial)
        combine = {
            "sum": na.add, "mean": na.add, "prod": na.multiply,
            # equal elements have the whole derivative
            "max": lambda x, y: na.where(na.less(x, y), y, x),
            "min": lambda x, y: na.where(na.greater(x, y), y, x),
        }  # fmt: skip
        found = combine[reduce](found, start)
    if reduce != "mean":
        return found
    count = cast(na.sum(cast(inside, dtypes.int64), axis=dim + 1), dtypes.dtype_of(data))
    mean = na.divide(found, na.maximum(count, na.ones_like(count)))
    empty = math.nan if initial is None else initial
    return na.where(na.equal(count, 0), na.full_like(mean, empty), mean)
