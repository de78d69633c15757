"""Convolutions over one to three axes in either layout: plain, transposed, depthwise, separable, local."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from nestarray import ops
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, op
from nestarray.errors import NestarrayError, ShapeError
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints, Padding, channels_are_last, spatial_axes
from nestarray.typing import Array

__all__ = ["conv", "conv_transpose", "depthwise_conv", "locally_connected", "separable_conv"]
TRAITS = Trait.PRODUCT


@op(promoted=("x", "weight", "bias"))
@through_numbers
def conv(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
    data_format: str = "channels_first",
    weight_format: str = "channels_first",
) -> Array:
    """`conv1d`, `conv2d` or `conv3d`, by the rank of x, with the channels first or last.

    Args:
        x: `(batch, in, *spatial)`, or `(batch, *spatial, in)` with the channels last, with one
            to three spatial axes, floating.
        weight: `(out, in / groups, *kernel)` in either layout of x, or
            `(*kernel, in / groups, out)`, the layout of TensorFlow, Keras and Flax.
        bias: `(out,)`, or None.
        stride: the step between windows.
        padding: zeros around x: an integer, one for each axis, pairs (before, after),
            ``"same"`` or ``"valid"``.
        dilation: the step between the elements of the kernel.
        groups: the number of independent groups of channels.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.
        weight_format: ``"channels_first"`` or ``"channels_last"``, of the weight.

    Returns:
        `(batch, out, *out_spatial)`, or with the channels last.

    Raises:
        ArgumentError: `data_format` or `weight_format` is unknown.
        ShapeError: the channels or the ranks do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[1.0], [2.0], [3.0]]])
        >>> na.conv(x, np.ones((1, 1, 2)), data_format="channels_last")
        array([[[3.],
                [5.]]])

    References:
        https://keras.io/api/ops/nn/#conv-function
    """
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    functions = ops.conv1d, ops.conv2d, ops.conv3d
    check = partial(windows.convolution, "conv")
    return _in_layouts(
        "conv", check, functions, x, weight, bias, settings, data_format, weight_format
    )


@op(promoted=("x", "weight", "bias"))
@through_numbers
def conv_transpose(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    output_padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    data_format: str = "channels_first",
    weight_format: str = "channels_first",
) -> Array:
    """`conv_transpose1d`, `2d` or `3d`, by the rank of x, with the channels first or last.

    Args:
        x: `(batch, in, *spatial)`, or `(batch, *spatial, in)` with the channels last, with one
            to three spatial axes, floating.
        weight: `(in, out / groups, *kernel)`, or `(*kernel, out / groups, in)` with the channels
            last.
        bias: `(out,)`, or None.
        stride: the step between the kernels in the output.
        padding: the size to crop from the output at each side: an integer, one for each axis,
            pairs (before, after); ``"valid"``: none; ``"same"``: so much that the output has
            size · stride elements, the odd one after it; `output_padding` is then not used.
        output_padding: the size to add at the end of the output.
        dilation: the step between the elements of the kernel.
        groups: the number of independent groups of channels.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.
        weight_format: the same for `weight`.

    Returns:
        `(batch, out, *out_spatial)`, or with the channels last.

    Raises:
        ArgumentError: `data_format` or `weight_format` is unknown.
        ShapeError: the channels or the ranks do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[1.0, 10.0]]])
        >>> na.conv_transpose(x, np.ones((1, 1, 3)), stride=2, padding="same")
        array([[[ 1.,  1., 11., 10.]]])

    References:
        https://keras.io/api/ops/nn/#convtranspose-function
    """
    if padding == "same":
        count = spatial_axes("conv_transpose", x, data_format)
        is_last = channels_are_last("conv_transpose", "weight_format", weight_format)
        kernel = weight.shape[:-2] if is_last else weight.shape[2:]
        steps = windows.per_axis("conv_transpose", "stride", stride, count)
        gaps = windows.per_axis("conv_transpose", "dilation", dilation, count)
        over = [d * (k - 1) + 1 - s for d, k, s in zip(gaps, kernel, steps)]
        padding = [(max(n, 0) // 2, max(n, 0) - max(n, 0) // 2) for n in over]
        output_padding = [max(-n, 0) for n in over]
    settings = {
        "stride": stride, "padding": padding, "output_padding": output_padding,
        "dilation": dilation, "groups": groups,
    }  # fmt: skip
    functions = ops.conv_transpose1d, ops.conv_transpose2d, ops.conv_transpose3d
    check = partial(windows.transposed_convolution, "conv_transpose")
    return _in_layouts(
        "conv_transpose", check, functions, x, weight, bias, settings, data_format, weight_format
    )


@op(promoted=("x", "weight", "bias"))
@through_numbers
def depthwise_conv(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    data_format: str = "channels_first",
) -> Array:
    """A depthwise convolution: `conv` with one group per channel.

    Args:
        x: `(batch, in, *spatial)`, or `(batch, *spatial, in)` with the channels last, with one
            to three spatial axes, floating.
        weight: `(in · multiplier, 1, *kernel)`: the kernels of channel 0, then the kernels of
            channel 1, and so on.
        bias: `(in · multiplier,)`, or None.
        stride: the step between windows.
        padding: zeros around x, as in `conv`.
        dilation: the step between the elements of the kernel.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.

    Returns:
        `(batch, in · multiplier, *out_spatial)`, or with the channels last.

    Raises:
        ArgumentError: `data_format` is unknown.
        ShapeError: the channels or the ranks do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[1.0, 2.0, 4.0], [3.0, 4.0, 6.0]]])
        >>> na.depthwise_conv(x, np.asarray([[[1.0, 1.0]], [[-1.0, 1.0]]]))
        array([[[3., 6.],
                [1., 2.]]])

    References:
        https://arxiv.org/abs/1704.04861
        https://keras.io/api/ops/nn/#depthwiseconv-function
    """
    spatial_axes("depthwise_conv", x, data_format)
    channels = x.shape[-1 if channels_are_last("depthwise_conv", "data_format", data_format) else 1]
    if len(weight.shape) != len(x.shape) or weight.shape[1] != 1 or weight.shape[0] % channels:
        raise ShapeError(
            f"depthwise_conv: weight has shape {tuple(weight.shape)}, expected (channels, 1, "
            f"*kernel) with a multiple of the {channels} channels of x {tuple(x.shape)}"
        )
    return ops.conv(
        x,
        weight,
        bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=channels,
        data_format=data_format,
    )


@op(promoted=("x", "depthwise", "pointwise", "bias"))
@through_numbers
def separable_conv(
    x: Array,
    depthwise: Array,
    pointwise: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    data_format: str = "channels_first",
) -> Array:
    """A depthwise convolution followed by a pointwise (1 × 1) convolution.

    Args:
        x: `(batch, in, *spatial)`, or `(batch, *spatial, in)` with the channels last, with one
            to three spatial axes, floating.
        depthwise: `(in · multiplier, 1, *kernel)`: the kernels of channel 0, then the kernels of
            channel 1, and so on.
        pointwise: `(out, in · multiplier)`.
        bias: `(out,)`, or None.
        stride: the step between windows.
        padding: zeros around x, as in `conv`.
        dilation: the step between the elements of the kernel.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.

    Returns:
        `(batch, out, *out_spatial)`, or with the channels last.

    Raises:
        ArgumentError: `data_format` is unknown.
        ShapeError: the channels or the ranks do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[1.0, 2.0], [3.0, 4.0]]])
        >>> na.separable_conv(x, np.ones((2, 1, 2)), np.asarray([[1.0, 10.0]]))
        array([[[73.]]])

    References:
        https://arxiv.org/abs/1610.02357
        https://keras.io/api/ops/nn/#separableconv-function
    """
    count = spatial_axes("separable_conv", x, data_format)
    x = _first(x, data_format)
    if len(pointwise.shape) != 2 or pointwise.shape[1] != depthwise.shape[0]:
        raise ShapeError(
            f"separable_conv: pointwise has shape {tuple(pointwise.shape)}, expected (out, "
            f"{depthwise.shape[0]}): as many columns as depthwise {tuple(depthwise.shape)} has "
            "kernels"
        )
    x = ops.depthwise_conv(x, depthwise, stride=stride, padding=padding, dilation=dilation)
    function = (ops.conv1d, ops.conv2d, ops.conv3d)[count - 1]
    mixture = ops.reshape(pointwise, (*pointwise.shape, *(1,) * count))
    return _back(function(x, mixture, bias), data_format)


@op(promoted=("x", "weight", "bias"))
@through_numbers
def locally_connected(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    kernel_size: Ints,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
) -> Array:
    """A convolution with a separate kernel for each output position.

    Args:
        x: `(batch, in, *spatial)`, floating.
        weight: `(out, in · kernel, *out_spatial)`; `in` varies slower than the kernel.
        bias: `(out, *out_spatial)`, or None.
        kernel_size: the size of the kernels; an integer, or one for each spatial axis.
        stride: the step between windows.
        padding: zeros around x, as in `conv2d`.
        dilation: the step between the elements of a kernel.

    Returns:
        `(batch, out, *out_spatial)`.

    Raises:
        ShapeError: `weight` has the wrong shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x, weight = np.asarray([[[1.0, 2.0, 3.0]]]), np.asarray([[[1.0, 0.0], [0.0, 1.0]]])
        >>> na.locally_connected(x, weight, kernel_size=2)
        array([[[1., 3.]]])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_general_dilated_local.html
    """
    sizes = tuple(x.shape[2:])
    at = windows.settings(
        "locally_connected", sizes, kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    output = at.output(sizes)
    expected = (x.shape[1] * math.prod(at.kernel), *output)
    if tuple(weight.shape[1:]) != expected:
        raise ShapeError(
            f"locally_connected: weight has shape {tuple(weight.shape)}, expected (out, "
            f"{', '.join(map(str, expected))}): (out, in · kernel, *out_spatial)"
        )
    columns = ops.unfold(
        x, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    kernels = ops.reshape(weight, (weight.shape[0], expected[0], math.prod(output)))
    out = ops.einsum("nkp,okp->nop", columns, kernels)
    out = ops.reshape(out, (-1, weight.shape[0], *output))
    return out if bias is None else ops.add(out, bias)


def _in_layouts(
    name: str,
    check: Callable[..., Any],
    functions: Sequence[Callable[..., Array]],
    x: Array,
    weight: Array,
    bias: Array | None,
    settings: Mapping[str, Any],
    data_format: str,
    weight_format: str,
) -> Array:
    """One of `functions`, of 1 to 3 spatial axes, of arrays with the channels first or last.

    `check` explains a failed call; it takes the shapes with the channels first.
    """
    count = spatial_axes(name, x, data_format)
    x = _first(x, data_format)
    shape = tuple(weight.shape)
    if channels_are_last(name, "weight_format", weight_format):
        shape = (*shape[:-3:-1], *shape[:-2])
        if len(shape) == count + 2:
            weight = ops.permute_dims(weight, (count + 1, count, *range(count)))
    try:
        return _back(functions[count - 1](x, weight, bias, **settings), data_format)
    except NestarrayError:
        check(count, tuple(x.shape), shape, bias, **settings)
        raise


def _first(x: Array, data_format: str) -> Array:
    return x if data_format == "channels_first" else ops.moveaxis(x, -1, 1)


def _back(x: Array, data_format: str) -> Array:
    return x if data_format == "channels_first" else ops.moveaxis(x, 1, -1)
