"""Order statistics, averages, correlation and histograms.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import UnsupportedError
from nestarray.frontends.jax.in_place import refuse_in_place
from nestarray.frontends.jax.numpy.creation import linspace
from nestarray.frontends.jax.numpy.reduction import mean, sum
from nestarray.frontends.jax.promotion import (
    as_array,
    as_dtype,
    as_index,
    cast,
    inexact,
    promote_inexact,
    real_dtype,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "average", "bincount", "corrcoef", "cov", "histogram", "histogram2d", "histogram_bin_edges",
    "histogramdd", "median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile",
]  # fmt: skip

Axis = Any

# -- order statistics ----------------------------------------------------------------------------


def quantile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    method: str = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: Array | None = None,
) -> Array:
    """Quantiles for `q` in [0, 1]; NaN for slices with NaN."""
    refuse_in_place("quantile", out, overwrite_input)
    return _quantile(na.quantile, a, q, axis, method, keepdims, weights)


def nanquantile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    method: str = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: Array | None = None,
) -> Array:
    """Quantiles of the elements that are not NaN, for `q` in [0, 1]."""
    refuse_in_place("nanquantile", out, overwrite_input)
    return _quantile(na.nanquantile, a, q, axis, method, keepdims, weights)


def percentile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    method: str = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: Array | None = None,
) -> Array:
    """Quantiles for `q` in [0, 100]."""
    refuse_in_place("percentile", out, overwrite_input)
    return quantile(a, _hundredth(q), axis, None, False, method, keepdims, weights=weights)


def nanpercentile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    method: str = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: Array | None = None,
) -> Array:
    """Quantiles of the elements that are not NaN, for `q` in [0, 100]."""
    refuse_in_place("nanpercentile", out, overwrite_input)
    return nanquantile(a, _hundredth(q), axis, None, False, method, keepdims, weights=weights)


def _hundredth(q: Any) -> Any:
    return q / 100 if isinstance(q, (int, float)) else na.divide(inexact(q), 100)


def _quantile(
    function: Any,
    a: Any,
    q: Any,
    axis: Axis,
    method: str,
    keepdims: builtins.bool,
    weights: Array | None,
) -> Array:
    axis = tuple(axis) if isinstance(axis, list) else axis
    a, q = inexact(a), q if isinstance(q, (int, float)) else inexact(q)
    return function(a, q, axis=axis, method=method, keepdims=keepdims, weights=weights)


def median(
    a: Array,
    axis: Axis = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    keepdims: builtins.bool = False,
) -> Array:
    """The median, the mean of two elements in the middle."""
    refuse_in_place("median", out, overwrite_input)
    return quantile(a, 0.5, axis, keepdims=keepdims, method="midpoint")


def nanmedian(
    a: Array,
    axis: Axis = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    keepdims: builtins.bool = False,
) -> Array:
    """The median of the elements that are not NaN."""
    refuse_in_place("nanmedian", out, overwrite_input)
    return nanquantile(a, 0.5, axis, keepdims=keepdims, method="midpoint")


# -- averages and correlation --------------------------------------------------------------------


def average(
    a: Array,
    axis: Axis = None,
    weights: Array | None = None,
    returned: builtins.bool = False,
    keepdims: builtins.bool = False,
) -> Any:
    """The weighted mean; with `returned` also the sum of weights."""
    a = inexact(a)
    if weights is None:
        found = mean(a, axis, keepdims=keepdims)
        count = math.prod(na.shape(a)) // max(math.prod(na.shape(found)), 1)
        return (found, na.full_like(found, count)) if returned else found
    a, weights = promote_inexact(a, weights)
    if na.shape(weights) != na.shape(a):
        sizes = [1] * len(na.shape(a))
        sizes[axis] = -1
        weights = na.broadcast_to(na.reshape(weights, sizes), na.shape(a))
    total = sum(weights, axis, keepdims=keepdims)
    found = na.divide(sum(na.multiply(a, weights), axis, keepdims=keepdims), total)
    return (found, total) if returned else found


def cov(
    m: Array,
    y: Array | None = None,
    rowvar: builtins.bool = True,
    bias: builtins.bool = False,
    ddof: int | None = None,
    fweights: Array | None = None,
    aweights: Array | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """The covariance matrix of the rows and of the rows of `y`."""
    x = _observations(m, rowvar, dtype)
    if y is not None:
        other = _observations(y, rowvar, dtype)
        x = na.concat(list(promote_inexact(x, other)), axis=0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = fweights if aweights is None or fweights is None else na.multiply(fweights, aweights)
    w = aweights if w is None else w
    n = na.shape(x)[1]
    if w is None:
        average_, factor = mean(x, 1, keepdims=True), n - ddof
        centered = na.subtract(x, average_)
        weighted = centered
    else:
        w = cast(w, real_dtype(dtypes.dtype_of(x)))
        total = sum(w)
        centered = na.subtract(
            x, na.expand_dims(na.divide(na.matmul(x, cast(w, na.dtype_of(x))), total), -1)
        )
        weighted = na.multiply(centered, w)
        if ddof == 0 or aweights is None:
            factor = na.subtract(total, ddof)
        else:
            factor = na.subtract(
                total, na.divide(na.multiply(sum(na.multiply(w, aweights)), ddof), total)
            )
    found = na.matmul(weighted, na.conj(na.matrix_transpose(centered)))
    return na.squeeze(na.divide(found, factor))


def _observations(x: Any, rowvar: builtins.bool, dtype: DTypeLike | None) -> Array:
    x = inexact(x) if dtype is None else cast(x, dtype)
    is_rows = rowvar or len(na.shape(x)) < 2
    return na.atleast_2d(x) if is_rows else na.matrix_transpose(x)


def corrcoef(
    x: Array,
    y: Array | None = None,
    rowvar: builtins.bool = True,
    dtype: DTypeLike | None = None,
) -> Array:
    """The correlation coefficients of the rows and of the rows of `y`."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not na.shape(c):
        return na.divide(c, c)
    deviation = na.sqrt(na.real(na.diagonal(c)))
    found = na.divide(na.divide(c, na.expand_dims(deviation, -1)), deviation)
    if dtypes.dtype_of(found).kind != "complex":
        return na.clip(found, -1.0, 1.0)
    return na.complex(na.clip(na.real(found), -1.0, 1.0), na.clip(na.imag(found), -1.0, 1.0))


# -- histograms ----------------------------------------------------------------------------------


def bincount(
    x: Array, weights: Array | None = None, minlength: int = 0, *, length: int | None = None
) -> Array:
    """The number of each integer, or the sum of its weights; negative integers count as 0."""
    x = na.maximum(x, 0)
    found = na.bincount(x, weights, minlength=minlength, length=length)
    return found if weights is not None else as_index(found)


def histogram_bin_edges(
    a: Array, bins: Any = 10, range: Any = None, weights: Array | None = None
) -> Array:
    """The edges of equal bins over the range of `a`."""
    if hasattr(bins, "shape") and len(na.shape(bins)):
        return inexact(bins)
    if isinstance(bins, str):
        raise UnsupportedError(
            f"histogram_bin_edges: bins: got {bins!r}, expected a number or edges, as upstream"
        )
    a = inexact(a)
    low, high = (
        (na.min(a), na.max(a)) if range is None else (cast(x, na.dtype_of(a)) for x in range)
    )
    if range is not None:
        low, high = (na.asarray(x, like=a) for x in (low, high))
    is_flat = na.equal(low, high)
    low, high = (
        na.where(is_flat, na.subtract(low, 0.5), low),
        na.where(is_flat, na.add(high, 0.5), high),
    )
    return linspace(low, high, int(bins) + 1)


def histogram(
    a: Array,
    bins: Any = 10,
    range: Any = None,
    weights: Array | None = None,
    density: builtins.bool | None = None,
) -> tuple[Array, Array]:
    """(counts, edges) of the elements in bins."""
    flat = na.reshape(as_array(a), (-1,))
    edges = histogram_bin_edges(flat, bins, range, weights)
    ones = na.ones(na.shape(flat), dtype=na.dtype_of(edges), like=edges)
    weights = ones if weights is None else na.reshape(weights, (-1,))
    counts = _counts(_bins(inexact(flat), edges), [na.shape(edges)[0] - 1], weights, edges)
    if density:
        counts = na.divide(na.divide(counts, na.diff(edges)), na.sum(counts))
    return counts, edges


def _bins(x: Array, edges: Array) -> Array:
    """The bin of each number; −1 outside. The last bin includes its upper edge."""
    count = na.shape(edges)[0] - 1
    places = na.subtract(na.searchsorted(edges, x, side="right"), 1)
    places = na.where(na.equal(x, na.getitem(edges, -1)), na.full_like(places, count - 1), places)
    is_inside = na.logical_and(na.greater_equal(places, 0), na.less(places, count))
    return na.where(is_inside, places, na.full_like(places, -1))


def _counts(places: Array, sizes: list[int], weights: Array | None, like: Array) -> Array:
    """The sum of weights for each place; places of −1 do not count."""
    is_inside = na.greater_equal(places, 0)
    dtype = as_dtype(int) if weights is None else dtypes.dtype_of(weights)
    ones = (
        na.ones(na.shape(places), dtype=dtype, like=like)
        if weights is None
        else cast(weights, dtype)
    )
    weights = na.where(is_inside, ones, na.zeros_like(ones))
    zeros = na.zeros((math.prod(sizes),), dtype=dtype, like=like)
    found = na.index_add(zeros, na.where(is_inside, places, na.zeros_like(places)), weights)
    return na.reshape(found, tuple(sizes))


def histogramdd(
    sample: Array,
    bins: Any = 10,
    range: Any = None,
    weights: Array | None = None,
    density: builtins.bool | None = None,
) -> tuple[Array, list[Array]]:
    """(counts, edges) of points in a grid of bins."""
    is_list = isinstance(sample, (list, tuple))
    sample = na.stack(list(sample), axis=-1) if is_list else inexact(sample)
    rank = na.shape(sample)[-1]
    per_axis = list(bins) if isinstance(bins, (list, tuple)) else [bins] * rank
    ranges = [None] * rank if range is None else range
    columns = na.unstack(inexact(sample), axis=-1)
    edges = [
        histogram_bin_edges(x, b, r) for x, b, r in zip(columns, per_axis, ranges, strict=True)
    ]
    sizes = [na.shape(x)[0] - 1 for x in edges]
    places: Any = 0
    is_outside: Any = False
    for x, e, size in zip(columns, edges, sizes, strict=True):
        found = _bins(x, e)
        is_outside = na.logical_or(na.less(found, 0), is_outside)
        places = na.add(na.multiply(found, 1), na.multiply(places, size))
    places = na.where(is_outside, na.full_like(places, -1), places)
    counts = _counts(places, sizes, weights, edges[0])
    if density:
        counts = na.divide(counts, na.sum(counts))
        for axis, e in enumerate(edges):
            widths = na.reshape(na.diff(e), [-1 if i == axis else 1 for i in builtins.range(rank)])
            counts = na.divide(counts, widths)
    return counts, edges


def histogram2d(
    x: Array,
    y: Array,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    weights: Array | None = None,
    density: builtins.bool | None = None,
) -> tuple[Array, Array, Array]:
    """(counts, x edges, y edges) of points in a grid of bins."""
    is_edges = hasattr(bins, "shape") and len(na.shape(bins)) == 1
    per_axis = [bins, bins] if is_edges else bins
    counts, (first, second) = histogramdd([x, y], per_axis, range, weights, density)
    return counts, first, second
