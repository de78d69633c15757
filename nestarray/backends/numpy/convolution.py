"""NumPy: `nestarray.ops.convolution`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from nestarray.backends.base import supports
from nestarray.backends.numpy.core import in_dtype
from nestarray.numerics import windows


def _patches(x: Any, at: windows.Windows) -> Any:
    """A view `(batch, channels, *kernel, *output)` of the windows over the padded x."""
    if at.is_padded:
        x = np.pad(x, ((0, 0), (0, 0), *at.padding))
    count = len(at.kernel)
    spatial = tuple(range(2, 2 + count))
    view = sliding_window_view(x, at.extent, axis=spatial)
    steps = tuple(slice(None, None, s) for s in at.stride)
    gaps = tuple(slice(None, None, d) for d in at.dilation)
    view = view[(slice(None), slice(None), *steps, *gaps)]
    return view.transpose(0, 1, *range(2 + count, 2 + 2 * count), *spatial)


def _one_dtype(x: Any, weight: Any, bias: Any = None, **_: Any) -> bool:
    return x.dtype == weight.dtype and (bias is None or bias.dtype == x.dtype)


def _convolution(count: int) -> Callable[..., Any]:
    @supports(_one_dtype)
    def convolution(
        x: Any,
        weight: Any,
        bias: Any = None,
        *,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        """https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html"""
        at = windows.convolution(
            f"conv{count}d",
            count,
            x.shape,
            weight.shape,
            bias,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
        )
        patches = _patches(x, at)
        output = patches.shape[2 + count :]
        out, channels = weight.shape[:2]
        size = channels * math.prod(at.kernel)
        columns = patches.reshape(len(x), groups, size, math.prod(output))
        kernels = weight.reshape(groups, out // groups, size)
        product = np.matmul(kernels, columns).reshape(len(x), out, *output)
        product = product if bias is None else product + bias.reshape(-1, *(1,) * count)
        return in_dtype(product, x.dtype)

    return convolution


conv1d = _convolution(1)
conv2d = _convolution(2)
conv3d = _convolution(3)


def _added_up(columns: Any, at: windows.Windows, full: Sequence[int]) -> Any:
    """Add patches `(batch, channels, kernel, *sizes)` at their positions: `(batch, channels,
    *full)`."""
    batch, channels, _, *sizes = columns.shape
    total = np.zeros((batch, channels, *full), columns.dtype)
    for index, place in enumerate(at.offsets(sizes)):
        total[(slice(None), slice(None), *place)] += columns[:, :, index]
    return total


def _transposed_convolution(count: int) -> Callable[..., Any]:
    @supports(_one_dtype)
    def transposed_convolution(
        x: Any,
        weight: Any,
        bias: Any = None,
        *,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        """https://numpy.org/doc/stable/reference/generated/numpy.matmul.html"""
        at = windows.transposed_convolution(
            f"conv_transpose{count}d",
            count,
            x.shape,
            weight.shape,
            bias,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            dilation=dilation,
            groups=groups,
        )
        batch, channels, *sizes = x.shape
        out = weight.shape[1] * groups
        kernels = weight.reshape(groups, channels // groups, -1).swapaxes(1, 2)
        elements = x.reshape(batch, groups, channels // groups, math.prod(sizes))
        size = math.prod(at.windows.kernel)
        columns = np.matmul(kernels, elements).reshape(batch, out, size, *sizes)
        # The full output plus output_padding.
        full = [
            (n - 1) * s + e + extra
            for n, s, e, extra in zip(
                sizes, at.windows.stride, at.windows.extent, at.output_padding
            )
        ]
        total = _added_up(columns, at.windows, full)
        kept = (slice(low, n - high) for n, (low, high) in zip(full, at.windows.padding))
        total = total[(slice(None), slice(None), *kept)]
        total = total if bias is None else total + bias.reshape(-1, *(1,) * count)
        return in_dtype(total, x.dtype)

    return transposed_convolution


conv_transpose1d = _transposed_convolution(1)
conv_transpose2d = _transposed_convolution(2)
conv_transpose3d = _transposed_convolution(3)


def unfold(
    x: Any, /, *, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html"""
    at = windows.settings(
        "unfold", x.shape[2:], kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    patches = _patches(x, at)
    output = patches.shape[2 + len(at.kernel) :]
    return patches.reshape(len(x), x.shape[1] * math.prod(at.kernel), math.prod(output))


def _fold_windows(
    output_size: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> tuple[tuple[int, ...], windows.Windows]:
    sizes = (output_size,) if isinstance(output_size, int) else tuple(output_size)
    at = windows.settings(
        "fold", sizes, kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    return sizes, at


def _are_patches(
    x: Any,
    /,
    *,
    output_size: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
) -> bool:
    """Whether the shapes match; the body raises the error for others."""
    sizes, at = _fold_windows(output_size, kernel_size, stride, padding, dilation)
    return (
        x.ndim == 3
        and x.shape[1] % math.prod(at.kernel) == 0
        and x.shape[2] == math.prod(at.output(sizes))
    )


@supports(_are_patches)
def fold(
    x: Any,
    /,
    *,
    output_size: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.add.html"""
    sizes, at = _fold_windows(output_size, kernel_size, stride, padding, dilation)
    count = math.prod(at.kernel)
    columns = x.reshape(len(x), x.shape[1] // count, count, *at.output(sizes))
    padded = [n + low + high for n, (low, high) in zip(sizes, at.padding)]
    total = _added_up(columns, at, padded)
    kept = (slice(low, n - high) for n, (low, high) in zip(padded, at.padding))
    return total[(slice(None), slice(None), *kept)]
