"""Moments and normalization.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/batch_normalization
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow.conversion import axes_of, floating, tensor
from nestarray.typing import Array

__all__ = [
    "batch_norm_with_global_normalization", "batch_normalization", "local_response_normalization",
    "lrn", "moments", "normalize_moments", "sufficient_statistics", "weighted_moments",
]  # fmt: skip


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Array:
    """scale · (x − mean) / √(variance + epsilon) + offset, of tensors that broadcast."""
    x = floating("batch_normalization", x)
    factor = na.rsqrt(na.add(variance, variance_epsilon))
    if scale is not None:
        factor = na.multiply(factor, scale)
    shift = na.negative(na.multiply(mean, factor))
    if offset is not None:
        shift = na.add(shift, offset)
    dtype = dtypes.dtype_of(x)
    return na.add(na.multiply(x, na.astype(factor, dtype)), na.astype(shift, dtype))


def batch_norm_with_global_normalization(
    input: Any,
    mean: Any,
    variance: Any,
    beta: Any,
    gamma: Any,
    variance_epsilon: Any,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Array:
    """`batch_normalization`, with `gamma` only if `scale_after_normalization`."""
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)


def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Array, Array]:
    """The mean and the variance along axes; `shift` has no effect, as upstream."""
    x = tensor(x)
    dtype = dtypes.dtype_of(x)
    along = axes_of(axes, len(na.shape(x)))
    wide = na.astype(x, dtypes.float32) if dtype is dtypes.float16 else x
    mean = na.mean(wide, axis=along, keepdims=True)
    squares = na.square(na.subtract(wide, na.stop_gradient(mean)))
    variance = na.mean(squares, axis=along, keepdims=keepdims)
    if not keepdims:
        mean = na.squeeze(mean, axis=along)
    return na.astype(mean, dtype), na.astype(variance, dtype)


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Array, Array]:
    """The mean and the variance along axes, of elements that count as often as their weights say."""
    x = floating("weighted_moments", x)
    dtype = dtypes.dtype_of(x)
    weights = na.astype(tensor(frequency_weights, like=x), dtype)
    weights = na.broadcast_to(weights, na.broadcast_shapes(na.shape(x), na.shape(weights)))
    along = axes_of(axes, len(na.shape(x)))
    total = na.sum(weights, axis=along, keepdims=True)
    mean = na.divide(na.sum(na.multiply(weights, x), axis=along, keepdims=True), total)
    squares = na.multiply(weights, na.square(na.subtract(x, mean)))
    variance = na.divide(na.sum(squares, axis=along, keepdims=True), total)
    if keepdims:
        return mean, variance
    return na.squeeze(mean, axis=along), na.squeeze(variance, axis=along)


def sufficient_statistics(
    x: Any, axes: Sequence[int], shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Array, Array, Array, Any]:
    """(count, sum of x − shift, sum of (x − shift)², shift) along axes."""
    x = floating("sufficient_statistics", x)
    along = axes_of(axes, len(na.shape(x)))
    count = math.prod([na.shape(x)[i] for i in along])
    shift = None if shift is None else tensor(shift, dtypes.dtype_of(x), x)
    moved = x if shift is None else na.subtract(x, shift)
    total = na.sum(moved, axis=along, keepdims=keepdims)
    squares = na.sum(na.square(moved), axis=along, keepdims=keepdims)
    return na.full((), count, dtype=dtypes.dtype_of(x), like=x), total, squares, shift


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Array, Array]:
    """The mean and the variance from `sufficient_statistics`."""
    divisor = na.reciprocal(counts)
    moved = na.multiply(mean_ss, divisor)
    mean = moved if shift is None else na.add(moved, shift)
    variance = na.subtract(na.multiply(variance_ss, divisor), na.square(moved))
    return mean, variance


def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Array:
    """x / (bias + alpha · Σ x²)^beta, with the sum over the channels within `depth_radius`."""
    x = floating("local_response_normalization", input)
    rank = len(na.shape(x))
    total = na.reduce_window(
        na.square(x),
        computation="add",
        window=(1,) * (rank - 1) + (2 * depth_radius + 1,),
        padding=[(0, 0)] * (rank - 1) + [(depth_radius, depth_radius)],
    )
    return na.divide(x, na.pow(na.add(na.multiply(total, alpha), bias), beta))


lrn = local_response_normalization
