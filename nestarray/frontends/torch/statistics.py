"""Covariances, counts in bins, and order statistics that leave NaN out.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#reduction-ops
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import DtypeError, ShapeError
from nestarray.frontends.torch.dims import ndim_of, numel_of, shape_of, wrap
from nestarray.frontends.torch.ordering import one_along
from nestarray.frontends.torch.promotion import cast, floating
from nestarray.frontends.torch.reduction import median, quantile_by, trapezoids
from nestarray.frontends.torch.reduction import trapezoid as trapz
from nestarray.frontends.torch.return_types import ValuesIndices
from nestarray.typing import Array

__all__ = [
    "corrcoef", "cov", "cumulative_trapezoid", "histogram", "histogramdd", "nanmedian",
    "nanquantile", "renorm", "trapz",
]  # fmt: skip


class Histogram(NamedTuple):
    """torch.return_types.histogram."""

    hist: Array
    bin_edges: Array


def cov(
    input: Array,
    *,
    correction: int = 1,
    fweights: Array | None = None,
    aweights: Array | None = None,
) -> Array:
    """The covariance matrix of the rows; the variance for a single row."""
    if fweights is not None and dtypes.dtype_of(fweights).is_inexact:
        raise DtypeError(f"cov: fweights: got {dtypes.dtype_of(fweights)}, expected integers")
    rows = na.reshape(input, (1, -1)) if ndim_of(input) < 2 else input
    rows = floating(rows)
    if aweights is not None:
        rows = cast(rows, dtypes.result_dtype(rows, aweights))
    found = na.cov(rows, correction=float(correction), fweights=fweights, aweights=aweights)
    return found if ndim_of(input) == 2 else na.reshape(found, ())


def corrcoef(input: Array) -> Array:
    """The correlations of the rows."""
    rows = na.reshape(input, (1, -1)) if ndim_of(input) < 2 else input
    found = na.corrcoef(floating(rows))
    return found if ndim_of(input) == 2 else na.reshape(found, ())


def cumulative_trapezoid(
    y: Array, x: Array | None = None, *, dx: float = 1, dim: int = -1
) -> Array:
    """The integrals up to each element but the first, by the trapezoidal rule."""
    axis = wrap("cumulative_trapezoid", dim, ndim_of(y))
    return na.cumulative_sum(trapezoids(y, x, dx, axis), axis=axis)


class HistogramDD(NamedTuple):
    """torch.return_types.histogramdd."""

    hist: Array
    bin_edges: tuple[Array, ...]


def histogramdd(
    input: Array,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> HistogramDD:
    """The number or weight of the points in each cell of a grid, and the cell edges."""
    count = shape_of(input)[-1]
    points = na.reshape(input, (-1, count))
    flat = None if weight is None else na.reshape(weight, (-1,))
    limits = None if range is None else list(zip(range[::2], range[1::2]))
    hist, *edges = na.histogramdd(points, bins, range=limits, weights=flat, density=density)
    dtype = dtypes.dtype_of(input)
    return HistogramDD(cast(hist, dtype), builtins.tuple(cast(e, dtype) for e in edges))


def histogram(
    input: Array,
    bins: Any = 100,
    *,
    range: tuple[float, float] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> Histogram:
    """The number or weight of the elements in each bin, and the bin edges."""
    dtype = dtypes.dtype_of(input)
    flat = None if weight is None else na.reshape(weight, (-1,))
    counts, edges = na.histogram(
        na.reshape(input, (-1,)), bins, range=range, weights=flat, density=density
    )
    return Histogram(cast(counts, dtype), cast(edges, dtype))


def nanmedian(input: Array, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of the elements other than NaN."""
    if dim is None:
        if numel_of(input) == 0:
            return median(input)
        return _nanmedian(na.reshape(input, (-1,)), 0, False).values
    return _nanmedian(input, dim, keepdim)


def _nanmedian(x: Array, dim: int, keepdim: bool) -> ValuesIndices:
    if ndim_of(x) == 0:
        return ValuesIndices(x, na.zeros((), dtype=dtypes.int64, like=x))
    axis = wrap("nanmedian", dim, ndim_of(x))
    is_floating = dtypes.dtype_of(x).is_floating
    missing = na.isnan(x) if is_floating else na.zeros_like(x, dtype=dtypes.bool)
    present = na.where(missing, na.full_like(x, math.inf), x) if is_floating else x
    order = cast(na.argsort(present, axis=axis, stable=True), dtypes.int64)
    count = na.sum(cast(na.logical_not(missing), dtypes.int64), axis=axis, keepdims=True)
    middle = na.maximum(na.floor_divide(na.subtract(count, 1), 2), 0)
    indices = na.take_along_axis(order, middle, axis=axis)
    values = na.take_along_axis(x, indices, axis=axis)
    return one_along(values, indices, axis, keepdim)


def nanquantile(
    input: Array,
    q: float | Array,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Array:
    """The `q`-quantiles of the elements other than NaN."""
    return quantile_by(na.nanquantile, input, q, dim, keepdim, interpolation)


def renorm(input: Array, p: float, dim: int, maxnorm: float) -> Array:
    """`input` with the slices along a dimension scaled down to the norm `maxnorm`."""
    if ndim_of(input) < 2:
        raise ShapeError(f"renorm: input: got {ndim_of(input)} dimensions, expected at least 2")
    axis = wrap("renorm", dim, ndim_of(input))
    rest = tuple(a for a in builtins.range(ndim_of(input)) if a != axis)
    size = na.vector_norm(input, axis=rest, keepdims=True, ord=p)
    small = na.divide(maxnorm, na.add(size, 1e-7))
    factor = na.where(na.greater(size, maxnorm), small, na.ones_like(size))
    return na.multiply(input, cast(factor, dtypes.dtype_of(input)))
