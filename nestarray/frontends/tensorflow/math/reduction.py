"""Reductions along axes, and cumulative ones.

Upstream: https://www.tensorflow.org/api_docs/python/tf/math/reduce_sum
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.jax.numpy.reduction import limit
from nestarray.frontends.tensorflow.conversion import (
    axes_of,
    floating,
    inexact,
    integers,
    normal_axis,
    of_kind,
    tensor,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "cumulative_logsumexp",
    "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_logsumexp", "reduce_max",
    "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance",
    "zero_fraction",
]  # fmt: skip


def _axes(x: Array, axis: Any) -> tuple[int, ...]:
    return axes_of(axis, len(na.shape(x)))


def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """The sum, in the dtype of the tensor."""
    x = of_kind("reduce_sum", input_tensor, "int", "uint", "float", "complex")
    return na.sum(x, axis=_axes(x, axis), dtype=dtypes.dtype_of(x), keepdims=keepdims)


def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """The product, in the dtype of the tensor."""
    x = of_kind("reduce_prod", input_tensor, "int", "uint", "float", "complex")
    return na.prod(x, axis=_axes(x, axis), dtype=dtypes.dtype_of(x), keepdims=keepdims)


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """The mean; of integers, rounded towards zero."""
    x = of_kind("reduce_mean", input_tensor, "int", "uint", "float", "complex")
    axes = _axes(x, axis)
    dtype = dtypes.dtype_of(x)
    if not dtype.is_integer:
        return na.mean(x, axis=axes, keepdims=keepdims)
    total = na.sum(x, axis=axes, dtype=dtype, keepdims=keepdims)
    count = math.prod([na.shape(x)[i] for i in axes])
    return na.floor_divide(na.subtract(total, na.fmod(total, count)), count)


def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """The maximum; equal maxima share the derivative."""
    x = of_kind("reduce_max", input_tensor, "int", "uint", "float")
    return na.max(_at_least_one(x, axis, -1), axis=_axes(x, axis), keepdims=keepdims)


def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """The minimum; equal minima share the derivative."""
    x = of_kind("reduce_min", input_tensor, "int", "uint", "float")
    return na.min(_at_least_one(x, axis, 1), axis=_axes(x, axis), keepdims=keepdims)


def _at_least_one(x: Array, axis: Any, sign: int) -> Array:
    """A tensor; where no elements are reduced, one of the limits of the dtype instead."""
    axes, sizes = _axes(x, axis), na.shape(x)
    if all(sizes[i] for i in axes):
        return x
    sizes = [1 if i in axes else n for i, n in enumerate(sizes)]
    dtype = dtypes.dtype_of(x)
    return na.full(sizes, limit(dtype, sign), dtype=dtype, like=x)


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """Whether all elements are true."""
    x = of_kind("reduce_all", input_tensor, "bool")
    return na.all(x, axis=_axes(x, axis), keepdims=keepdims)


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """Whether an element is true."""
    x = of_kind("reduce_any", input_tensor, "bool")
    return na.any(x, axis=_axes(x, axis), keepdims=keepdims)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """The mean of the squared distances from the mean."""
    x = inexact("reduce_variance", input_tensor)
    axes = _axes(x, axis)
    distance = na.subtract(x, na.mean(x, axis=axes, keepdims=True))
    if dtypes.dtype_of(x).kind == "complex":
        distance = na.abs(distance)
    return na.mean(na.square(distance), axis=axes, keepdims=keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """The square root of `reduce_variance`."""
    return na.sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """The square root of the sum of squares."""
    x = inexact("reduce_euclidean_norm", input_tensor)
    return na.sqrt(na.sum(na.square(x), axis=_axes(x, axis), keepdims=keepdims))


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Array:
    """log Σ eˣ."""
    x = floating("reduce_logsumexp", input_tensor)
    return na.logsumexp(x, axis=_axes(x, axis), keepdims=keepdims)


def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Array:
    """The number of elements other than zero."""
    x = tensor(input)
    is_there = x if dtypes.dtype_of(x) is dtypes.bool else na.not_equal(x, 0)
    return na.sum(
        na.astype(is_there, dtype), axis=_axes(x, axis), dtype=dtype, keepdims=bool(keepdims)
    )


def zero_fraction(value: Any, name: str | None = None) -> Array:
    """The fraction of zeros, in float32."""
    return na.mean(na.astype(na.equal(tensor(value), 0), dtypes.float32))


def argmax(
    input: Any, axis: Any = None, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Array:
    """The index of the first maximum along an axis, by default the first axis."""
    return na.astype(na.argmax(tensor(input), axis=integers(axis) or 0), output_type)


def argmin(
    input: Any, axis: Any = None, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Array:
    """The index of the first minimum along an axis, by default the first axis."""
    return na.astype(na.argmin(tensor(input), axis=integers(axis) or 0), output_type)


# -- cumulative ------------------------------------------------------------------------------


def _cumulative(
    op: Any, start: float, x: Array, axis: Any, exclusive: bool, reverse: bool
) -> Array:
    """Cumulative combinations; `exclusive` ones leave out the element, and begin with `start`."""
    axis = normal_axis(integers(axis), len(na.shape(x)))
    if reverse:
        x = na.flip(x, axis=axis)
    found = op(x, axis)
    if exclusive:
        first = na.full_like(na.take(found, na.arange(1, dtype="int32", like=x), axis=axis), start)
        index = (slice(None),) * axis + (slice(None, na.shape(x)[axis] - 1),)
        found = na.concat([first, na.getitem(found, index)], axis=axis)
    return na.flip(found, axis=axis) if reverse else found


def cumsum(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Array:
    """Cumulative sums along an axis, in the dtype of the tensor."""
    x = of_kind("cumsum", x, "int", "uint", "float", "complex")

    def op(x: Array, axis: int) -> Array:
        return na.cumulative_sum(x, axis=axis, dtype=dtypes.dtype_of(x))

    return _cumulative(op, 0, x, axis, exclusive, reverse)


def cumprod(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Array:
    """Cumulative products along an axis, in the dtype of the tensor; zeros have the derivative 0.

    Example:
        >>> import torch
        >>> from nestarray.frontends import tensorflow as tf
        >>> tf.math.cumprod(torch.tensor([1.0, 2.0, 3.0]), exclusive=True)
        tensor([1., 1., 2.])
    """
    x = of_kind("cumprod", x, "int", "uint", "float", "complex")
    if dtypes.dtype_of(x).is_inexact:
        x = na.where(na.equal(x, 0), na.zeros_like(x), x)

    def op(x: Array, axis: int) -> Array:
        return na.cumulative_prod(x, axis=axis, dtype=dtypes.dtype_of(x))

    return _cumulative(op, 1, x, axis, exclusive, reverse)


def cumulative_logsumexp(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Array:
    """log of the cumulative sums of eˣ; −∞ of an empty sum."""
    x = floating("cumulative_logsumexp", x)

    def op(x: Array, axis: int) -> Array:
        return na.cumulative_logsumexp(x, axis=axis)

    return _cumulative(op, -math.inf, x, axis, exclusive, reverse)
