"""Rounding to a few levels, for training of quantized models.

Upstream: https://www.tensorflow.org/api_docs/python/tf/quantization
"""

from __future__ import annotations

from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.frontends.tensorflow.conversion import floating, tensor, tensors
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array

__all__ = [
    "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient", "quantize_and_dequantize",
    "quantize_and_dequantize_v2",
]  # fmt: skip


class Gradients(NamedTuple):
    """The derivatives by the inputs and by the limits."""

    backprops_wrt_input: Any
    backprop_wrt_min: Any
    backprop_wrt_max: Any


def fake_quant_with_min_max_args(
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Array:
    """`inputs` at the nearest of 2ⁿ levels between two numbers."""
    x = floating("fake_quant_with_min_max_args", inputs)
    low, high = _limits(x, min, max)
    return _fake_quant(x, low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Array:
    """`inputs` at the nearest of 2ⁿ levels between two numbers, with derivatives by these."""
    x, low, high = tensors("fake_quant_with_min_max_vars", inputs, min, max)
    return _fake_quant(x, low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Array:
    """`fake_quant_with_min_max_vars` with limits for each channel, the last axis."""
    x, low, high = tensors("fake_quant_with_min_max_vars_per_channel", inputs, min, max)
    return _fake_quant(x, low, high, num_bits, narrow_range)


def _limits(x: Array, low: float, high: float) -> tuple[Array, Array]:
    dtype = dtypes.dtype_of(x)
    return na.full((), low, dtype=dtype, like=x), na.full((), high, dtype=dtype, like=x)


def _fake_quant(x: Array, low: Array, high: Array, bits: int, narrow_range: bool) -> Array:
    """Levels between limits that are moved so that 0 is a level.

    The derivative is 1 by a number within the limits, else by the limit that replaces it.
    """
    lowest, scale, is_empty = _levels(low, high, bits, narrow_range)
    count = 2**bits - 2 if narrow_range else 2**bits - 1
    highest = na.add(lowest, na.multiply(scale, count))
    inner = na.clip(na.stop_gradient(x), lowest, highest)
    steps = na.floor(na.add(na.divide(na.subtract(inner, lowest), scale), 0.5))
    found = na.add(na.multiply(steps, scale), lowest)
    found = na.where(is_empty, na.zeros_like(found), found)
    return with_derivative_of(_replaced(x, low, high, lowest, highest, is_empty), found)


def _replaced(
    x: Array, low: Array, high: Array, lowest: Array, highest: Array, is_empty: Array
) -> Array:
    """Numbers within the limits, else the limits."""
    fixed = na.stop_gradient(x)
    is_low = na.logical_and(na.less(fixed, lowest), na.logical_not(is_empty))
    is_high = na.logical_and(na.greater(fixed, highest), na.logical_not(is_empty))
    return na.where(is_low, low, na.where(is_high, high, x))


def _levels(low: Array, high: Array, bits: int, narrow_range: bool) -> tuple[Array, Array, Array]:
    """The lowest level, the distance of levels, and whether the limits are both 0."""
    low, high = na.stop_gradient(low), na.stop_gradient(high)
    first, last = (1 if narrow_range else 0), 2**bits - 1
    is_empty = na.logical_and(na.equal(low, 0), na.equal(high, 0))
    span = na.where(is_empty, na.ones_like(low), na.subtract(high, low))
    scale = na.divide(span, last - first)
    zero = na.subtract(float(first), na.divide(low, scale))
    zero = na.clip(na.floor(na.add(zero, 0.5)), float(first), float(last))
    return na.multiply(na.subtract(float(first), zero), scale), scale, is_empty


def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Array:
    """The derivative by the inputs of `fake_quant_with_min_max_args`."""
    g, x = tensors("fake_quant_with_min_max_args_gradient", gradients, inputs)
    low, high = _limits(x, min, max)
    return _pulled(g, x, low, high, num_bits, narrow_range)[0]


def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Gradients:
    """The derivatives of `fake_quant_with_min_max_vars`."""
    name = "fake_quant_with_min_max_vars_gradient"
    g, x, low, high = tensors(name, gradients, inputs, min, max)
    return _pulled(g, x, low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Gradients:
    """The derivatives of `fake_quant_with_min_max_vars_per_channel`."""
    name = "fake_quant_with_min_max_vars_per_channel_gradient"
    g, x, low, high = tensors(name, gradients, inputs, min, max)
    return _pulled(g, x, low, high, num_bits, narrow_range)


def _pulled(
    g: Array, x: Array, low: Array, high: Array, bits: int, narrow_range: bool
) -> Gradients:
    g = na.stop_gradient(g)  # upstream's kernels have no derivative
    lowest, scale, is_empty = _levels(low, high, bits, narrow_range)
    highest = na.add(lowest, na.multiply(scale, 2**bits - (2 if narrow_range else 1)))
    nothing = na.zeros_like(g)
    axes = tuple(range(len(na.shape(g)) - len(na.shape(low))))
    is_filled = na.logical_not(is_empty)
    is_low = na.logical_and(na.less(x, lowest), is_filled)
    is_high = na.logical_and(na.greater(x, highest), is_filled)
    by_input = na.where(na.logical_or(is_low, is_high), nothing, g)
    by_low, by_high = [na.sum(na.where(m, g, nothing), axis=axes) for m in (is_low, is_high)]
    return Gradients(by_input, by_low, by_high)


def quantize_and_dequantize_v2(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Array:
    """`input` at the nearest of 2ⁿ levels; 0 is one, and the larger limit is the last.

    Args:
        input: floating.
        input_min, input_max: the limits, one for all or for each slice along `axis`.
        signed_input: whether there are levels below 0.
        num_bits: n.
        range_given: False: the limits are the smallest and the largest element.
        round_mode: ``"HALF_TO_EVEN"`` or ``"HALF_UP"``.
        name: without effect.
        narrow_range: omit the lowest level.
        axis: the axis with limits of its own.
    """
    if round_mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise ArgumentError(
            f"quantize_and_dequantize: round_mode: got {round_mode!r}, expected 'HALF_TO_EVEN' or "
            "'HALF_UP'"
        )
    x = floating("quantize_and_dequantize_v2", input)
    shape = [1] * len(na.shape(x))
    if axis is not None:
        shape[axis] = -1
    low, high = [
        na.reshape(tensor(v, dtypes.dtype_of(x), x), shape) for v in (input_min, input_max)
    ]
    found = _rounded(x, low, high, signed_input, num_bits, range_given, round_mode, narrow_range)
    # upstream: by the given limits, also where `range_given` is False, and 0 by the limits
    inside = na.logical_and(na.greater_equal(x, low), na.less_equal(x, high))
    return with_derivative_of(na.where(inside, x, na.stop_gradient(x)), found)


def _rounded(
    x: Array,
    low: Array,
    high: Array,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    narrow_range: bool,
) -> Array:
    """Numbers at their nearest levels, of no derivative."""
    if round_mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise ArgumentError(
            f"quantize_and_dequantize: round_mode: got {round_mode!r}, expected 'HALF_TO_EVEN' or "
            "'HALF_UP'"
        )
    x, low, high = na.stop_gradient(x), na.stop_gradient(low), na.stop_gradient(high)
    if not range_given:
        axes = tuple([i for i, size in enumerate(na.shape(low)) if size == 1])
        low, high = [f(x, axis=axes, keepdims=True) for f in (na.min, na.max)]
    first = -(2 ** (num_bits - 1)) + int(narrow_range) if signed_input else 0
    last = 2 ** (num_bits - 1) - 1 if signed_input else 2**num_bits - 1
    step = na.divide(high, float(last))
    if first:
        step = na.maximum(step, na.divide(low, float(first)))
    is_flat = na.less_equal(step, 0)
    scale = na.divide(1.0, na.where(is_flat, na.ones_like(step), step))
    if range_given:
        x = na.clip(x, na.multiply(step, float(first)), na.multiply(step, float(last)))
    x = na.multiply(x, scale)
    x = na.round(x) if round_mode == "HALF_TO_EVEN" else na.floor(na.add(x, 0.5))
    found = na.multiply(x, step)
    return na.where(is_flat, na.zeros_like(found), found)


def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Array:
    """`quantize_and_dequantize_v2` with the derivative 1 by all numbers."""
    x = floating("quantize_and_dequantize", input)
    settings = (signed_input, num_bits, range_given, round_mode, name, narrow_range, axis)
    found = quantize_and_dequantize_v2(na.stop_gradient(x), input_min, input_max, *settings)
    return with_derivative_of(x, found)


_public_namespace(__name__)
