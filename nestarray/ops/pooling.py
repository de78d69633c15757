"""Max pooling and average pooling; channels first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

from nestarray import dtypes, ops
from nestarray.backends.base import mean_dtype, refuse_complex
from nestarray.backends.precision import rounded_once
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints, Padding
from nestarray.typing import Array

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]
TRAITS = Trait.HALF_SAFE


@op
@through_numbers
def max_pool1d(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Array:
    """Max pooling: the maximum in sliding windows over one spatial axis.

    A window with NaN gives NaN; TensorFlow ignores NaN. Of equal maxima, the first
    has the derivative.

    Args:
        x: `(batch, channels, length)`, real.
        kernel_size: the size of a window; an integer.
        stride: the step between windows; None: `kernel_size`.
        padding: −∞ around x, counted as in `conv1d`.
        dilation: the step between the elements of a window.
        ceil_mode: include a last window that extends beyond the end, if it starts inside.

    Returns:
        `(batch, channels, out_length)`.

    Raises:
        ShapeError: the window is larger than the padded x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.max_pool1d(np.asarray([[[1.0, 3.0, 2.0, 5.0]]]), kernel_size=2)
        array([[[3., 5.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool1d.html
    """
    at = windows.pooling(
        "max_pool1d", 1, x.shape, kernel_size, stride=stride, padding=padding,
        dilation=dilation, ceil_mode=ceil_mode,
    )  # fmt: skip
    return _max_pool(x, at)


@op
@through_numbers
def max_pool2d(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Array:
    """Max pooling: the maximum in sliding windows over two spatial axes.

    A window with NaN gives NaN; TensorFlow ignores NaN. Of equal maxima, the first
    has the derivative.

    Args:
        x: `(batch, channels, height, width)`, real.
        kernel_size: the size of a window; an integer, or one for each axis.
        stride: the step between windows; None: `kernel_size`.
        padding: −∞ around x, counted as in `conv2d`.
        dilation: the step between the elements of a window.
        ceil_mode: include a last window that extends beyond the end, if it starts inside.

    Returns:
        `(batch, channels, out_height, out_width)`.

    Raises:
        ShapeError: the window is larger than the padded x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.max_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), kernel_size=2)
        array([[[[ 5.,  7.],
                 [13., 15.]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html
    """
    at = windows.pooling(
        "max_pool2d", 2, x.shape, kernel_size, stride=stride, padding=padding,
        dilation=dilation, ceil_mode=ceil_mode,
    )  # fmt: skip
    return _max_pool(x, at)


@op
@through_numbers
def max_pool3d(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Array:
    """Max pooling: the maximum in sliding windows over three spatial axes.

    A window with NaN gives NaN; TensorFlow ignores NaN. Of equal maxima, the first
    has the derivative.

    Args:
        x: `(batch, channels, depth, height, width)`, real.
        kernel_size: the size of a window; an integer, or one for each axis.
        stride: the step between windows; None: `kernel_size`.
        padding: −∞ around x, counted as in `conv3d`.
        dilation: the step between the elements of a window.
        ceil_mode: include a last window that extends beyond the end, if it starts inside.

    Returns:
        `(batch, channels, out_depth, out_height, out_width)`.

    Raises:
        ShapeError: the window is larger than the padded x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.max_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), kernel_size=2)
        array([[[[[7.]]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool3d.html
    """
    at = windows.pooling(
        "max_pool3d", 3, x.shape, kernel_size, stride=stride, padding=padding,
        dilation=dilation, ceil_mode=ceil_mode,
    )  # fmt: skip
    return _max_pool(x, at)


@op
@rounded_once
def avg_pool1d(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """Average pooling: the mean in sliding windows over one spatial axis.

    Args:
        x: `(batch, channels, length)`, floating.
        kernel_size: the size of a window; an integer.
        stride: the step between windows; None: `kernel_size`.
        padding: zeros around x, counted as in `conv1d`.
        ceil_mode: include a last window that extends beyond the end, if it starts inside;
            positions beyond the padding are excluded from the mean.
        count_include_pad: include the zeros of the padding in the mean.
        divisor_override: divide the sums by this instead of the number of elements.

    Returns:
        `(batch, channels, out_length)`.

    Raises:
        ShapeError: the window is larger than the padded x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.avg_pool1d(np.asarray([[[1.0, 3.0, 2.0, 5.0]]]), kernel_size=2)
        array([[[2. , 3.5]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool1d.html
    """
    at = windows.pooling(
        "avg_pool1d", 1, x.shape, kernel_size, stride=stride, padding=padding,
        ceil_mode=ceil_mode, divisor=divisor_override,
    )  # fmt: skip
    return _avg_pool(x, at, count_include_pad, divisor_override)


@op
@rounded_once
def avg_pool2d(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """Average pooling: the mean in sliding windows over two spatial axes.

    Args:
        x: `(batch, channels, height, width)`, floating.
        kernel_size: the size of a window; an integer, or one for each axis.
        stride: the step between windows; None: `kernel_size`.
        padding: zeros around x, counted as in `conv2d`.
        ceil_mode: include a last window that extends beyond the end, if it starts inside;
            positions beyond the padding are excluded from the mean.
        count_include_pad: include the zeros of the padding in the mean.
        divisor_override: divide the sums by this instead of the number of elements.

    Returns:
        `(batch, channels, out_height, out_width)`.

    Raises:
        ShapeError: the window is larger than the padded x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.avg_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), kernel_size=2)
        array([[[[ 2.5,  4.5],
                 [10.5, 12.5]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool2d.html
    """
    at = windows.pooling(
        "avg_pool2d", 2, x.shape, kernel_size, stride=stride, padding=padding,
        ceil_mode=ceil_mode, divisor=divisor_override,
    )  # fmt: skip
    return _avg_pool(x, at, count_include_pad, divisor_override)


@op
@rounded_once
def avg_pool3d(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """Average pooling: the mean in sliding windows over three spatial axes.

    Args:
        x: `(batch, channels, depth, height, width)`, floating.
        kernel_size: the size of a window; an integer, or one for each axis.
        stride: the step between windows; None: `kernel_size`.
        padding: zeros around x, counted as in `conv3d`.
        ceil_mode: include a last window that extends beyond the end, if it starts inside;
            positions beyond the padding are excluded from the mean.
        count_include_pad: include the zeros of the padding in the mean.
        divisor_override: divide the sums by this instead of the number of elements.

    Returns:
        `(batch, channels, out_depth, out_height, out_width)`.

    Raises:
        ShapeError: the window is larger than the padded x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.avg_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), kernel_size=2)
        array([[[[[3.5]]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool3d.html
    """
    at = windows.pooling(
        "avg_pool3d", 3, x.shape, kernel_size, stride=stride, padding=padding,
        ceil_mode=ceil_mode, divisor=divisor_override,
    )  # fmt: skip
    return _avg_pool(x, at, count_include_pad, divisor_override)


@op
def adaptive_avg_pool1d(x: Array, /, *, output_size: int | Sequence[int | None]) -> Array:
    """Adaptive average pooling: the mean of `output_size` parts of one spatial axis.

    Part i of n reaches from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉.

    Args:
        x: `(batch, channels, length)`, floating.
        output_size: the number of parts.

    Returns:
        `(batch, channels, *output_size)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.adaptive_avg_pool1d(np.asarray([[[1.0, 3.0, 2.0]]]), output_size=2)
        array([[[2. , 2.5]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool1d.html
    """
    return _adaptive("adaptive_avg_pool1d", 1, x, output_size, _mean_of_parts, _mean_of_grid)


@op
def adaptive_avg_pool2d(x: Array, /, *, output_size: int | Sequence[int | None]) -> Array:
    """Adaptive average pooling: the mean of `output_size` parts of two spatial axes.

    Part i of n reaches from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉.

    Args:
        x: `(batch, channels, height, width)`, floating.
        output_size: the number of parts, for all axes or for each; None: one part per element.

    Returns:
        `(batch, channels, *output_size)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.adaptive_avg_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), output_size=1)
        array([[[[7.5]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool2d.html
    """
    return _adaptive("adaptive_avg_pool2d", 2, x, output_size, _mean_of_parts, _mean_of_grid)


@op
def adaptive_avg_pool3d(x: Array, /, *, output_size: int | Sequence[int | None]) -> Array:
    """Adaptive average pooling: the mean of `output_size` parts of three spatial axes.

    Part i of n reaches from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉.

    Args:
        x: `(batch, channels, depth, height, width)`, floating.
        output_size: the number of parts, for all axes or for each; None: one part per element.

    Returns:
        `(batch, channels, *output_size)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.adaptive_avg_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), output_size=1)
        array([[[[[3.5]]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool3d.html
    """
    return _adaptive("adaptive_avg_pool3d", 3, x, output_size, _mean_of_parts, _mean_of_grid)


@op
def adaptive_max_pool1d(x: Array, /, *, output_size: int | Sequence[int | None]) -> Array:
    """Adaptive max pooling: the maximum of `output_size` parts of one spatial axis.

    Part i of n reaches from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉.

    Args:
        x: `(batch, channels, length)`, real.
        output_size: the number of parts.

    Returns:
        `(batch, channels, *output_size)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.adaptive_max_pool1d(np.asarray([[[1.0, 3.0, 2.0]]]), output_size=2)
        array([[[3., 3.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool1d.html
    """
    return _adaptive("adaptive_max_pool1d", 1, x, output_size, _max_of_parts, _max_of_grid)


@op
def adaptive_max_pool2d(x: Array, /, *, output_size: int | Sequence[int | None]) -> Array:
    """Adaptive max pooling: the maximum of `output_size` parts of two spatial axes.

    Part i of n reaches from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉.

    Args:
        x: `(batch, channels, height, width)`, real.
        output_size: the number of parts, for all axes or for each; None: one part per element.

    Returns:
        `(batch, channels, *output_size)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.adaptive_max_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), output_size=1)
        array([[[[15.]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool2d.html
    """
    return _adaptive("adaptive_max_pool2d", 2, x, output_size, _max_of_parts, _max_of_grid)


@op
def adaptive_max_pool3d(x: Array, /, *, output_size: int | Sequence[int | None]) -> Array:
    """Adaptive max pooling: the maximum of `output_size` parts of three spatial axes.

    Part i of n reaches from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉.

    Args:
        x: `(batch, channels, depth, height, width)`, real.
        output_size: the number of parts, for all axes or for each; None: one part per element.

    Returns:
        `(batch, channels, *output_size)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.adaptive_max_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), output_size=1)
        array([[[[[7.]]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool3d.html
    """
    return _adaptive("adaptive_max_pool3d", 3, x, output_size, _max_of_parts, _max_of_grid)


def _max_pool(x: Array, at: windows.Windows) -> Array:
    """The elementwise maximum of one strided slice for each position in the window.

    The first of equal elements is selected, for its derivative.
    """
    refuse_complex(x)
    if at.is_padded:
        x = ops.pad(x, [(0, 0), (0, 0), *at.padding], constant_values=lowest(x))
    return reduce(first_maximum, _slices(x, at))


def first_maximum(x1: Array, x2: Array) -> Array:
    """The elementwise maximum, with the derivative of the first of equal elements."""
    is_first = ops.logical_or(ops.greater_equal(x1, x2), ops.isnan(x1))
    return ops.where(is_first, x1, x2)


def _avg_pool(x: Array, at: windows.Windows, count_include_pad: bool, divisor: int | None) -> Array:
    """The sum of one strided slice for each position in the window, divided by their number."""
    x = ops.astype(x, mean_dtype(x), copy=False)
    total = _total(x, at)
    if divisor is not None:
        return total / float(divisor)
    counts = windows.counts(at, tuple(x.shape[2:]), count_include_pad=count_include_pad)
    if counts is None:
        return total / _numbers(x, at, count_include_pad)
    if all(len(set(along)) == 1 for along in counts):
        return total / float(math.prod(along[0] for along in counts))
    for axis, along in enumerate(counts):
        shape = (-1,) + (1,) * (len(counts) - 1 - axis)
        number = ops.asarray([float(n) for n in along], dtype=dtypes.dtype_of(x), like=x)
        total = total / ops.reshape(number, shape)
    return total


def _total(x: Array, at: windows.Windows) -> Array:
    if at.is_padded:
        x = ops.pad(x, [(0, 0), (0, 0), *at.padding])
    return reduce(ops.add, _slices(x, at))


def _numbers(x: Array, at: windows.Windows, count_include_pad: bool) -> Array:
    """`windows.counts` for open sizes: the sums of ones in the windows, (1, 1, *spatial)."""
    ones = ops.ones((1, 1, *ops.shape(x)[2:]), dtype=dtypes.dtype_of(x), like=x)
    if count_include_pad:
        counted = [(low, high - end) for (low, high), end in zip(at.padding, at.overhang)]
        ones = ops.pad(ones, [(0, 0), (0, 0), *counted], constant_values=1)
        at = at._replace(padding=tuple([(0, end) for _, end in zip(at.padding, at.overhang)]))
    return ops.maximum(_total(ones, at), 1)


def _slices(padded: Array, at: windows.Windows) -> list[Array]:
    sizes = padded.shape[2:]
    output = tuple((n - e) // s + 1 for n, e, s in zip(sizes, at.extent, at.stride))
    return [padded[(slice(None), slice(None), *place)] for place in at.offsets(output)]


def lowest(x: Array) -> float:
    """The smallest value of the dtype of x, which pads a maximum."""
    dtype = dtypes.dtype_of(x)
    if dtype.is_floating:
        return -math.inf
    return 0 if dtype.kind in ("uint", "bool") else -(2 ** (dtype.bits - 1))


def _adaptive(
    name: str,
    count: int,
    x: Array,
    output_size: int | Sequence[int | None],
    of_parts: Callable[[Array, int, int], Array],
    of_grid: Callable[[Array, Array], Array],
) -> Array:
    """Reduce one axis after the other: means of parts of a grid, and maxima, are separable.

    The last axis comes first, so that the first of equal maxima is the first in memory.
    ``of_parts(x, axis, n)`` reduces an axis to n equal parts; ``of_grid(x, is_in)`` reduces the last
    axis, of an open size, to the parts of `_grid`.
    """
    if len(x.shape) != count + 2:
        raise ShapeError(
            f"{name}: x has {len(x.shape)} axes, shape {tuple(x.shape)}, expected {count + 2}: "
            f"(batch, channels, *spatial) with {count} spatial"
        )
    if 0 in tuple(x.shape[2:]):
        raise ShapeError(
            f"{name}: x: got shape {tuple(x.shape)}, expected at least one element along each "
            "spatial axis"
        )
    sizes = (output_size,) * count if isinstance(output_size, int) else tuple(output_size)
    sizes = sizes * count if len(sizes) == 1 else sizes
    if len(sizes) != count or any(
        isinstance(n, int) and (n.__class__ is bool or n < 1) for n in sizes
    ):
        raise ArgumentError(
            f"{name}: output_size: got {output_size!r}, expected a positive integer"
            + ("" if count == 1 else f" or {count} of them")
        )
    for axis, parts in reversed(list(enumerate(sizes, start=2))):
        size = ops.shape(x)[axis]
        if parts is None:
            continue
        if not (isinstance(size, int) and isinstance(parts, int)):
            x = ops.moveaxis(of_grid(ops.moveaxis(x, axis, -1), _grid(x, size, parts)), -1, axis)
        elif parts == size:
            continue
        elif size % parts == 0:
            x = of_parts(x, axis, parts)
        else:
            lead = (slice(None),) * axis
            ends = [(i * size // parts, -(-(i + 1) * size // parts)) for i in range(parts)]
            x = ops.concat([of_parts(x[(*lead, slice(*e))], axis, 1) for e in ends], axis=axis)
    return x


def _grid(x: Array, size: int, parts: int) -> Array:
    """`(parts, size)`: whether an element is in a part."""
    place = ops.arange(size, like=x)
    part = ops.expand_dims(ops.arange(parts, like=x), -1)
    is_after = ops.greater(ops.multiply(place + 1, parts), ops.multiply(part, size))
    return ops.logical_and(
        is_after, ops.less(ops.multiply(place, parts), ops.multiply(part + 1, size))
    )


def _mean_of_grid(x: Array, is_in: Array) -> Array:
    shares = ops.astype(is_in, mean_dtype(x))
    shares = shares / ops.sum(shares, axis=1, keepdims=True)
    return ops.matmul(x, ops.matrix_transpose(shares))


def _max_of_grid(x: Array, is_in: Array) -> Array:
    """The derivative is of the first of equal elements, as by `max_pool`."""
    found = ops.where(is_in, ops.expand_dims(x, -2), lowest(x))
    place = ops.argmax(found, axis=-1, keepdims=True)
    return ops.squeeze(ops.take_along_axis(found, place, axis=-1), -1)


def _mean_of_parts(x: Array, axis: int, parts: int) -> Array:
    if parts == 1:
        return ops.mean(x, axis=axis, keepdims=True)
    shape = tuple(x.shape)
    batch = shape[0] if 0 in shape[1:] else -1  # it may be unknown, unlike the channels
    split = (batch, *shape[1:axis], parts, shape[axis] // parts, *shape[axis + 1 :])
    return ops.mean(ops.reshape(x, split), axis=axis + 1)


def _max_of_parts(x: Array, axis: int, parts: int) -> Array:
    count = len(x.shape) - 2
    kernel = tuple([x.shape[axis] // parts if i == axis else 1 for i in range(2, count + 2)])
    pool = (ops.max_pool1d, ops.max_pool2d, ops.max_pool3d)[count - 1]
    return pool(x, kernel_size=kernel)
