"""Reductions along axes, and cumulative ones.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Sum
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow import math
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "All", "Any", "ArgMax", "ArgMin", "Cumprod", "Cumsum", "CumulativeLogsumexp", "EuclideanNorm",
    "L2Loss", "Max", "Mean", "Min", "Prod", "Sum",
]  # fmt: skip


def Sum(input: Array, axis: Ints, keep_dims: bool = False) -> Array:
    """The sum."""
    return math.reduce_sum(input, axis, keep_dims)


def Mean(input: Array, axis: Ints, keep_dims: bool = False) -> Array:
    """The mean."""
    return math.reduce_mean(input, axis, keep_dims)


def Prod(input: Array, axis: Ints, keep_dims: bool = False) -> Array:
    """The product."""
    return math.reduce_prod(input, axis, keep_dims)


def Max(input: Array, axis: Ints, keep_dims: bool = False) -> Array:
    """The maximum; equal maxima share the derivative."""
    return math.reduce_max(input, axis, keep_dims)


def Min(input: Array, axis: Ints, keep_dims: bool = False) -> Array:
    """The minimum; equal minima share the derivative."""
    return math.reduce_min(input, axis, keep_dims)


def All(input: Array, axis: Ints, keep_dims: bool = False) -> Array:
    """Whether all elements are true."""
    return math.reduce_all(input, axis, keep_dims)


def Any(input: Array, axis: Ints, keep_dims: bool = False) -> Array:
    """Whether any element is true."""
    return math.reduce_any(input, axis, keep_dims)


def EuclideanNorm(input: Array, axis: Ints, keep_dims: bool = False) -> Array:
    """√Σx²."""
    return math.reduce_euclidean_norm(input, axis, keep_dims)


def ArgMax(input: Array, dimension: int, output_type: DType = dtypes.int64) -> Array:
    """The index of the first maximum."""
    return math.argmax(input, dimension, output_type)


def ArgMin(input: Array, dimension: int, output_type: DType = dtypes.int64) -> Array:
    """The index of the first minimum."""
    return math.argmin(input, dimension, output_type)


def Cumsum(x: Array, axis: int, exclusive: bool = False, reverse: bool = False) -> Array:
    """The sums of the elements up to each place."""
    return math.cumsum(x, axis, exclusive, reverse)


def Cumprod(x: Array, axis: int, exclusive: bool = False, reverse: bool = False) -> Array:
    """The products of the elements up to each place."""
    return math.cumprod(x, axis, exclusive, reverse)


def CumulativeLogsumexp(
    x: Array, axis: int, exclusive: bool = False, reverse: bool = False
) -> Array:
    """The logarithms of the sums of exponentials up to each place."""
    return math.cumulative_logsumexp(x, axis, exclusive, reverse)


def L2Loss(t: Array) -> Array:
    """Σx² / 2."""
    return na.multiply(na.sum(na.square(t)), 0.5)
