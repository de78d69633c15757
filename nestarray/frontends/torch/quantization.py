"""Fake quantization: floating-point numbers rounded to the values of quantized integers.

Upstream: https://docs.pytorch.org/docs/stable/generated/torch.fake_quantize_per_tensor_affine.html
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import ndim_of, wrap
from nestarray.frontends.torch.promotion import cast
from nestarray.typing import Array

__all__ = ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]


def fake_quantize_per_tensor_affine(
    input: Array,
    scale: float | Array,
    zero_point: int | Array,
    quant_min: int,
    quant_max: int,
    fake_quant_enabled: Array | None = None,
) -> Array:
    """(clip(round(x / scale) + zero_point) − zero_point) · scale; gradients pass where not clipped.

    `fake_quant_enabled` belongs to the operation that observers call: 0 returns the input.
    """
    _expect_range("fake_quantize_per_tensor_affine", quant_min, quant_max)
    dtype = dtypes.dtype_of(input)
    found = _quantized(
        input,
        cast(na.asarray(scale, like=input), dtype),
        cast(na.asarray(zero_point, like=input), dtype),
        quant_min,
        quant_max,
    )
    if fake_quant_enabled is None:
        return found
    return na.where(na.reshape(na.greater_equal(fake_quant_enabled, 1), ()), found, input)


def fake_quantize_per_channel_affine(
    input: Array, scale: Array, zero_point: Array, axis: int, quant_min: int, quant_max: int
) -> Array:
    """`fake_quantize_per_tensor_affine` with a scale and a zero point for each index of an axis."""
    _expect_range("fake_quantize_per_channel_affine", quant_min, quant_max)
    rank = ndim_of(input)
    axis = wrap("fake_quantize_per_channel_affine", axis, rank)
    shape = (1,) * axis + (-1,) + (1,) * (rank - 1 - axis)
    dtype = dtypes.dtype_of(input)
    scale, zero_point = (na.reshape(cast(x, dtype), shape) for x in (scale, zero_point))
    return _quantized(input, scale, zero_point, quant_min, quant_max)


def _quantized(x: Array, scale: Array, zero_point: Array, least: int, most: int) -> Array:
    # upstream multiplies by the reciprocal
    levels = na.add(na.round(na.multiply(na.stop_gradient(x), na.reciprocal(scale))), zero_point)
    is_inside = na.logical_and(na.greater_equal(levels, least), na.less_equal(levels, most))
    kept = na.clip(levels, min=least, max=most)
    value = na.stop_gradient(na.multiply(na.subtract(kept, zero_point), scale))
    passed = na.where(is_inside, x, na.stop_gradient(x))
    return na.add(value, na.subtract(passed, na.stop_gradient(passed)))


def _expect_range(name: str, least: int, most: int) -> None:
    if least > most:
        raise ArgumentError(
            f"{name}: quant_min, quant_max: got {least} and {most}, expected quant_min <= quant_max"
        )
