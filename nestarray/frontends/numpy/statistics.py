"""Counts and histograms, whose dtypes NumPy chooses in its own way.

Upstream: https://numpy.org/doc/stable/reference/routines.statistics.html
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.jax.promotion import axes_of
from nestarray.frontends.numpy import functions
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.frontends.numpy.arrays import (
    as_array,
    cast,
    first_array,
    is_native,
    is_number,
    known_values,
    numpy_dtype,
)
from nestarray.frontends.numpy.checks import check_bins, check_range
from nestarray.typing import Array

__all__ = [
    "average",
    "bincount",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "interp",
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]  # fmt: skip


_histogram = adapted("histogram", jnp.histogram, is_inexact=True, kept=["weights"])
_histogramdd = adapted("histogramdd", jnp.histogramdd, is_inexact=True, kept=["weights"])


def _quantile(name: str, function: Any) -> Any:
    """A function of quantiles; methods that select elements keep the dtype."""
    of_floats = adapted(name, function, is_inexact=True, is_weak=True, arrays=["q"])

    def call(a: Any, q: Any, *args: Any, method: str = "linear", **kwargs: Any) -> Any:
        found = of_floats(a, q, *args, method=method, **kwargs)
        selects = method in ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
        return cast(found, numpy_dtype(as_array(a))) if selects else found

    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__signature__ = of_floats.__doc__, of_floats.__signature__  # type: ignore
    return call


nanpercentile = _quantile("nanpercentile", jnp.nanpercentile)
nanquantile = _quantile("nanquantile", jnp.nanquantile)
percentile = _quantile("percentile", jnp.percentile)
quantile = _quantile("quantile", jnp.quantile)

_interp = adapted("interp", jnp.interp, with_dtype=np.float64, kept=["fp"])


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """Linear interpolation between the points (xp, fp), in 64 bits."""
    fp = as_array(fp, first_array((x, xp, fp)))
    fp = cast(fp, np.result_type(numpy_dtype(fp), np.float64))
    return _interp(x, xp, fp, left, right, period)


_median = adapted("median", jnp.median, is_inexact=True)
_nanmedian = adapted("nanmedian", jnp.nanmedian, is_inexact=True)


def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Array:
    """The median; NaN of no elements."""
    function = _median if _has_elements(a, axis) else functions.mean
    return function(a, axis, out=out, keepdims=keepdims)


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Array:
    """The median of the elements that are not NaN; NaN of no elements."""
    function = _nanmedian if _has_elements(a, axis) else functions.nanmean
    return function(a, axis, out=out, keepdims=keepdims)


def _has_elements(a: Any, axis: Any) -> bool:
    sizes = na.shape(as_array(a))
    return all(sizes[i] for i in axes_of(axis, len(sizes)))


_average = adapted("average", jnp.average)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    """The weighted mean; with the sums of the weights if `returned`."""
    a = as_array(a, first_array((a, weights)))
    a = cast(a, np.float64) if numpy_dtype(a).kind in "biu" else a
    if weights is None:
        return _average(a, axis, None, returned, keepdims=keepdims)
    found, total = _average(a, axis, weights, True, keepdims=keepdims)
    sums = known_values(total)
    if sums is not None and np.any(sums == 0):
        raise ZeroDivisionError("average: weights: got a sum of 0")
    return (found, total) if returned else found


_histogram_bin_edges = adapted("histogram_bin_edges", jnp.histogram_bin_edges, is_inexact=True)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """The edges of the bins of a histogram."""
    bins = _as_edges(bins, a)
    edges = _histogram_bin_edges(a, bins, _range_of(a, range), weights)
    if not is_native(bins):
        check_range("histogram_bin_edges", edges)
    return edges


def _range_of(a: Any, range: Any) -> Any:
    """The range of a histogram, (0, 1) of no elements."""
    return (0.0, 1.0) if range is None and 0 in na.shape(as_array(a)) else range


def _as_edges(bins: Any, like: Any) -> Any:
    """Edges as an array; a number of bins unchanged."""
    return as_array(bins, first_array([like])) if isinstance(bins, (list, tuple)) else bins


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """The number of occurrences of each integer, or the sums of their weights."""
    x = as_array(x, first_array([weights]), None if is_native(x) else np.int64)
    values = known_values(x)
    if minlength < 0 or (values is not None and np.any(values < 0)):
        raise ArgumentError("bincount: got a negative number in x or minlength")
    if weights is None:
        return cast(jnp.bincount(x, minlength=minlength), np.int64)
    weights = as_array(weights, x)
    if numpy_dtype(weights).kind == "c":
        raise DtypeError("bincount: weights: got complex numbers, expected real ones")
    weights = cast(weights, np.float64)
    if na.shape(weights) != na.shape(x):
        raise ShapeError(f"bincount: weights: expected the shape of x, {tuple(na.shape(x))}")
    return jnp.bincount(x, weights, minlength=minlength)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array]:
    """(counts, or sums of weights, or densities; edges of the bins)."""
    bins = _as_edges(bins, a)
    counts, edges = _histogram(a, bins, _range_of(a, range), None, weights)
    if is_native(bins):
        edges = bins
    else:
        check_range("histogram", edges)
    if density:
        return _densities(counts, [edges], density), edges
    return (cast(counts, np.int64) if weights is None else counts), edges


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Array, Array, Array]:
    """(counts, or sums of weights, or densities; edges along x; edges along y)."""
    are_edges = not is_number(bins) and len(bins) > 2
    bins = [bins, bins] if are_edges else bins
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, *edges


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Array, list[Array]]:
    """(counts, or sums of weights, or densities; edges along each axis)."""
    if not is_native(sample) or len(na.shape(sample)) != 2:  # the coordinates along each axis
        sample = na.matrix_transpose(na.atleast_2d(as_array(sample)))
    bins = _grid(bins, sample)
    if range is None and 0 in na.shape(sample):
        range = [(0.0, 1.0)] * len(bins)
    counts, edges = _histogramdd(sample, bins, range, None, weights)
    found = edges if range is None else [cast(x, np.float64) for x in edges]
    edges = [given if is_native(given) else x for given, x in zip(bins, found, strict=True)]
    for given, found in zip(bins, edges, strict=True):
        if not is_native(given):
            check_range("histogramdd", found)
    return _densities(counts, edges, density), edges


def _grid(bins: Any, sample: Array) -> list[Any]:
    """The number of bins, or their edges, along each axis."""
    rank = na.shape(sample)[-1]
    several = [int(n) for n in na.unstack(bins)] if is_native(bins) else bins
    several = list(several) if isinstance(several, (list, tuple)) else [several] * rank
    if len(several) != rank:
        raise ArgumentError(f"histogramdd: bins: got {len(several)}, expected {rank}")
    for along_axis in several:
        check_bins("histogramdd", along_axis)
    return [_as_edges(along_axis, sample) for along_axis in several]


def _densities(counts: Array, edges: Any, density: bool | None) -> Array:
    """Counts as float64; divided by their sum and by the volumes of the bins for densities."""
    counts = cast(counts, np.float64)
    if not density:
        return counts
    found = na.divide(counts, na.sum(counts))
    for axis, x in enumerate(edges):
        sizes = [-1 if i == axis else 1 for i in builtins.range(len(edges))]
        found = na.divide(found, na.reshape(na.diff(cast(x, np.float64)), sizes))
    return found
