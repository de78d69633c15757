"""Counts and histograms, whose dtypes NumPy chooses in its own way.

Upstream: https://numpy.org/doc/stable/reference/routines.statistics.html
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.frontends.numpy.arrays import (
    as_array,
    cast,
    first_array,
    is_native,
    known_values,
    numpy_dtype,
)
from nestarray.typing import Array

__all__ = [
    "average",
    "bincount",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "interp",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]  # fmt: skip


_histogram = adapted("histogram", jnp.histogram, is_inexact=True, kept=["weights"])
_histogram2d = adapted("histogram2d", jnp.histogram2d, is_inexact=True, kept=["weights"])
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


_average = adapted("average", jnp.average)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    """The weighted mean; with the sums of the weights if `returned`."""
    a = as_array(a, first_array((a, weights)))
    a = cast(a, np.float64) if numpy_dtype(a).kind in "biu" else a
    return _average(a, axis, weights, returned, keepdims=keepdims)


_histogram_bin_edges = adapted("histogram_bin_edges", jnp.histogram_bin_edges, is_inexact=True)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """The edges of the bins of a histogram."""
    return _histogram_bin_edges(a, _as_edges(bins, a), range, weights)


def _as_edges(bins: Any, like: Any) -> Any:
    """Edges as an array; a number of bins unchanged."""
    return as_array(bins, first_array([like])) if isinstance(bins, (list, tuple)) else bins


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """The number of occurrences of each integer, or the sums of their weights."""
    x = as_array(x, first_array([weights]))
    values = known_values(x)
    if minlength < 0 or (values is not None and np.any(values < 0)):
        raise ArgumentError("bincount: got a negative number in x or minlength")
    if weights is None:
        return cast(jnp.bincount(x, minlength=minlength), np.int64)
    weights = cast(as_array(weights, x), np.float64)
    if na.shape(weights) != na.shape(x):
        raise ShapeError(f"bincount: weights: expected the shape of x, {tuple(na.shape(x))}")
    return jnp.bincount(x, weights, minlength=minlength)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array]:
    """(counts, or sums of weights, or densities; edges of the bins)."""
    bins = _as_edges(bins, a)
    counts, edges = _histogram(a, bins, range, density, weights)
    edges = bins if is_native(bins) else edges
    if density:
        return cast(counts, np.float64), edges
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
    counts, *edges = _histogram2d(x, y, bins, range, None, weights)
    return (_densities(counts, edges, density), *edges)


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Array, list[Array]]:
    """(counts, or sums of weights, or densities; edges along each axis)."""
    counts, edges = _histogramdd(sample, bins, range, None, weights)
    edges = edges if range is None else [cast(x, np.float64) for x in edges]
    return _densities(counts, edges, density), list(edges)


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
