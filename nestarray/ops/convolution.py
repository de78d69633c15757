"""Convolutions, transposed convolutions, and patch extraction; channels first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nestarray import ops
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, op
from nestarray.errors import ShapeError
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints, Padding
from nestarray.typing import Array

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "unfold",
]
TRAITS = Trait.PRODUCT


@op(promoted=("x", "weight", "bias"))
@through_numbers
def conv1d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Array:
    """The cross-correlation over one spatial axis, y[o, i] = Σ x[c, s·i + d·k] · w[o, c, k].

    Args:
        x: `(batch, in, length)`, floating.
        weight: `(out, in / groups, kernel)`, of the dtype of x.
        bias: `(out,)`, or None.
        stride: the step s between windows; an integer.
        padding: zeros around x: an integer, or pairs (before, after);
            ``"valid"``: none; ``"same"``: so that the output has ⌈size / stride⌉ elements,
            the odd one after.
        dilation: the step d between the elements of a window.
        groups: the number of groups of channels; each group of output channels depends on one
            group of input channels.

    Returns:
        `(batch, out, out_length)`,
        out_size = ⌊(size + pads − d·(kernel − 1) − 1) / s⌋ + 1.

    Raises:
        ShapeError: the channels or the ranks do not match, or the window is larger than x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[1.0, 2.0, 4.0]]])
        >>> na.conv1d(x, np.asarray([[[-1.0, 1.0]]]))
        array([[[1., 2.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv1d.html
    """
    at = windows.convolution(
        "conv1d", 1, x.shape, weight.shape, bias, stride=stride, padding=padding, dilation=dilation,
        groups=groups,
    )  # fmt: skip
    return _convolve(x, weight, bias, at, groups)


@op(promoted=("x", "weight", "bias"))
@through_numbers
def conv2d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Array:
    """The cross-correlation over two spatial axes, y[o, i] = Σ x[c, s·i + d·k] · w[o, c, k].

    Args:
        x: `(batch, in, height, width)`, floating.
        weight: `(out, in / groups, kernel_height, kernel_width)`, of the dtype of x.
        bias: `(out,)`, or None.
        stride: the step s between windows; an integer, or one for each axis.
        padding: zeros around x: an integer, one for each axis, or pairs (before, after);
            ``"valid"``: none; ``"same"``: so that the output has ⌈size / stride⌉ elements,
            the odd one after.
        dilation: the step d between the elements of a window.
        groups: the number of groups of channels; each group of output channels depends on one
            group of input channels.

    Returns:
        `(batch, out, out_height, out_width)`,
        out_size = ⌊(size + pads − d·(kernel − 1) − 1) / s⌋ + 1.

    Raises:
        ShapeError: the channels or the ranks do not match, or the window is larger than x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.arange(9.0).reshape(1, 1, 3, 3)
        >>> na.conv2d(x, np.ones((1, 1, 2, 2)), np.asarray([0.5]))
        array([[[[ 8.5, 12.5],
                 [20.5, 24.5]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html
    """
    at = windows.convolution(
        "conv2d", 2, x.shape, weight.shape, bias, stride=stride, padding=padding, dilation=dilation,
        groups=groups,
    )  # fmt: skip
    return _convolve(x, weight, bias, at, groups)


@op(promoted=("x", "weight", "bias"))
@through_numbers
def conv3d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Array:
    """The cross-correlation over three spatial axes, y[o, i] = Σ x[c, s·i + d·k] · w[o, c, k].

    Args:
        x: `(batch, in, depth, height, width)`, floating.
        weight: `(out, in / groups, kernel_depth, kernel_height, kernel_width)`, of the dtype of x.
        bias: `(out,)`, or None.
        stride: the step s between windows; an integer, or one for each axis.
        padding: zeros around x: an integer, one for each axis, or pairs (before, after);
            ``"valid"``: none; ``"same"``: so that the output has ⌈size / stride⌉ elements,
            the odd one after.
        dilation: the step d between the elements of a window.
        groups: the number of groups of channels; each group of output channels depends on one
            group of input channels.

    Returns:
        `(batch, out, out_depth, out_height, out_width)`,
        out_size = ⌊(size + pads − d·(kernel − 1) − 1) / s⌋ + 1.

    Raises:
        ShapeError: the channels or the ranks do not match, or the window is larger than x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.conv3d(np.ones((1, 2, 3, 3, 3)), np.ones((1, 2, 3, 3, 3)))
        array([[[[[54.]]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv3d.html
    """
    at = windows.convolution(
        "conv3d", 3, x.shape, weight.shape, bias, stride=stride, padding=padding, dilation=dilation,
        groups=groups,
    )  # fmt: skip
    return _convolve(x, weight, bias, at, groups)


@op(promoted=("x", "weight", "bias"))
@through_numbers
def conv_transpose1d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    output_padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Array:
    """The transpose of `conv1d`: every element of x adds its multiple of the kernel.

    It inverts the shape of a convolution with the same settings, not its values.

    Args:
        x: `(batch, in, length)`, floating.
        weight: `(in, out / groups, kernel)`, of the dtype of x.
        bias: `(out,)`, or None.
        stride: the step between the kernels in the output.
        padding: the size to crop from the output at each side: an integer,
            or pairs (before, after); ``"valid"``: nothing.
        output_padding: the size to add at the end of the output, because several input sizes of a
            strided convolution give one output size.
        dilation: the step between the elements of the kernel.
        groups: as in `conv1d`.

    Returns:
        `(batch, out, out_length)`,
        out_size = (size − 1)·stride − pads + dilation·(kernel − 1) + output_padding + 1.

    Raises:
        ShapeError: the channels or the ranks do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[1.0, 10.0]]])
        >>> na.conv_transpose1d(x, np.asarray([[[1.0, 2.0]]]), stride=2)
        array([[[ 1.,  2., 10., 20.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose1d.html
    """
    at = windows.transposed_convolution(
        "conv_transpose1d", 1, x.shape, weight.shape, bias, stride=stride, padding=padding,
        output_padding=output_padding, dilation=dilation, groups=groups,
    )  # fmt: skip
    return _convolve_transposed(x, weight, bias, at, groups)


@op(promoted=("x", "weight", "bias"))
@through_numbers
def conv_transpose2d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    output_padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Array:
    """The transpose of `conv2d`: every element of x adds its multiple of the kernel.

    It inverts the shape of a convolution with the same settings, not its values.

    Args:
        x: `(batch, in, height, width)`, floating.
        weight: `(in, out / groups, kernel_height, kernel_width)`, of the dtype of x.
        bias: `(out,)`, or None.
        stride: the step between the kernels in the output.
        padding: the size to crop from the output at each side: an integer, one for each axis,
            or pairs (before, after); ``"valid"``: nothing.
        output_padding: the size to add at the end of the output, because several input sizes of a
            strided convolution give one output size.
        dilation: the step between the elements of the kernel.
        groups: as in `conv2d`.

    Returns:
        `(batch, out, out_height, out_width)`,
        out_size = (size − 1)·stride − pads + dilation·(kernel − 1) + output_padding + 1.

    Raises:
        ShapeError: the channels or the ranks do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[[1.0, 10.0]]]])
        >>> na.conv_transpose2d(x, np.ones((1, 1, 2, 2)))
        array([[[[ 1., 11., 10.],
                 [ 1., 11., 10.]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose2d.html
    """
    at = windows.transposed_convolution(
        "conv_transpose2d", 2, x.shape, weight.shape, bias, stride=stride, padding=padding,
        output_padding=output_padding, dilation=dilation, groups=groups,
    )  # fmt: skip
    return _convolve_transposed(x, weight, bias, at, groups)


@op(promoted=("x", "weight", "bias"))
@through_numbers
def conv_transpose3d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Ints = 1,
    padding: Padding = 0,
    output_padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Array:
    """The transpose of `conv3d`: every element of x adds its multiple of the kernel.

    It inverts the shape of a convolution with the same settings, not its values.

    Args:
        x: `(batch, in, depth, height, width)`, floating.
        weight: `(in, out / groups, kernel_depth, kernel_height, kernel_width)`, of the dtype of x.
        bias: `(out,)`, or None.
        stride: the step between the kernels in the output.
        padding: the size to crop from the output at each side: an integer, one for each axis,
            or pairs (before, after); ``"valid"``: nothing.
        output_padding: the size to add at the end of the output, because several input sizes of a
            strided convolution give one output size.
        dilation: the step between the elements of the kernel.
        groups: as in `conv3d`.

    Returns:
        `(batch, out, out_depth, out_height, out_width)`,
        out_size = (size − 1)·stride − pads + dilation·(kernel − 1) + output_padding + 1.

    Raises:
        ShapeError: the channels or the ranks do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.conv_transpose3d(np.ones((1, 2, 1, 1, 1)), np.ones((2, 3, 2, 2, 2))).shape
        (1, 3, 2, 2, 2)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose3d.html
    """
    at = windows.transposed_convolution(
        "conv_transpose3d", 3, x.shape, weight.shape, bias, stride=stride, padding=padding,
        output_padding=output_padding, dilation=dilation, groups=groups,
    )  # fmt: skip
    return _convolve_transposed(x, weight, bias, at, groups)


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def unfold(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
) -> Array:
    """The patches under sliding windows, as columns (also known as im2col).

    Args:
        x: `(batch, channels, *spatial)`, any number.
        kernel_size: the size of a patch; an integer, or one for each spatial axis.
        stride: the step between patches.
        padding: zeros around x, as in `conv2d`.
        dilation: the step between the elements of a patch.

    Returns:
        `(batch, channels · kernel, patches)`: the channel varies slowest, then the
        position in the patch.

    Raises:
        ShapeError: the window is larger than the padded x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unfold(np.asarray([[[1.0, 2.0, 3.0]]]), kernel_size=2)
        array([[[1., 2.],
                [2., 3.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.unfold.html
    """
    sizes = ops.shape(x)
    at = windows.settings(
        "unfold", sizes[2:], kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    output = at.output(sizes[2:])
    columns = _patches(_padded(x, at.padding), at, output)
    lead = -1 if x.shape[1] else sizes[0]  # -1 cannot be inferred for an empty array
    return ops.reshape(columns, (lead, sizes[1] * math.prod(at.kernel), math.prod(output)))


@op(traits=Trait.LINEAR)
@through_numbers
def fold(
    x: Array,
    /,
    *,
    output_size: Ints,
    kernel_size: Ints,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
) -> Array:
    """Sum patches at their original positions: the transpose of `unfold` as a linear map.

    Args:
        x: `(batch, channels · kernel, patches)`, any number.
        output_size: the spatial sizes of the result; their count is the number of axes.
        kernel_size: the size of a patch; an integer, or one for each spatial axis.
        stride: the step between patches.
        padding: the padding of `unfold`, which is removed.
        dilation: the step between the elements of a patch.

    Returns:
        `(batch, channels, *output_size)`.

    Raises:
        ShapeError: the number of patches does not match `output_size`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> columns = np.asarray([[[1.0, 2.0], [2.0, 3.0]]])
        >>> na.fold(columns, output_size=(3,), kernel_size=2)
        array([[[1., 4., 3.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.fold.html
    """
    sizes = (output_size,) if isinstance(output_size, int) else tuple(output_size)
    at = windows.settings(
        "fold", sizes, kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    output = at.output(sizes)
    size = math.prod(at.kernel)
    if len(x.shape) != 3 or x.shape[1] % size or x.shape[2] != math.prod(output):
        raise ShapeError(
            f"fold: x has shape {tuple(x.shape)}, expected (batch, channels · {size}, "
            f"{math.prod(output)}): the patches of size {at.kernel} of an array of size {sizes}"
        )
    lead = -1 if x.shape[1] else x.shape[0]
    patches = ops.reshape(x, (lead, x.shape[1] // size, size, *output))
    padded = [n + low + high for n, (low, high) in zip(sizes, at.padding)]
    total = None
    for index, place in enumerate(at.offsets(output)):
        part = spread(patches[:, :, index], at.stride)
        around = [(p.start, n - p.stop) for p, n in zip(place, padded)]
        part = ops.pad(part, [(0, 0), (0, 0), *around])
        total = part if total is None else ops.add(total, part)
    return _padded(total, [(-low, -high) for low, high in at.padding])


def _convolve(
    x: Array, weight: Array, bias: Array | None, at: windows.Windows, groups: int
) -> Array:
    """Gather the patches, then one matrix product a group."""
    out, channels = weight.shape[:2]
    size = channels * math.prod(at.kernel)
    output = at.output(x.shape[2:])
    columns = _patches(_padded(x, at.padding), at, output)
    columns = ops.reshape(columns, (-1, groups, size, math.prod(output)))
    kernels = ops.reshape(weight, (groups, out // groups, size))
    product = ops.reshape(ops.matmul(kernels, columns), (-1, out, *output))
    return product if bias is None else ops.add(product, _on_channels(bias, len(output)))


def _convolve_transposed(
    x: Array, weight: Array, bias: Array | None, at: windows.Transposed, groups: int
) -> Array:
    """A plain convolution of x with zeros between its elements and the kernel reversed."""
    count = len(at.output_padding)
    channels, out, *kernel = weight.shape
    flipped = ops.flip(weight, axis=tuple(range(2, 2 + count)))
    flipped = ops.reshape(flipped, (groups, channels // groups, out, *kernel))
    flipped = ops.permute_dims(flipped, (0, 2, 1, *range(3, 3 + count)))
    flipped = ops.reshape(flipped, (groups * out, channels // groups, *kernel))
    wide = _padded(spread(x, at.windows.stride), at.input_padding)
    plain = windows.Windows(tuple(kernel), (1,) * count, ((0, 0),) * count, at.windows.dilation)
    return _convolve(wide, flipped, bias, plain, groups)


def _patches(x: Array, at: windows.Windows, output: Sequence[int]) -> Array:
    """`(batch, channels, kernel, *output)`: the elements of all windows over a padded x."""
    lead = (slice(None), slice(None))
    return ops.stack([x[lead + place] for place in at.offsets(output)], axis=2)


def _padded(x: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    """x with zeros around its spatial axes; negative numbers take elements off."""
    if any(low > 0 or high > 0 for low, high in pairs):
        x = ops.pad(x, [(0, 0), (0, 0), *((max(low, 0), max(high, 0)) for low, high in pairs)])
    if any(low < 0 or high < 0 for low, high in pairs):
        kept = (slice(-min(low, 0), n + min(high, 0)) for n, (low, high) in zip(x.shape[2:], pairs))
        x = x[(slice(None), slice(None), *kept)]
    return x


def spread(x: Array, stride: Sequence[int], value: float = 0) -> Array:
    """x with stride − 1 times `value` between the elements of its last axes, one for each stride."""
    if all(s == 1 for s in stride):
        return x
    front = len(x.shape) - len(stride)
    lead, sizes = (-1, *x.shape[1:front])[:front], tuple(x.shape[front:])
    gaps = [pair for s in stride for pair in ((0, 0), (0, s - 1))]
    interleaved = [size for n in sizes for size in (n, 1)]
    x = ops.reshape(x, (*lead, *interleaved))
    x = ops.pad(x, [(0, 0)] * front + gaps, constant_values=value)
    x = ops.reshape(x, (*lead, *(n * s for n, s in zip(sizes, stride))))
    kept = tuple(slice(0, max((n - 1) * s + 1, 0)) for n, s in zip(sizes, stride))
    return x[(*(slice(None),) * front, *kept)]


def _on_channels(bias: Array, count: int) -> Array:
    return ops.reshape(bias, (-1,) + (1,) * count)
