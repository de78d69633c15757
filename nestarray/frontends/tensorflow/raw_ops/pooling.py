"""Pooling and its gradients.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/MaxPool
"""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow import nn
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.frontends.tensorflow.nn.fractional_pooling import maxima, means
from nestarray.frontends.tensorflow.raw_ops.convolution import layout, pads, pulled, spatial
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "AvgPool", "AvgPool3D", "AvgPool3DGrad", "AvgPoolGrad", "FractionalAvgPool",
    "FractionalAvgPoolGrad", "FractionalMaxPool", "FractionalMaxPoolGrad", "MaxPool", "MaxPool3D",
    "MaxPool3DGrad", "MaxPool3DGradGrad", "MaxPoolGrad", "MaxPoolGradGrad", "MaxPoolGradGradV2",
    "MaxPoolGradV2", "MaxPoolGradWithArgmax", "MaxPoolV2", "MaxPoolWithArgmax",
]  # fmt: skip


def MaxPool(
    input: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
) -> Array:
    """The maxima of windows; the derivative is of the first maximum."""
    window, steps = integers(ksize), integers(strides)
    channel = window[1 if layout(data_format) == "channels_first" else -1]
    if channel != 1:  # depthwise: over channels alone
        parts = na.reshape(input, (*na.shape(input)[:-1], na.shape(input)[-1] // channel, channel))
        return na.max(parts, axis=-1)
    return na.max_pool(
        input,
        kernel_size=spatial(window, data_format),
        stride=spatial(steps, data_format),
        padding=pads(padding, explicit_paddings, data_format),
        data_format=layout(data_format),
    )


def MaxPoolV2(
    input: Array, ksize: Ints, strides: Ints, padding: str, data_format: str = "NHWC"
) -> Array:
    """`MaxPool` with sizes as arrays."""
    return MaxPool(input, ksize, strides, padding, (), data_format)


def MaxPool3D(
    input: Array, ksize: Ints, strides: Ints, padding: str, data_format: str = "NDHWC"
) -> Array:
    """The maxima of windows over three axes."""
    return MaxPool(input, ksize, strides, padding, (), data_format)


def AvgPool(
    value: Array, ksize: Ints, strides: Ints, padding: str, data_format: str = "NHWC"
) -> Array:
    """The means of windows, without the padding."""
    return na.avg_pool(
        value,
        kernel_size=spatial(integers(ksize), data_format),
        stride=spatial(integers(strides), data_format),
        padding=padding.lower(),
        count_include_pad=False,
        data_format=layout(data_format),
    )


def AvgPool3D(
    input: Array, ksize: Ints, strides: Ints, padding: str, data_format: str = "NDHWC"
) -> Array:
    """The means of windows over three axes, without the padding."""
    return AvgPool(input, ksize, strides, padding, data_format)


def AvgPoolGrad(
    orig_input_shape: Ints,
    grad: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str = "NHWC",
) -> Array:
    """The gradient of `AvgPool`."""
    start = na.zeros(integers(orig_input_shape), dtype=dtypes.dtype_of(grad), like=grad)
    return pulled(lambda x: AvgPool(x, ksize, strides, padding, data_format), start, grad)


def AvgPool3DGrad(
    orig_input_shape: Ints,
    grad: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str = "NDHWC",
) -> Array:
    """The gradient of `AvgPool3D`."""
    return AvgPoolGrad(orig_input_shape, grad, ksize, strides, padding, data_format)


def MaxPoolGrad(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
) -> Array:
    """The gradient of `MaxPool`."""
    settings = (ksize, strides, padding, explicit_paddings, data_format)
    return pulled(lambda x: MaxPool(x, *settings), orig_input, grad)


def MaxPoolGradV2(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str = "NHWC",
) -> Array:
    """The gradient of `MaxPoolV2`."""
    return MaxPoolGrad(orig_input, orig_output, grad, ksize, strides, padding, (), data_format)


def MaxPool3DGrad(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str = "NDHWC",
) -> Array:
    """The gradient of `MaxPool3D`."""
    return MaxPoolGrad(orig_input, orig_output, grad, ksize, strides, padding, (), data_format)


def MaxPoolGradGrad(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str = "NHWC",
) -> Array:
    """The gradient of `MaxPoolGrad` by its `grad`: the elements at the places of the maxima."""
    settings = (ksize, strides, padding, (), data_format)
    return na.jvp(lambda x: MaxPool(x, *settings), (orig_input,), (grad,))[1]


def MaxPoolGradGradV2(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str = "NHWC",
) -> Array:
    """`MaxPoolGradGrad` with sizes as arrays."""
    return MaxPoolGradGrad(orig_input, orig_output, grad, ksize, strides, padding, data_format)


def MaxPool3DGradGrad(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str = "NDHWC",
) -> Array:
    """The gradient of `MaxPool3DGrad` by its `grad`."""
    return MaxPoolGradGrad(orig_input, orig_output, grad, ksize, strides, padding, data_format)


def MaxPoolWithArgmax(
    input: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    Targmax: DType = dtypes.int64,
    include_batch_in_index: bool = False,
) -> tuple[Array, Array]:
    """The maxima of windows, and their indices in the flattened image."""
    batch, height, width, channels = na.shape(input)
    first = na.permute_dims(input, (0, 3, 1, 2))
    found, places = na.max_pool_with_indices(
        first,
        kernel_size=spatial(integers(ksize), "NHWC"),
        stride=spatial(integers(strides), "NHWC"),
        padding=padding.lower(),
    )
    places = na.permute_dims(na.astype(places, Targmax), (0, 2, 3, 1))
    numbers = na.arange(channels, dtype=Targmax, like=input)
    places = na.add(na.multiply(places, channels), numbers)
    if include_batch_in_index:
        images = na.multiply(na.arange(batch, dtype=Targmax, like=input), height * width * channels)
        places = na.add(places, na.reshape(images, (-1, 1, 1, 1)))
    return na.permute_dims(found, (0, 2, 3, 1)), places


def MaxPoolGradWithArgmax(
    input: Array,
    grad: Array,
    argmax: Array,
    ksize: Ints,
    strides: Ints,
    padding: str,
    include_batch_in_index: bool = False,
) -> Array:
    """The gradient of `MaxPoolWithArgmax`."""
    settings = (ksize, strides, padding)
    return pulled(lambda x: MaxPoolWithArgmax(x, *settings)[0], input, grad)


def FractionalMaxPool(
    value: Array,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    *,
    key: Array,
) -> tuple[Array, Array, Array]:
    """The maxima of windows of random sizes, and the bounds of the windows."""
    settings = (list(pooling_ratio), pseudo_random, overlapping)
    return nn.fractional_max_pool(value, *settings, key=key)


def FractionalAvgPool(
    value: Array,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    *,
    key: Array,
) -> tuple[Array, Array, Array]:
    """The means of windows of random sizes, and the bounds of the windows."""
    settings = (list(pooling_ratio), pseudo_random, overlapping)
    return nn.fractional_avg_pool(value, *settings, key=key)


def FractionalMaxPoolGrad(
    orig_input: Array,
    orig_output: Array,
    out_backprop: Array,
    row_pooling_sequence: Array,
    col_pooling_sequence: Array,
    overlapping: bool = False,
) -> Array:
    """The gradient of `FractionalMaxPool`."""
    settings = (row_pooling_sequence, col_pooling_sequence, overlapping)
    return pulled(lambda x: maxima(x, *settings), orig_input, out_backprop)


def FractionalAvgPoolGrad(
    orig_input_tensor_shape: Ints,
    out_backprop: Array,
    row_pooling_sequence: Array,
    col_pooling_sequence: Array,
    overlapping: bool = False,
) -> Array:
    """The gradient of `FractionalAvgPool`."""
    shape, dtype = integers(orig_input_tensor_shape), dtypes.dtype_of(out_backprop)
    settings = (row_pooling_sequence, col_pooling_sequence, overlapping)
    start = na.zeros(shape, dtype=dtype, like=out_backprop)
    return pulled(lambda x: means(x, *settings), start, out_backprop)
