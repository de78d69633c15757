"""PyTorch: `nestarray.ops.convolution`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.torch.derivatives import order
from nestarray.backends.torch.integers import LACKING
from nestarray.numerics import windows


def _is_native(padding: Any) -> bool:
    """Whether torch supports this padding; it supports ``"same"`` in part, with a warning."""
    if isinstance(padding, str):
        return padding == "valid"
    return isinstance(padding, int) or all(isinstance(p, int) for p in padding)


def _by_axis(padding: Any, count: int) -> Any:
    """Pairs of equal numbers as one number for each axis, which torch supports."""
    if padding.__class__ is not tuple or len(padding) != count:
        return padding
    if any(
        p.__class__ is not tuple or len(p) != 2 or p[0].__class__ is not int or p[0] != p[1]
        for p in padding
    ):
        return padding
    return tuple([low for low, _ in padding])


def _pad(x: Any, pairs: Any) -> Any:
    # torch orders the last axis first
    return F.pad(x, [n for pair in reversed(pairs) for n in pair])


def _padded(x: Any, pairs: Any) -> tuple[Any, Any]:
    """`x` and the padding that remains; a comparison would fix symbolic numbers."""
    if all(isinstance(low, int) and low == high for low, high in pairs):
        return x, [low for low, _ in pairs]
    return _pad(x, pairs), 0


def _convolution(count: int) -> Callable[..., Any]:
    native = getattr(F, f"conv{count}d")

    @supports(lambda x, *args, **kwargs: x.dtype not in LACKING)
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
        """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html"""
        padding = _by_axis(padding, count)
        if x.ndim == count + 2 and _is_native(padding):
            if x.shape[1] == weight.shape[1] == 0:  # the result would have another shape
                x, weight = (F.pad(a, (*[0, 0] * count, 0, 1)) for a in (x, weight))
            try:
                return native(x, weight, bias, stride, padding, dilation, groups)
            except RuntimeError:
                # Raise our error if the shapes are invalid.
                _read(x, weight, bias, stride, padding, dilation, groups)
                raise
        at = _read(x, weight, bias, stride, padding, dilation, groups)
        x, padding = _padded(x, at.padding)
        return native(x, weight, bias, at.stride, padding, at.dilation, groups)

    def _read(
        x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> windows.Windows:
        return windows.convolution(
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

    return convolution


conv1d = _convolution(1)
conv2d = _convolution(2)
conv3d = _convolution(3)


def _transposed_convolution(count: int) -> Callable[..., Any]:
    native = getattr(F, f"conv_transpose{count}d")

    @supports(lambda x, *args, **kwargs: x.is_floating_point() or x.is_complex())
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
        """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose2d.html"""
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
        stride, dilation = at.windows.stride, at.windows.dilation
        is_native = order() < 3 or not any(at.output_padding)  # which its third derivative refuses
        is_native = (
            is_native
            and all(low == high for low, high in at.windows.padding)
            and all(extra < max(s, d) for extra, s, d in zip(at.output_padding, stride, dilation))
        )
        if is_native:
            padding = [low for low, _ in at.windows.padding]
            return native(x, weight, bias, stride, padding, at.output_padding, groups, dilation)
        out = native(x, weight, None, stride, 0, 0, groups, dilation)
        out = _pad(out, [(-low, -high) for low, high in at.crop])
        return out if bias is None else out + bias.reshape(-1, *(1,) * count)

    return transposed_convolution


conv_transpose1d = _transposed_convolution(1)
conv_transpose2d = _transposed_convolution(2)
conv_transpose3d = _transposed_convolution(3)


@supports(
    lambda x, *, kernel_size, stride=1, padding=0, dilation=1: (
        x.ndim == 4
        and x.shape[1]
        and (x.is_floating_point() or x.is_complex())
        and not isinstance(padding, str)
        and _is_native(padding)
        and all(isinstance(n, int) or len(n) == 2 for n in (kernel_size, stride, dilation))
    )
)
def unfold(
    x: Any, /, *, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.unfold.html"""
    return F.unfold(x, kernel_size, dilation, padding, stride)
