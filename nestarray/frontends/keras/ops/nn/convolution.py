"""Convolutions.

Upstream: https://keras.io/api/ops/nn/. Kernels have the channels last in both layouts of inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.keras import config
from nestarray.frontends.keras.promotion import as_array
from nestarray.typing import Array

__all__ = ["conv", "conv_transpose", "depthwise_conv", "separable_conv"]


def padding_mode(op: str, padding: Any) -> str:
    """``"same"`` or ``"valid"``."""
    lowered = str(padding).lower()
    if lowered not in ("same", "valid"):
        raise ArgumentError(f"{op}: padding: got {padding!r}, expected 'same' or 'valid'")
    return lowered


def each_axis(value: Any, rank: int) -> tuple[int, ...]:
    """One number for each spatial axis."""
    found = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return found * rank if len(found) == 1 else found


def conv(
    inputs: Array,
    kernel: Array,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Array:
    """The convolution over one to three spatial axes.

    Args:
        inputs: `(batch, *spatial, in)`, or with the channels first.
        kernel: `(*size, in / groups, out)`; fewer channels than `inputs` mean groups.
        strides: the step between windows; an integer, or one for each axis.
        padding: ``"valid"`` or ``"same"``.
        data_format: ``"channels_last"`` or ``"channels_first"``; None: `config.image_data_format`.
        dilation_rate: the step between the elements of the kernel.

    Raises:
        ArgumentError: `padding` or `data_format` is unknown.
        ShapeError: the kernel's channels do not divide the channels of `inputs`.
    """
    layout = config.layout("conv", data_format)
    inputs = as_array(inputs)
    kernel = as_array(kernel, like=inputs)
    channels = na.shape(inputs)[-1 if layout == "channels_last" else 1]
    given = na.shape(kernel)[-2]
    if channels % given:
        raise ShapeError(
            f"conv: kernel: got {given} channels, expected a divisor of the {channels} of inputs"
        )
    rank = len(na.shape(inputs)) - 2
    return na.conv(
        inputs,
        kernel,
        stride=each_axis(strides, rank),
        padding=padding_mode("conv", padding),
        dilation=each_axis(dilation_rate, rank),
        groups=channels // given,
        data_format=layout,
        weight_format="channels_last",
    )


def depthwise_conv(
    inputs: Array,
    kernel: Array,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Array:
    """A convolution of each channel by its own kernels, `(*size, in, multiplier)`."""
    layout = config.layout("depthwise_conv", data_format)
    inputs = as_array(inputs)
    kernel = as_array(kernel, like=inputs)
    *size, channels, multiplier = na.shape(kernel)
    given = na.shape(inputs)[-1 if layout == "channels_last" else 1]
    if given != channels:
        raise ShapeError(
            f"depthwise_conv: kernel: got {channels} channels, expected {given}, those of inputs"
        )
    rank = len(na.shape(inputs)) - 2
    return na.conv(
        inputs,
        na.reshape(kernel, (*size, 1, channels * multiplier)),
        stride=each_axis(strides, rank),
        padding=padding_mode("depthwise_conv", padding),
        dilation=each_axis(dilation_rate, rank),
        groups=channels,
        data_format=layout,
        weight_format="channels_last",
    )


def separable_conv(
    inputs: Array,
    depthwise_kernel: Array,
    pointwise_kernel: Array,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Array:
    """`depthwise_conv`, followed by a convolution with a kernel of size 1."""
    found = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(found, pointwise_kernel, data_format=data_format)


def conv_transpose(
    inputs: Array,
    kernel: Array,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    output_padding: int | Sequence[int] | None = None,
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Array:
    """The transpose of a convolution as a linear map.

    Args:
        inputs: `(batch, *spatial, in)`, or with the channels first.
        kernel: `(*size, out, in)`.
        strides: the step between the kernels in the result.
        padding: ``"valid"`` or ``"same"``, of the convolution.
        output_padding: the size to add at the end; None: upstream's default.
        data_format: the layout of `inputs` and the result.
        dilation_rate: the step between the elements of the kernel.
    """
    op = "conv_transpose"
    layout, mode = config.layout(op, data_format), padding_mode(op, padding)
    inputs = as_array(inputs)
    kernel = as_array(kernel, like=inputs)
    rank = len(na.shape(inputs)) - 2
    steps, rates = each_axis(strides, rank), each_axis(dilation_rate, rank)
    ends = (None,) * rank if output_padding is None else each_axis(output_padding, rank)
    spatial = na.shape(inputs)[1:-1] if layout == "channels_last" else na.shape(inputs)[2:]
    crops, added = [], []
    rows = zip(spatial, na.shape(kernel)[:rank], steps, rates, ends, strict=True)
    for length, size, step, rate, end in rows:
        extent = (size - 1) * rate + 1
        full = (length - 1) * step + extent
        wanted = _length(mode, length, extent, step, end)
        before = max(full - wanted, 0) // 2 if mode == "same" else 0
        after = full - before - wanted
        crops.append((before, max(after, 0)))
        added.append(max(-after, 0))
    found = na.conv_transpose(
        inputs,
        kernel,
        stride=steps,
        padding=crops,
        dilation=rates,
        data_format=layout,
        weight_format="channels_last",
    )
    if not any(added):
        return found
    widths = [(0, count) for count in added]
    sides = [(0, 0)]
    widths = [*sides, *widths, *sides] if layout == "channels_last" else [*sides * 2, *widths]
    return na.pad(found, widths)


def _length(mode: str, length: int, extent: int, step: int, end: int | None) -> int:
    """The length of an axis of the result of `conv_transpose`."""
    if mode == "same":
        return length * step if end is None else (length - 1) * step + extent % 2 + end
    start = (length - 1) * step
    return start + (max(extent, step) if end is None else extent + end)
