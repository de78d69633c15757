"""Rules of patch extraction and its transpose, from which convolutions are composed.

A convolution is one matrix product with the patches of its input, and so is its default
body here; the patches are one op with one transpose each way, so nothing is done position by
position that NumPy can do at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nestarray import ops
from nestarray.numerics import windows
from nestarray.transforms.autodiff.rules import Composed, Linear, Rule


def _unfold(
    ct: Any, x: Any, *, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Any:
    at = windows.settings(
        "unfold", x.shape[2:], kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    return ops.fold(
        ct, output_size=x.shape[2:], kernel_size=at.kernel, stride=at.stride, padding=at.padding,
        dilation=at.dilation,
    )  # fmt: skip


def _fold(
    ct: Any, x: Any, *, output_size: Any, kernel_size: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1,
) -> Any:  # fmt: skip
    return ops.unfold(
        ct, kernel_size=_of_axes(kernel_size, ct), stride=stride, padding=padding, dilation=dilation
    )


def _of_axes(setting: Any, x: Any) -> Any:
    return (setting,) * (len(x.shape) - 2) if isinstance(setting, int) else setting


def _convolution(count: int) -> Callable[..., Any]:
    name = f"conv{count}d"

    def convolution(
        x: Any, weight: Any, bias: Any = None, *, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        at = windows.convolution(
            name, count, x.shape, weight.shape, bias, stride=stride, padding=padding, dilation=dilation,
            groups=groups,
        )  # fmt: skip
        out, channels = weight.shape[:2]
        size = channels * math.prod(at.kernel)
        columns = ops.unfold(
            x, kernel_size=at.kernel, stride=at.stride, padding=at.padding, dilation=at.dilation
        )
        output = at.output(x.shape[2:])
        columns = ops.reshape(columns, (x.shape[0], groups, size, math.prod(output)))
        kernels = ops.reshape(weight, (groups, out // groups, size))
        product = ops.reshape(ops.matmul(kernels, columns), (x.shape[0], out, *output))
        return product if bias is None else _with_bias(product, bias)

    return convolution


def _transposed_convolution(count: int) -> Callable[..., Any]:
    name = f"conv_transpose{count}d"

    def transposed_convolution(
        x: Any, weight: Any, bias: Any = None, *, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, dilation: Any = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        at = windows.transposed_convolution(
            name, count, x.shape, weight.shape, bias, stride=stride, padding=padding,
            output_padding=output_padding, dilation=dilation, groups=groups,
        )  # fmt: skip
        batch, channels, *sizes = x.shape
        out = weight.shape[1] * groups
        kernels = ops.reshape(weight, (groups, channels // groups, -1))
        elements = ops.reshape(x, (batch, groups, channels // groups, math.prod(sizes)))
        columns = ops.matmul(ops.matrix_transpose(kernels), elements)
        size = math.prod(at.windows.kernel)
        columns = ops.reshape(columns, (batch, out * size, math.prod(sizes)))
        full = [(n - 1) * s + e for n, s, e in zip(sizes, at.windows.stride, at.windows.extent)]
        total = ops.fold(
            columns, output_size=tuple(full), kernel_size=at.windows.kernel,
            stride=at.windows.stride, dilation=at.windows.dilation,
        )  # fmt: skip
        if any(at.output_padding):
            total = ops.pad(total, [(0, 0), (0, 0), *((0, extra) for extra in at.output_padding)])
        kept = tuple(
            slice(low, n - high) for n, (low, high) in zip(total.shape[2:], at.windows.padding)
        )
        total = total[(slice(None), slice(None), *kept)]
        return total if bias is None else _with_bias(total, bias)

    return transposed_convolution


def _with_bias(x: Any, bias: Any) -> Any:
    return ops.add(x, ops.reshape(bias, (-1,) + (1,) * (len(x.shape) - 2)))


RULES: dict[str, Rule] = {
    "unfold": Linear(_unfold),
    "fold": Linear(_fold),
    "conv1d": Composed(_convolution(1)),
    "conv2d": Composed(_convolution(2)),
    "conv3d": Composed(_convolution(3)),
    "conv_transpose1d": Composed(_transposed_convolution(1)),
    "conv_transpose2d": Composed(_transposed_convolution(2)),
    "conv_transpose3d": Composed(_transposed_convolution(3)),
}
