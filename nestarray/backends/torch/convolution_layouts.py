"""PyTorch: `nestarray.ops.convolution_layouts`."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from nestarray.backends.base import supports

_NATIVE = (F.conv1d, F.conv2d, F.conv3d)


def _sizes(given: Any, count: int) -> tuple[int, ...]:
    return (given,) * count if isinstance(given, int) else tuple(given)


def _pads(padding: Any, count: int) -> tuple[int, ...] | None:
    """The padding at both ends of each axis; None if the ends differ."""
    if isinstance(padding, str):
        return (0,) * count if padding == "valid" else None
    pairs = [(p, p) if isinstance(p, int) else tuple(p) for p in _sizes(padding, count)]
    if any(len(pair) != 2 or pair[0] != pair[1] or pair[0] < 0 for pair in pairs):
        return None
    return tuple([low for low, _ in pairs])


def _is_last(
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
) -> bool:
    """Whether images and kernels have the channels last, in one group, and the call is valid."""
    count = x.ndim - 2
    if data_format != "channels_last" or weight_format != "channels_last" or groups != 1:
        return False
    if not (0 < count < 4 and weight.ndim == x.ndim and x.shape[-1] == weight.shape[-2]):
        return False
    if not x.is_floating_point() or x.dtype is not weight.dtype:
        return False
    if bias is not None and (bias.dtype is not x.dtype or bias.shape != weight.shape[-1:]):
        return False
    pads = _pads(padding, count)
    steps, gaps = _sizes(stride, count), _sizes(dilation, count)
    if pads is None or not len(pads) == len(steps) == len(gaps) == count:
        return False
    if min(*steps, *gaps, *x.shape, *weight.shape) < 1:
        return False
    kernel = weight.shape[:count]
    return all(n + 2 * p > d * (k - 1) for n, p, d, k in zip(x.shape[1:], pads, gaps, kernel))


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
    count = x.ndim - 2
    pads, steps = _pads(padding, count), _sizes(stride, count)
    *kernel, inputs, outputs = weight.shape
    if all(k == 1 for k in kernel) and pads == (0,) * count:
        if any(step != 1 for step in steps):
            x = x[(slice(None), *[slice(None, None, step) for step in steps])]
        out = torch.matmul(x, weight.reshape(inputs, outputs))
        return out if bias is None else out + bias
    # one fast transpose of a matrix, which the backward pass reads too
    rows = weight.reshape(-1, outputs).t().contiguous()
    first = rows.reshape(outputs, *kernel, inputs).movedim(-1, 1)
    out = _NATIVE[count - 1](x.movedim(-1, 1), first, bias, steps, pads, _sizes(dilation, count))
    return out.movedim(1, -1)
