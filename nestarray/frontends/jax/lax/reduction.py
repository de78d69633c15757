"""Reductions, cumulative functions, and order.

Upstream, one page a function: https://docs.jax.dev/en/latest/_autosummary/jax.lax.cumsum.html
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.jax.lax import elementwise, windows
from nestarray.typing import Array

__all__ = [
    "approx_max_k", "approx_min_k", "approx_top_k", "argmax", "argmin", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum", "reduce_and",
    "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum", "reduce_xor", "sort", "sort_key_val",
    "top_k",
]  # fmt: skip


def reduce_sum(operand: Array, axes: Sequence[int]) -> Array:
    """The sum along axes, in the dtype of `operand`."""
    return na.sum(operand, axis=tuple(axes), dtype=dtypes.dtype_of(operand))


def reduce_prod(operand: Array, axes: Sequence[int]) -> Array:
    """The product along axes, in the dtype of `operand`."""
    return na.prod(operand, axis=tuple(axes), dtype=dtypes.dtype_of(operand))


def reduce_max(operand: Array, axes: Sequence[int]) -> Array:
    """The maximum along axes; of complex numbers by the real, then by the imaginary part."""
    if dtypes.dtype_of(operand).kind == "complex":
        return windows.reduce(operand, complex(-math.inf, -math.inf), elementwise.max, axes)
    return na.max(operand, axis=tuple(axes))


def reduce_min(operand: Array, axes: Sequence[int]) -> Array:
    """The minimum along axes; of complex numbers by the real, then by the imaginary part."""
    if dtypes.dtype_of(operand).kind == "complex":
        return windows.reduce(operand, complex(math.inf, math.inf), elementwise.min, axes)
    return na.min(operand, axis=tuple(axes))


def reduce_and(operand: Array, axes: Sequence[int]) -> Array:
    """Whether all are true, along axes."""
    return na.all(operand, axis=tuple(axes))


def reduce_or(operand: Array, axes: Sequence[int]) -> Array:
    """Whether any is true, along axes."""
    return na.any(operand, axis=tuple(axes))


def reduce_xor(operand: Array, axes: Sequence[int]) -> Array:
    """Whether an odd number is true, along axes."""
    return na.equal(na.remainder(na.sum(na.astype(operand, dtypes.int32), axis=tuple(axes)), 2), 1)


def argmax(operand: Array, axis: int, index_dtype: Any) -> Array:
    """The position of the first maximum; of the first NaN, if there is one."""
    return na.astype(na.argmax(operand, axis=axis), index_dtype)


def argmin(operand: Array, axis: int, index_dtype: Any) -> Array:
    """The position of the first minimum; of the first NaN, if there is one."""
    return na.astype(na.argmin(operand, axis=axis), index_dtype)


def cumsum(operand: Array, axis: int = 0, reverse: bool = False) -> Array:
    """Cumulative sums along an axis."""
    dtype = dtypes.dtype_of(operand)
    return _in_order(lambda x: na.cumulative_sum(x, axis=axis, dtype=dtype), operand, axis, reverse)


def cumprod(operand: Array, axis: int = 0, reverse: bool = False) -> Array:
    """Cumulative products along an axis."""
    dtype = dtypes.dtype_of(operand)
    product = lambda x: na.cumulative_prod(x, axis=axis, dtype=dtype)  # noqa: E731
    return _in_order(product, operand, axis, reverse)


def cummax(operand: Array, axis: int = 0, reverse: bool = False) -> Array:
    """Cumulative maxima along an axis."""
    if dtypes.dtype_of(operand).kind == "complex":
        return na.associative_scan(elementwise.max, operand, axis=axis, reverse=reverse)
    return _in_order(lambda x: na.cummax(x, axis=axis), operand, axis, reverse)


def cummin(operand: Array, axis: int = 0, reverse: bool = False) -> Array:
    """Cumulative minima along an axis."""
    if dtypes.dtype_of(operand).kind == "complex":
        return na.associative_scan(elementwise.min, operand, axis=axis, reverse=reverse)
    return _in_order(lambda x: na.cummin(x, axis=axis), operand, axis, reverse)


def cumlogsumexp(operand: Array, axis: int = 0, reverse: bool = False) -> Array:
    """Logarithms of cumulative sums of exponentials along an axis."""
    return _in_order(lambda x: na.cumulative_logsumexp(x, axis=axis), operand, axis, reverse)


def _in_order(
    function: Callable[[Array], Array], operand: Array, axis: int, reverse: bool
) -> Array:
    if not reverse:
        return function(operand)
    return na.flip(function(na.flip(operand, axis=axis)), axis=axis)


def sort(
    operand: Array | Sequence[Array],
    dimension: int = -1,
    is_stable: bool = True,
    num_keys: int = 1,
) -> Array | tuple[Array, ...]:
    """Sorted along an axis; of several arrays all, by the first `num_keys` of them."""
    if not isinstance(operand, (list, tuple)):
        return sort((operand,), dimension, is_stable)[0]
    operands = tuple(operand)
    is_complex = dtypes.dtype_of(operands[0]).kind == "complex"
    if len(operands) == 1 and not is_complex:
        return (na.sort(operands[0], axis=dimension, stable=is_stable),)
    keys: list[Array] = []  # of complex numbers the real, then the imaginary parts
    for x in operands[:num_keys]:
        keys += [na.real(x), na.imag(x)] if dtypes.dtype_of(x).kind == "complex" else [x]
    for i in range(len(keys) - 1, -1, -1):  # the least significant key first
        order = na.argsort(keys[i], axis=dimension, stable=True)
        keys = [na.take_along_axis(x, order, axis=dimension) for x in keys]
        operands = tuple([na.take_along_axis(x, order, axis=dimension) for x in operands])
    return operands


def sort_key_val(
    keys: Array, values: Array, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """`keys` sorted along an axis, and `values` in the same order."""
    first, second = sort((keys, values), dimension, is_stable)
    return first, second


def top_k(operand: Array, k: int, *, axis: int = -1, is_stable: bool = True) -> tuple[Array, Array]:
    """(values, int32 positions) of the k largest, in descending order; always stable."""
    values, places = na.top_k(operand, k, axis=axis)
    return values, na.astype(places, dtypes.int32)


def approx_max_k(
    operand: Array,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """`top_k`: the approximation is exact, as upstream's on a CPU."""
    return top_k(operand, k, axis=reduction_dimension)


def approx_min_k(
    operand: Array,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """(values, int32 positions) of the k smallest, in ascending order."""
    order = na.argsort(operand, axis=reduction_dimension, stable=True)
    axis = reduction_dimension % len(na.shape(operand))
    first = na.getitem(order, (*[slice(None)] * axis, slice(k)))
    return na.take_along_axis(operand, first, axis=axis), na.astype(first, dtypes.int32)


def approx_top_k(
    operand: Array, k: int, reduction_dimension: int = -1, is_max_k: bool = True
) -> tuple[Array, Array]:
    """`approx_max_k` or `approx_min_k`."""
    function = approx_max_k if is_max_k else approx_min_k
    return function(operand, k, reduction_dimension)
