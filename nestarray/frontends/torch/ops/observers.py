"""The observer of quantization-aware training: it tracks a range of values and quantizes by it.

Upstream: https://docs.pytorch.org/docs/stable/generated/torch.ao.quantization.fake_quantize.FusedMovingAvgObsFakeQuantize.html
"""

from __future__ import annotations

from typing import NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.dims import ndim_of, shape_of, wrap
from nestarray.frontends.torch.promotion import cast
from nestarray.frontends.torch.quantization import (
    fake_quantize_per_channel_affine,
    fake_quantize_per_tensor_affine,
)
from nestarray.typing import Array

__all__ = ["_fused_moving_avg_obs_fq_helper_functional"]


class Observed(NamedTuple):
    """Results of ATen's observer that quantizes."""

    output: Array
    mask: Array
    running_min: Array
    running_max: Array
    scale: Array
    zero_point: Array


def _fused_moving_avg_obs_fq_helper_functional(
    input: Array,
    observer_on: Array,
    fake_quant_on: Array,
    running_min: Array,
    running_max: Array,
    scale: Array,
    zero_point: Array,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> Observed:
    """Quantize by moving averages of minima and maxima, updated if `observer_on`."""
    x = na.stop_gradient(input)
    others = None
    if per_row_fake_quant:
        kept = wrap("fused_moving_avg_obs_fake_quant", ch_axis, ndim_of(x))
        others = tuple(axis for axis in range(ndim_of(x)) if axis != kept)
    is_on = na.reshape(na.greater(observer_on, 0), ())

    def averaged(average: Array, now: Array) -> Array:
        now = na.broadcast_to(now, shape_of(average))
        moved = na.add(average, na.multiply(na.subtract(now, average), averaging_const))
        return na.where(is_on, na.where(na.isinf(average), now, moved), average)

    least = averaged(running_min, na.min(x, axis=others))
    most = averaged(running_max, na.max(x, axis=others))
    chosen = _scale_and_zero(least, most, quant_min, quant_max, symmetric_quant)
    scale = na.where(
        is_on, na.reshape(cast(chosen[0], dtypes.dtype_of(scale)), shape_of(scale)), scale
    )
    zero = na.reshape(cast(chosen[1], dtypes.dtype_of(zero_point)), shape_of(zero_point))
    zero_point = na.where(is_on, zero, zero_point)
    if per_row_fake_quant:
        found = fake_quantize_per_channel_affine(
            input, scale, zero_point, ch_axis, quant_min, quant_max
        )
    else:
        found = fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max)
    output = na.where(na.reshape(na.greater(fake_quant_on, 0), ()), found, input)
    return Observed(output, na.ones_like(x, dtype=dtypes.bool), least, most, scale, zero_point)


def _scale_and_zero(
    least: Array, most: Array, quant_min: int, quant_max: int, symmetric: bool
) -> tuple[Array, Array]:
    """Return scale and zero point such that the quantized range contains zero and all observed values."""
    has_both = na.logical_and(na.less(least, 0), na.greater(most, 0))
    if symmetric:
        half = (quant_max - quant_min) // 2
        bound = na.maximum(na.divide(na.negative(least), half + 1), na.divide(most, half))
        least = na.where(has_both, na.multiply(bound, -(half + 1)), least)
        most = na.where(has_both, na.multiply(bound, half), most)
    least, most = na.minimum(least, 0), na.maximum(most, 0)
    scale = na.divide(na.subtract(most, least), quant_max - quant_min)
    scale = na.where(na.equal(scale, 0), 0.1, scale)
    is_small = na.less(scale, _SMALLEST_SCALE)
    wider = na.where(is_small, na.divide(_SMALLEST_SCALE, scale), 1.0)
    least, most, scale = (na.multiply(x, wider) for x in (least, most, scale))
    low, high = na.divide(least, scale), na.divide(most, scale)
    from_low = na.subtract(quant_min, low)
    from_high = na.subtract(quant_max, high)
    is_low_better = na.less(
        na.subtract(abs(quant_min), na.abs(low)), na.subtract(abs(quant_max), na.abs(high))
    )
    zero = na.where(is_low_better, from_low, from_high)
    if symmetric:
        zero = na.where(has_both, (quant_min + quant_max) / 2, zero)
    return scale, na.clip(na.round(zero), min=quant_min, max=quant_max)


#: Upstream's smallest scale; a smaller range is widened.
_SMALLEST_SCALE = 6.1e-5
