"""Convolutions: plain, transposed, depthwise, separable, morphological.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/convolution
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.tensorflow.blocks import batch_to_space, space_to_batch
from nestarray.frontends.tensorflow.conversion import floating, integers, tensors
from nestarray.frontends.tensorflow.nn.windows import (
    Layout,
    layout_of,
    padding_of,
    per_axis,
    places,
    with_batches,
    without_batches,
)
from nestarray.typing import Array

__all__ = [
    "atrous_conv2d", "atrous_conv2d_transpose", "bias_add", "conv1d", "conv1d_transpose", "conv2d",
    "conv2d_transpose", "conv3d", "conv3d_transpose", "conv_transpose", "convolution",
    "depthwise_conv2d", "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input",
    "dilation2d", "erosion2d", "separable_conv2d", "with_space_to_batch",
]  # fmt: skip


def _convolve(
    name: str,
    x: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    layout: Layout,
    dilations: Any,
    groups: int | None = None,
) -> Array:
    """A convolution; groups follow from the channels of both arrays."""
    x, weight = tensors(name, x, filters)
    x, outer = without_batches(floating(name, x), layout)
    steps = per_axis(name, "strides", strides, layout)
    gaps = per_axis(name, "dilations", dilations, layout)
    *kernel, of_filter, _ = na.shape(weight)
    channels = na.shape(x)[layout.channels]
    if groups is None and (not of_filter or channels % of_filter):
        raise ShapeError(
            f"{name}: filters: got {of_filter} input channels, expected a divisor of the "
            f"{channels} channels of the input"
        )
    pads = padding
    if not isinstance(padding, str) or padding.upper() not in ("SAME", "VALID"):
        sizes = [na.shape(x)[i] for i in layout.spatial]
        pads = padding_of(name, padding, layout, sizes, kernel, steps, gaps)
    found = na.conv(
        x,
        weight,
        stride=steps,
        padding=pads.lower() if isinstance(pads, str) else pads,
        dilation=gaps,
        groups=channels // of_filter if groups is None else groups,
        data_format=layout.name,
        weight_format="channels_last",
    )
    return with_batches(found, outer)


def _rank(name: str, filters: Any, count: int) -> None:
    if len(na.shape(filters)) != count + 2:
        raise ShapeError(
            f"{name}: filters: got the shape {tuple(na.shape(filters))}, expected {count + 2} axes: "
            "the kernel, input channels, output channels"
        )


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """The convolution of one to three spatial axes, by the rank of the filters.

    Args:
        input: `(*batch, *spatial, channels)`, or channels before the spatial axes.
        filters: `(*kernel, channels / groups, out)`.
        strides: the step between windows.
        padding: ``"SAME"``, ``"VALID"``, or a pair for each axis.
        data_format: ``"NWC"``, ``"NCHW"`` and so on; None: channels last.
        dilations: the step between the elements of the kernel.
        name: has no effect.
    """
    count = len(na.shape(filters)) - 2
    layout = layout_of("convolution", data_format, count)
    return _convolve("convolution", input, filters, strides, padding, layout, dilations)


def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """The convolution of one spatial axis."""
    _rank("conv1d", filters, 1)
    layout = layout_of("conv1d", data_format, 1)
    return _convolve("conv1d", input, filters, stride, padding, layout, dilations)


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """The convolution of two spatial axes."""
    _rank("conv2d", filters, 2)
    layout = layout_of("conv2d", data_format, 2)
    return _convolve("conv2d", input, filters, strides, padding, layout, dilations)


def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """The convolution of three spatial axes."""
    _rank("conv3d", filters, 3)
    layout = layout_of("conv3d", data_format, 3)
    return _convolve("conv3d", input, filters, strides, padding, layout, dilations)


def atrous_conv2d(
    value: Any, filters: Any, rate: Any, padding: Any, name: str | None = None
) -> Array:
    """`conv2d` with `rate` as the step between the elements of the kernel."""
    return conv2d(value, filters, 1, padding, dilations=rate)


# -- transposed ------------------------------------------------------------------------------


def _transposed(
    name: str,
    x: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any,
    layout: Layout,
    dilations: Any,
) -> Array:
    """The derivative of a convolution by its input, of the shape `output_shape`."""
    x, weight = tensors(name, x, filters)
    x, outer = without_batches(floating(name, x), layout)
    shape = tuple(integers(output_shape))
    if len(shape) == layout.count:  # of the spatial axes only
        sizes, channels = shape, na.shape(weight)[-2]
    else:
        inner = shape[-layout.count - 1 :]
        sizes = [inner[i - 1] for i in layout.spatial]
        channels = inner[layout.channels - 1]
    steps = per_axis(name, "strides", strides, layout)
    gaps = per_axis(name, "dilations", dilations, layout)
    kernel = na.shape(weight)[:-2]
    pads = padding_of(name, padding, layout, sizes, kernel, steps, gaps)
    full = [
        (na.shape(x)[i] - 1) * s + (k - 1) * d + 1
        for i, s, k, d in zip(layout.spatial, steps, kernel, gaps, strict=True)
    ]
    more = [n - m + sum(pair) for n, m, pair in zip(sizes, full, pads, strict=True)]
    if any(not 0 <= n < s for n, s in zip(more, steps, strict=True)):
        raise ShapeError(
            f"{name}: output_shape: got {shape}, of which a convolution with these settings does not "
            f"have the spatial sizes {[na.shape(x)[i] for i in layout.spatial]} of the input"
        )
    found = na.conv_transpose(
        x,
        weight,
        stride=steps,
        padding=pads,
        output_padding=more,
        dilation=gaps,
        groups=channels // na.shape(weight)[-2],
        data_format=layout.name,
        weight_format="channels_last",
    )
    return with_batches(found, outer)


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """The transposed convolution of one to three spatial axes.

    Args:
        input: `(batch, *spatial, channels)`, or channels before the spatial axes.
        filters: `(*kernel, out, channels)`.
        output_shape: the shape of the result.
        strides: the step between the kernels in the result.
        padding: of the convolution that this transposes.
        data_format: ``"NWC"``, ``"NCHW"`` and so on; None: channels last.
        dilations: the step between the elements of the kernel.
        name: has no effect.
    """
    layout = layout_of("conv_transpose", data_format, len(na.shape(filters)) - 2)
    return _transposed(
        "conv_transpose", input, filters, output_shape, strides, padding, layout, dilations
    )


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """The transposed convolution of one spatial axis."""
    _rank("conv1d_transpose", filters, 1)
    layout = layout_of("conv1d_transpose", data_format, 1)
    return _transposed(
        "conv1d_transpose", input, filters, output_shape, strides, padding, layout, dilations
    )


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """The transposed convolution of two spatial axes."""
    _rank("conv2d_transpose", filters, 2)
    layout = layout_of("conv2d_transpose", data_format, 2)
    return _transposed(
        "conv2d_transpose", input, filters, output_shape, strides, padding, layout, dilations
    )


def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """The transposed convolution of three spatial axes."""
    _rank("conv3d_transpose", filters, 3)
    layout = layout_of("conv3d_transpose", data_format, 3)
    return _transposed(
        "conv3d_transpose", input, filters, output_shape, strides, padding, layout, dilations
    )


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: Any, padding: Any, name: str | None = None
) -> Array:
    """`conv2d_transpose` with `rate` as the step between the elements of the kernel."""
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate)


# -- depthwise -------------------------------------------------------------------------------


def _depthwise_weight(filter: Any) -> Array:
    """`(*kernel, 1, in · multiplier)`."""
    *kernel, channels, multiplier = na.shape(filter)
    return na.reshape(filter, (*kernel, 1, channels * multiplier))


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """A convolution of each channel with `multiplier` kernels.

    Args:
        input: `(batch, height, width, channels)`, or ``"NCHW"``.
        filter: `(height, width, channels, multiplier)`.
        strides, padding, data_format, dilations: as in `conv2d`.
        name: has no effect.
    """
    x, weight = tensors("depthwise_conv2d", input, filter)
    _rank("depthwise_conv2d", weight, 2)
    layout = layout_of("depthwise_conv2d", data_format, 2)
    return _convolve(
        "depthwise_conv2d", x, _depthwise_weight(weight), strides, padding, layout, dilations
    )


def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Array:
    """The derivative of `depthwise_conv2d` by its input."""
    gradient, weight = tensors("depthwise_conv2d_backprop_input", out_backprop, filter)
    layout = layout_of("depthwise_conv2d_backprop_input", data_format, 2)
    return _transposed(
        "depthwise_conv2d_backprop_input",
        gradient,
        _depthwise_weight(weight),
        input_sizes,
        strides,
        padding,
        layout,
        dilations,
    )


def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Array:
    """The derivative of `depthwise_conv2d` by its filter."""
    x, gradient = tensors("depthwise_conv2d_backprop_filter", input, out_backprop)

    def convolved(filter: Array) -> Array:
        return depthwise_conv2d(x, filter, strides, padding, data_format, dilations)

    zeros = na.zeros(tuple(integers(filter_sizes)), dtype=na.dtype_of(x), like=x)
    _, pullback = na.vjp(convolved, zeros)
    return pullback(gradient)[0]


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """`depthwise_conv2d`, then a convolution with kernels of one element."""
    x = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(x, pointwise_filter, 1, "VALID", data_format or "NHWC")


# -- others ----------------------------------------------------------------------------------


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Array:
    """`value` plus a number for each channel."""
    x, b = tensors("bias_add", value, bias)
    rank = len(na.shape(x))
    if data_format is not None and data_format[:2] == "NC" and rank > 2:
        b = na.reshape(b, (1, -1) + (1,) * (rank - 2))
    return na.add(x, b)


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: Any,
    op: Callable[..., Array],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Array:
    """``op(x, num_spatial_dims, padding)`` on the parts of `input` of a dilation.

    Args:
        input: `(batch, *spatial, channels)`, or channels before the spatial axes.
        dilation_rate: the dilation of each spatial axis.
        padding: ``"SAME"`` or ``"VALID"``.
        op: a function of a tensor, the number of spatial axes, and a padding.
        filter_shape: the shape of the kernel, for ``"SAME"``.
        spatial_dims: the axes; None: all of the dilation.
        data_format: ``"NCHW"`` and so on; None: channels last.
    """
    rates = tuple(integers(dilation_rate))
    count = len(rates)
    if all(rate == 1 for rate in rates):
        return op(input, count, padding)
    is_first = data_format is not None and data_format[:2] == "NC"
    first = 2 if is_first else 1
    axes = sorted(spatial_dims) if spatial_dims else list(range(first, first + count))
    base = [(0, 0)] * count
    if padding == "SAME":
        if filter_shape is None:
            raise ArgumentError("with_space_to_batch: filter_shape: got None with padding 'SAME'")
        extra = [(k - 1) * r for k, r in zip(integers(filter_shape), rates)]
        base = [(n // 2, n - n // 2) for n in extra]
    blocks, pads = [1] * (axes[-1]), [(0, 0)] * (axes[-1])
    for axis, rate, pair in zip(axes, rates, base, strict=True):
        blocks[axis - 1], pads[axis - 1] = rate, pair
    x = floating("with_space_to_batch", input)
    ends = []
    for axis, (block, (low, high)) in enumerate(zip(blocks, pads, strict=True), 1):
        more = -(na.shape(x)[axis] + low + high) % block
        pads[axis - 1] = (low, high + more)
        ends.append((0, more))
    found = op(space_to_batch(x, blocks, pads), count, "VALID")
    return batch_to_space(found, blocks, ends)


def dilation2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Array:
    """The maximum of input plus filter over windows, of each channel.

    Args:
        input: `(batch, height, width, channels)`.
        filters: `(height, width, channels)`.
        strides, padding, dilations: as in `conv2d`; the padding is ignored.
        data_format: ``"NHWC"``.
        name: has no effect.
    """
    x, weight = tensors("dilation2d", input, filters)
    if data_format != "NHWC":
        raise ArgumentError(f"dilation2d: data_format: got {data_format!r}, expected 'NHWC'")
    layout = Layout(2, True)
    steps = per_axis("dilation2d", "strides", strides, layout)
    gaps = per_axis("dilation2d", "dilations", dilations, layout)
    kernel, sizes = na.shape(weight)[:2], na.shape(x)[1:3]
    pads = padding_of("dilation2d", padding, layout, sizes, kernel, steps, gaps)
    lowest = float(na.finfo(na.dtype_of(x)).min)
    parts = places(x, lowest, kernel, steps, pads, gaps)
    sums = [na.add(part, na.getitem(weight, place)) for place, part in parts]
    return functools.reduce(lambda a, b: na.where(na.greater_equal(a, b), a, b), sums)


def erosion2d(
    value: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Array:
    """The minimum of value minus filter over windows, with the filter reversed."""
    x, weight = tensors("erosion2d", value, filters)
    weight = na.flip(weight, axis=(0, 1))
    found = dilation2d(na.negative(x), weight, strides, padding, data_format, dilations)
    return na.negative(found)
