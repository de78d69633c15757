"""Rounding to a few levels.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/QuantizeAndDequantizeV4
"""

from __future__ import annotations

import nestarray as na
from nestarray.frontends.tensorflow import quantization
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.typing import Array

__all__ = [
    "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxVarsGradient", "FakeQuantWithMinMaxVarsPerChannel",
    "FakeQuantWithMinMaxVarsPerChannelGradient", "QuantizeAndDequantizeV2",
    "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4", "QuantizeAndDequantizeV4Grad",
]  # fmt: skip

FakeQuantWithMinMaxArgs = quantization.fake_quant_with_min_max_args
FakeQuantWithMinMaxArgsGradient = quantization.fake_quant_with_min_max_args_gradient
FakeQuantWithMinMaxVars = quantization.fake_quant_with_min_max_vars
FakeQuantWithMinMaxVarsGradient = quantization.fake_quant_with_min_max_vars_gradient
FakeQuantWithMinMaxVarsPerChannel = quantization.fake_quant_with_min_max_vars_per_channel
FakeQuantWithMinMaxVarsPerChannelGradient = (
    quantization.fake_quant_with_min_max_vars_per_channel_gradient
)


def QuantizeAndDequantizeV2(
    input: Array,
    input_min: Array,
    input_max: Array,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    narrow_range: bool = False,
    axis: int = -1,
) -> Array:
    """`input` at the nearest of 2ⁿ levels, with the derivative 1; the axis −1 means none."""
    return quantization.quantize_and_dequantize(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode,
        narrow_range=narrow_range, axis=_axis(axis),
    )  # fmt: skip


def _axis(axis: int) -> int | None:
    return None if axis == -1 else axis


def QuantizeAndDequantizeV3(
    input: Array,
    input_min: Array,
    input_max: Array,
    num_bits: int,
    signed_input: bool = True,
    range_given: bool = True,
    narrow_range: bool = False,
    axis: int = -1,
) -> Array:
    """`QuantizeAndDequantizeV2` with the number of bits as an array."""
    settings = (signed_input, integers(num_bits), range_given, "HALF_TO_EVEN", narrow_range, axis)
    return QuantizeAndDequantizeV2(input, input_min, input_max, *settings)


def QuantizeAndDequantizeV4(
    input: Array,
    input_min: Array,
    input_max: Array,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    narrow_range: bool = False,
    axis: int = -1,
) -> Array:
    """`QuantizeAndDequantizeV2` with the derivative 0 by numbers outside of the limits."""
    return quantization.quantize_and_dequantize_v2(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode,
        narrow_range=narrow_range, axis=_axis(axis),
    )  # fmt: skip


def QuantizeAndDequantizeV4Grad(
    gradients: Array, input: Array, input_min: Array, input_max: Array, axis: int = -1
) -> tuple[Array, Array, Array]:
    """The gradients of `QuantizeAndDequantizeV4` by the input and by the limits."""
    return na.vjp(
        lambda x, low, high: QuantizeAndDequantizeV4(x, low, high, axis=axis),
        input,
        input_min,
        input_max,
    )[1](gradients)
