"""Convolutions and their gradients; channels last by default.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Conv2D
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow import nn
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.frontends.tensorflow.image.resizing import linear_weights, resampled
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "BiasAdd", "BiasAddGrad", "BiasAddV1", "Conv", "Conv2D", "Conv2DBackpropFilter",
    "Conv2DBackpropFilterV2", "Conv2DBackpropInput", "Conv2DBackpropInputV2", "Conv3D",
    "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2", "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput", "Dilation2D",
    "Dilation2DBackpropFilter", "Dilation2DBackpropInput", "FusedPadConv2D",
    "FusedResizeAndPadConv2D",
]  # fmt: skip

#: Layouts with the channels first.
_FIRST = ("NCHW", "NCDHW", "NCW")


def spatial(values: Sequence[int], data_format: str) -> tuple[int, ...]:
    """The values for the spatial axes, of values for all axes."""
    return tuple(values[2:] if data_format in _FIRST else values[1:-1])


def pads(padding: str, explicit_paddings: Sequence[int], data_format: str) -> Any:
    """The padding as an op takes it."""
    if padding != "EXPLICIT":
        return padding.lower()
    pairs = list(zip(explicit_paddings[::2], explicit_paddings[1::2], strict=True))
    return list(spatial(pairs, data_format))  # type: ignore[arg-type]


def layout(data_format: str) -> str:
    """The layout as an op takes it."""
    return "channels_first" if data_format in _FIRST else "channels_last"


def _conv(
    input: Array,
    filter: Array,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int],
    data_format: str,
    dilations: Sequence[int],
) -> Array:
    is_first = data_format in _FIRST
    channels = na.shape(input)[1 if is_first else -1]
    return na.conv(
        input,
        filter,
        stride=spatial(strides, data_format),
        padding=pads(padding, explicit_paddings, data_format),
        dilation=spatial(dilations, data_format),
        groups=channels // na.shape(filter)[-2],
        data_format=layout(data_format),
        weight_format="channels_last",
    )


def Conv2D(
    input: Array,
    filter: Array,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """A convolution over two axes."""
    return _conv(input, filter, strides, padding, explicit_paddings, data_format, dilations)


def Conv3D(
    input: Array,
    filter: Array,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Array:
    """A convolution over three axes."""
    return _conv(input, filter, strides, padding, (), data_format, dilations)


def Conv(
    input: Array,
    filter: Array,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Sequence[int] = (),
    batch_dims: int = 1,
    groups: int = 1,
) -> Array:
    """A convolution over one to three axes."""
    data_format = "NCHW" if data_format == "CHANNELS_FIRST" else "NHWC"
    dilations = dilations or [1] * len(strides)
    return _conv(input, filter, strides, padding, explicit_paddings, data_format, dilations)


def DepthwiseConv2dNative(
    input: Array,
    filter: Array,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """A convolution of each channel with kernels of its own."""
    height, width, channels, multiplier = na.shape(filter)
    return na.conv(
        input,
        na.reshape(filter, (height, width, 1, channels * multiplier)),
        stride=spatial(strides, data_format),
        padding=pads(padding, explicit_paddings, data_format),
        dilation=spatial(dilations, data_format),
        groups=channels,
        data_format=layout(data_format),
        weight_format="channels_last",
    )


def pulled(function: Callable[..., Array], x: Array, cotangent: Array) -> Array:
    """The cotangent of `x` for a cotangent of ``function(x)``."""
    return na.vjp(function, x)[1](cotangent)[0]


def _of_shape(shape: Any, like: Array) -> Array:
    """Zeros, at which a linear function is differentiated."""
    return na.zeros(integers(shape), dtype=dtypes.dtype_of(like), like=like)


def Conv2DBackpropInput(
    input_sizes: Ints,
    filter: Array,
    out_backprop: Array,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """The gradient of `Conv2D` by the input, a transposed convolution."""
    return _transposed(
        input_sizes,
        filter,
        out_backprop,
        strides,
        padding,
        explicit_paddings,
        data_format,
        dilations,
    )


def Conv3DBackpropInputV2(
    input_sizes: Ints,
    filter: Array,
    out_backprop: Array,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Array:
    """The gradient of `Conv3D` by the input, a transposed convolution."""
    return _transposed(
        input_sizes, filter, out_backprop, strides, padding, (), data_format, dilations
    )


def _transposed(
    input_sizes: Any,
    filter: Array,
    out_backprop: Array,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int],
    data_format: str,
    dilations: Sequence[int],
) -> Array:
    sizes = integers(input_sizes)
    if len(sizes) == len(strides) - 2:  # without batch and channels
        sizes = (0, *sizes, 0) if layout(data_format) == "channels_last" else (0, 0, *sizes)
    before = spatial(na.shape(out_backprop), data_format)
    after = spatial(sizes, data_format)
    steps, gaps = spatial(strides, data_format), spatial(dilations, data_format)
    extents = [d * (k - 1) + 1 for d, k in zip(gaps, na.shape(filter)[:-2], strict=True)]
    pairs = pads(padding, explicit_paddings, data_format)
    if isinstance(pairs, str):
        totals = [
            max((m - 1) * s + e - n, 0) if pairs == "same" else 0
            for m, n, s, e in zip(before, after, steps, extents, strict=True)
        ]
        pairs = [(total // 2, total - total // 2) for total in totals]
    missing = [
        n - ((m - 1) * s + e - sum(pair))
        for m, n, s, e, pair in zip(before, after, steps, extents, pairs, strict=True)
    ]
    channels = na.shape(out_backprop)[1 if data_format in _FIRST else -1]
    groups = 1 if 0 in sizes else sizes[1 if data_format in _FIRST else -1] // na.shape(filter)[-2]
    if groups > 1:
        return pulled(
            lambda x: _conv(x, filter, strides, padding, explicit_paddings, data_format, dilations),
            _of_shape(sizes, filter),
            out_backprop,
        )
    assert channels == na.shape(filter)[-1]
    return na.conv_transpose(
        out_backprop,
        filter,
        stride=steps,
        padding=pairs,
        output_padding=missing,
        dilation=gaps,
        data_format=layout(data_format),
        weight_format="channels_last",
    )


def Conv2DBackpropFilter(
    input: Array,
    filter_sizes: Ints,
    out_backprop: Array,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """The gradient of `Conv2D` by the kernels."""
    return pulled(
        lambda w: _conv(input, w, strides, padding, explicit_paddings, data_format, dilations),
        _of_shape(filter_sizes, input),
        out_backprop,
    )


def Conv3DBackpropFilterV2(
    input: Array,
    filter_sizes: Ints,
    out_backprop: Array,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Array:
    """The gradient of `Conv3D` by the kernels."""
    return pulled(
        lambda w: _conv(input, w, strides, padding, (), data_format, dilations),
        _of_shape(filter_sizes, input),
        out_backprop,
    )


def Conv2DBackpropInputV2(
    input: Array,
    filter: Array,
    out_backprop: Array,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """`Conv2DBackpropInput` with an input in place of its sizes."""
    settings = (strides, padding, use_cudnn_on_gpu, explicit_paddings, data_format, dilations)
    return Conv2DBackpropInput(na.shape(input), filter, out_backprop, *settings)


def Conv2DBackpropFilterV2(
    input: Array,
    filter: Array,
    out_backprop: Array,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """`Conv2DBackpropFilter` with kernels in place of their sizes."""
    settings = (strides, padding, use_cudnn_on_gpu, explicit_paddings, data_format, dilations)
    return Conv2DBackpropFilter(input, na.shape(filter), out_backprop, *settings)


def FusedPadConv2D(
    input: Array,
    paddings: Ints,
    filter: Array,
    mode: str,
    strides: Sequence[int],
    padding: str,
) -> Array:
    """`Conv2D` of images with mirrored edges."""
    padded = na.pad(input, integers(paddings), mode=mode.lower())
    return Conv2D(padded, filter, strides, padding)


def FusedResizeAndPadConv2D(
    input: Array,
    size: Ints,
    paddings: Ints,
    filter: Array,
    mode: str,
    strides: Sequence[int],
    padding: str,
    resize_align_corners: bool = False,
) -> Array:
    """`FusedPadConv2D` of resized images."""
    pairs = zip(na.shape(input)[1:3], integers(size), strict=True)
    settings = {"align_corners": resize_align_corners, "half_pixel_centers": False}
    resized = resampled(input, [linear_weights(*pair, **settings) for pair in pairs])
    return FusedPadConv2D(resized, paddings, filter, mode, strides, padding)


def Dilation2D(
    input: Array, filter: Array, strides: Sequence[int], rates: Sequence[int], padding: str
) -> Array:
    """The maximum of input plus filter over windows, of each channel."""
    return nn.dilation2d(input, filter, strides, padding, "NHWC", rates)


def Dilation2DBackpropInput(
    input: Array,
    filter: Array,
    out_backprop: Array,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> Array:
    """The gradient of `Dilation2D` by the input."""
    settings = (strides, rates, padding)
    return pulled(lambda x: Dilation2D(x, filter, *settings), input, out_backprop)


def Dilation2DBackpropFilter(
    input: Array,
    filter: Array,
    out_backprop: Array,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> Array:
    """The gradient of `Dilation2D` by the filter."""
    settings = (strides, rates, padding)
    return pulled(lambda w: Dilation2D(input, w, *settings), filter, out_backprop)


def DepthwiseConv2dNativeBackpropInput(
    input_sizes: Ints,
    filter: Array,
    out_backprop: Array,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """The gradient of `DepthwiseConv2dNative` by the input."""
    settings = (strides, padding, explicit_paddings, data_format, dilations)
    return pulled(
        lambda x: DepthwiseConv2dNative(x, filter, *settings),
        _of_shape(input_sizes, filter),
        out_backprop,
    )


def DepthwiseConv2dNativeBackpropFilter(
    input: Array,
    filter_sizes: Ints,
    out_backprop: Array,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """The gradient of `DepthwiseConv2dNative` by the kernels."""
    settings = (strides, padding, explicit_paddings, data_format, dilations)
    return pulled(
        lambda w: DepthwiseConv2dNative(input, w, *settings),
        _of_shape(filter_sizes, input),
        out_backprop,
    )


def BiasAdd(value: Array, bias: Array, data_format: str = "NHWC") -> Array:
    """A number for each channel added."""
    if data_format == "NCHW":
        bias = na.reshape(bias, (-1, *[1] * (len(na.shape(value)) - 2)))
    return na.add(value, bias)


def BiasAddV1(value: Array, bias: Array) -> Array:
    """A number for each channel added."""
    return na.add(value, bias)


def BiasAddGrad(out_backprop: Array, data_format: str = "NHWC") -> Array:
    """The gradient of `BiasAdd` by the bias."""
    rank = len(na.shape(out_backprop))
    channels = 1 if data_format == "NCHW" else rank - 1
    return na.sum(out_backprop, axis=tuple([i for i in range(rank) if i != channels]))
