"""PyTorch: `nestarray.ops.convolution_layouts`."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.torch.convolution import _padded
from nestarray.numerics import windows

_NATIVE = (F.conv1d, F.conv2d, F.conv3d)


def _is_last(
    x: Any,
    *_: Any,
    data_format: str = "channels_first",
    weight_format: str = "channels_first",
    **__: Any,
) -> bool:
    """Whether images and kernels have the channels last."""
    is_last = data_format == weight_format == "channels_last"
    return is_last and x.is_floating_point() and 3 <= x.ndim <= 5


@supports(_is_last)
def conv(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "channels_first",
    weight_format: str = "channels_first",
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html"""
    count, of_weight = x.ndim - 2, tuple(weight.shape)
    at = windows.convolution(
        "conv",
        count,
        (x.shape[0], x.shape[-1], *x.shape[1:-1]),
        (*of_weight[:-3:-1], *of_weight[:-2]),
        bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )
    *kernel, inputs, outputs = of_weight
    if all(k == 1 for k in kernel) and groups == 1 and not at.is_padded:
        if any(step != 1 for step in at.stride):
            x = x[(slice(None), *[slice(None, None, step) for step in at.stride])]
        return F.linear(x, weight.reshape(inputs, outputs).t(), bias)
    x, pads = _padded(x.movedim(-1, 1), at.padding)
    # one fast transpose of a matrix, which the backward pass reads too
    rows = weight.reshape(-1, outputs).t().contiguous()
    first = rows.reshape(outputs, *kernel, inputs).movedim(-1, 1)
    out = _NATIVE[count - 1](x, first, bias, at.stride, pads, at.dilation, groups)
    return out.movedim(1, -1)
