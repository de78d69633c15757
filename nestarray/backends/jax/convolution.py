"""JAX: `nestarray.ops.convolution`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from nestarray.numerics import windows
from nestarray.typing import is_unknown_size


def _add_bias(out: Any, bias: Any, count: int) -> Any:
    return out if bias is None else out + bias.reshape(-1, *(1,) * count)


def _padded(x: Any, padding: Any) -> tuple[Any, Any]:
    """`x` and the padding that remains: convolutions take no symbolic padding."""
    if windows.is_known(padding):
        return x, padding
    widths = [(0, 0, 0), (0, 0, 0), *((low, high, 0) for low, high in padding)]
    return lax.pad(x, jnp.zeros((), x.dtype), widths), [(0, 0)] * len(padding)


def _convolution(count: int) -> Callable[..., Any]:
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
        """https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_general_dilated.html"""
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
        x, around = _padded(x, at.padding)
        out = lax.conv_general_dilated(
            x,
            weight,
            at.stride,
            around,
            rhs_dilation=at.dilation,
            feature_group_count=groups,
        )
        return _add_bias(out, bias, count)

    return convolution


conv1d = _convolution(1)
conv2d = _convolution(2)
conv3d = _convolution(3)


def _transposed_convolution(count: int) -> Callable[..., Any]:
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
        """https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_general_dilated.html"""
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
        spread = at.windows.stride
        size = math.prod(x.shape[2:])
        if not is_unknown_size(size) and size <= math.prod(weight.shape[2:]):
            # XLA swaps a small image with its kernel, and aborts if only some axes are smaller
            x = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, s - 1) for s in (1, 1, *spread)])
            spread = (1,) * count
        out = lax.conv_general_dilated(
            x,
            _reversed(weight, groups),
            (1,) * count,
            at.input_padding,
            lhs_dilation=spread,
            rhs_dilation=at.windows.dilation,
            feature_group_count=groups,
        )
        return _add_bias(out, bias, count)

    return transposed_convolution


def _reversed(weight: Any, groups: int) -> Any:
    """(in, out / groups, *kernel) → (out, in / groups, *kernel), with the kernel flipped."""
    channels, out, *kernel = weight.shape
    weight = jnp.flip(weight, tuple(range(2, weight.ndim)))
    weight = weight.reshape(groups, channels // groups, out, *kernel).swapaxes(1, 2)
    return weight.reshape(groups * out, channels // groups, *kernel)


conv_transpose1d = _transposed_convolution(1)
conv_transpose2d = _transposed_convolution(2)
conv_transpose3d = _transposed_convolution(3)
