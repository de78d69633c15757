"""What convolutions are made of: patches and their transpose.

A convolution is one matrix product with the patches of its input, and so is its default
body here; the patches are one op with one transpose each way, so nothing is done position by
position that NumPy can do at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nestarray import ops
from nestarray.backends import windows
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
            name, count, x.shape, weight.shape, stride=stride, padding=padding, dilation=dilation,
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
        if bias is None:
            return product
        return ops.add(product, ops.reshape(bias, (-1,) + (1,) * count))

    return convolution


RULES: dict[str, Rule] = {
    "unfold": Linear(_unfold),
    "fold": Linear(_fold),
    "conv1d": Composed(_convolution(1)),
    "conv2d": Composed(_convolution(2)),
    "conv3d": Composed(_convolution(3)),
}
