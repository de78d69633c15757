"""PyTorch: `nestarray.ops.pooling`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F

from nestarray.backends import portable
from nestarray.backends.base import supports
from nestarray.numerics import windows


def _is_native(x: Any, count: int, kernel_size: Any, stride: Any, padding: Any) -> bool:
    """Whether torch supports this padding: symmetric, at most half a window."""
    if x.ndim != count + 2 or not x.is_floating_point() or 0 in x.shape[1:]:
        return False
    padding = _symmetric(x, kernel_size, stride, padding)
    if isinstance(padding, str):
        return False
    pads = (padding,) * count if isinstance(padding, int) else tuple(padding)
    kernel = (kernel_size,) * count if isinstance(kernel_size, int) else tuple(kernel_size)
    return (
        len(pads) == len(kernel) == count
        and all(isinstance(p, int) for p in pads)
        and all(0 <= p <= k // 2 for p, k in zip(pads, kernel))
        and all(n + 2 * p >= k > 0 for n, p, k in zip(x.shape[2:], pads, kernel))
    )


def _symmetric(x: Any, kernel_size: Any, stride: Any, padding: Any) -> Any:
    """``"valid"`` and ``"same"`` in integers; unchanged if the ends of an axis differ."""
    if not isinstance(padding, str):
        return padding
    stride = kernel_size if stride is None else stride
    at = windows.settings("pooling", x.shape[2:], kernel_size, stride=stride, padding=padding)
    pairs = at.padding
    return (
        tuple([low for low, _ in pairs])
        if all(isinstance(a, int) and a == b for a, b in pairs)
        else padding
    )


def _max_pool(count: int) -> Callable[..., Any]:
    native = getattr(F, f"max_pool{count}d")

    def is_native(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> bool:
        is_plain = windows.is_dense(dilation, count) and stride != ()
        return is_plain and _is_native(x, count, kernel_size, stride, padding)

    @supports(is_native)
    def max_pool(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html"""
        padding = _symmetric(x, kernel_size, stride, padding)
        return native(x, kernel_size, stride, padding, dilation, ceil_mode)

    return max_pool


max_pool1d = _max_pool(1)
max_pool2d = _max_pool(2)
max_pool3d = _max_pool(3)


def _avg_pool(count: int) -> Callable[..., Any]:
    native = getattr(F, f"avg_pool{count}d")

    def is_native(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> bool:
        if count == 1 and divisor_override is not None:  # avg_pool1d lacks this setting
            return False
        if count == 3 and x.is_cpu and x.itemsize < 4:  # no kernel for half precision
            return False
        if count == 3 and not _is_native(
            x, 3, kernel_size, stride, 0
        ):  # torch does not count the padding
            return False
        return stride != () and _is_native(x, count, kernel_size, stride, padding)

    @supports(is_native)
    def avg_pool(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool2d.html"""
        padding = _symmetric(x, kernel_size, stride, padding)
        # wrong gradients on CUDA: https://github.com/pytorch/pytorch/issues/188344
        if x.is_cuda and padding not in (0, (0,) * count):
            x = x.contiguous()  # the channels first
        settings = (kernel_size, stride, padding, ceil_mode, count_include_pad)
        return native(x, *settings) if count == 1 else native(x, *settings, divisor_override)

    return avg_pool


avg_pool1d = _avg_pool(1)
avg_pool2d = _avg_pool(2)
avg_pool3d = _avg_pool(3)


def _adaptive(name: str, count: int) -> Callable[..., Any]:
    native = getattr(F, f"{name}{count}d")

    def is_native(x: Any, /, *, output_size: Any) -> bool:
        if x.ndim != count + 2 or not x.is_floating_point() or 0 in x.shape[1:]:
            return False
        if portable.are_wanted() and not all(isinstance(n, int) for n in x.shape[2:]):
            return output_size == 1 or set(output_size) == {1}  # ONNX has parts of fixed sizes
        if isinstance(output_size, int):
            return output_size > 0
        if len(output_size) != count or output_size == (None,):
            return False
        return all(n is None or n > 0 for n in output_size)

    @supports(is_native)
    def adaptive_pool(x: Any, /, *, output_size: Any) -> Any:
        """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool2d.html"""
        return native(x, output_size)

    return adaptive_pool


adaptive_avg_pool1d = _adaptive("adaptive_avg_pool", 1)
adaptive_avg_pool2d = _adaptive("adaptive_avg_pool", 2)
adaptive_avg_pool3d = _adaptive("adaptive_avg_pool", 3)
adaptive_max_pool1d = _adaptive("adaptive_max_pool", 1)
adaptive_max_pool2d = _adaptive("adaptive_max_pool", 2)
adaptive_max_pool3d = _adaptive("adaptive_max_pool", 3)
