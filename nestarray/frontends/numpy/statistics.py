"""Counts and histograms, whose dtypes NumPy chooses in its own way.

Upstream: https://numpy.org/doc/stable/reference/routines.statistics.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.frontends.numpy.arrays import (
    as_array,
    cast,
    first_array,
    is_native,
)
from nestarray.typing import Array

__all__ = ["bincount", "histogram", "histogram2d", "histogramdd"]

_histogram = adapted("histogram", jnp.histogram, is_inexact=True)
_histogram2d = adapted("histogram2d", jnp.histogram2d, is_inexact=True)
_histogramdd = adapted("histogramdd", jnp.histogramdd, is_inexact=True)


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """The number of occurrences of each integer, or the sums of their weights."""
    x = as_array(x, first_array([weights]))
    if weights is None:
        return cast(jnp.bincount(x, minlength=minlength), np.int64)
    weights = cast(as_array(weights, x), np.float64)
    return jnp.bincount(x, weights, minlength=minlength)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array]:
    """(counts, or sums of weights, or densities; edges of the bins)."""
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
    counts, *edges = _histogram2d(x, y, bins, range, density, weights)
    return (cast(counts, np.float64), *edges)


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Array, list[Array]]:
    """(counts, or sums of weights, or densities; edges along each axis)."""
    counts, edges = _histogramdd(sample, bins, range, density, weights)
    edges = edges if range is None else [cast(x, np.float64) for x in edges]
    return cast(counts, np.float64), list(edges)
