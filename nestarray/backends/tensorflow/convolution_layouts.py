"""TensorFlow: `nestarray.ops.convolution_layouts`, channels last, as its kernels require.

https://www.tensorflow.org/api_docs/python/tf/nn/convolution
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nestarray.backends.base import supports
from nestarray.backends.tensorflow.convolution import _convolved, _spread, _spread_out
from nestarray.backends.tensorflow.manipulation import shape
from nestarray.numerics import windows


def _is_native(
    x: Any,
    *_: Any,
    data_format: str = "channels_first",
    weight_format: str = "channels_first",
    **__: Any,
) -> bool:
    is_last = data_format == weight_format == "channels_last"
    return is_last and x.dtype.is_floating and 3 <= len(x.shape) <= 5


def _channels_first(
    x_shape: Sequence[Any], weight: Any
) -> tuple[int, tuple[Any, ...], tuple[Any, ...]]:
    """The number of spatial axes, and both shapes in the order of `windows`."""
    batch, *sizes, channels = x_shape
    of_x = (batch, channels, *sizes)
    return len(sizes), of_x, (weight.shape[-1], weight.shape[-2], *weight.shape[:-2])


@supports(_is_native)
def conv(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "channels_first",
    weight_format: str = "channels_first",
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/convolution"""
    at = windows.convolution(
        "conv",
        *_channels_first(shape(x), weight),
        bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )
    return _convolved(x, _spread(weight, at.dilation), bias, at, groups)


def _is_native_transpose(
    x: Any,
    *_: Any,
    padding: Any = 0,
    groups: int = 1,
    data_format: str = "channels_first",
    weight_format: str = "channels_first",
    **__: Any,
) -> bool:
    formats = {"data_format": data_format, "weight_format": weight_format}
    return groups == 1 and padding != "same" and _is_native(x, **formats)


@supports(_is_native_transpose)
def conv_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "channels_first",
    weight_format: str = "channels_first",
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/conv_transpose"""
    at = windows.transposed_convolution(
        "conv_transpose",
        *_channels_first(x.shape, weight),
        bias,
        stride=stride,
        padding=padding,
        output_padding=output_padding,
        dilation=dilation,
        groups=groups,
    )
    return _spread_out(x, _spread(weight, at.windows.dilation), bias, at)
