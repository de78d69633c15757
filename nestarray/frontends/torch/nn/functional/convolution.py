"""Convolutions, https://docs.pytorch.org/docs/stable/nn.functional.html#convolution-functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import ndim_of, per_dim
from nestarray.frontends.torch.promotion import expect_one_dtype
from nestarray.typing import Array

__all__ = [
    "bilinear", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "fold", "linear", "unfold",
]  # fmt: skip

Ints = int | Sequence[int]


def linear(input: Array, weight: Array, bias: Array | None = None) -> Array:
    """x Wᵀ + b."""
    expect_one_dtype("linear", input, weight=weight, bias=bias)
    if ndim_of(weight) == 1:
        product = na.matmul(input, weight)
        return product if bias is None else na.add(product, bias)
    return na.linear(input, weight, bias)


def bilinear(input1: Array, input2: Array, weight: Array, bias: Array | None = None) -> Array:
    """x₁ᵀ W x₂ + b for each output."""
    expect_one_dtype("bilinear", input1, input2=input2, weight=weight, bias=bias)
    out = na.einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else na.add(out, bias)


def conv1d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Array:
    """The cross-correlation of `(n, c, l)` or `(c, l)` with the kernels `weight`."""
    return _convolved(na.conv1d, 1, input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input: Array, weight: Array, bias: Array, pad: int = 0) -> Array:
    """The cross-correlation of `(l, n, c)` with the kernels `(k, c, out)`."""
    rows = na.permute_dims(input, axes=(1, 2, 0))
    windows = conv1d(rows, na.permute_dims(weight, axes=(2, 1, 0)), bias, padding=pad)
    return na.permute_dims(windows, axes=(2, 0, 1))


def conv2d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Array:
    """The cross-correlation of `(n, c, h, w)` or `(c, h, w)` with the kernels `weight`."""
    return _convolved(na.conv2d, 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Array:
    """The cross-correlation of `(n, c, d, h, w)` or `(c, d, h, w)` with the kernels `weight`."""
    return _convolved(na.conv3d, 3, input, weight, bias, stride, padding, dilation, groups)


def _convolved(
    function: Callable[..., Array],
    count: int,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints | str,
    dilation: Ints,
    groups: int,
) -> Array:
    if padding == "same" and set(per_dim("stride", stride, count)) != {1}:
        raise ArgumentError(
            f"conv{count}d: padding: got 'same' beside strides of {stride}, expected numbers"
        )
    settings: dict[str, Any] = {
        "stride": per_dim("stride", stride, count),
        "padding": padding if isinstance(padding, str) else per_dim("padding", padding, count),
        "dilation": per_dim("dilation", dilation, count),
        "groups": groups,
    }
    return _batched(function, count, x, weight, bias, settings)


def _batched(
    function: Callable[..., Array],
    count: int,
    x: Array,
    weight: Array,
    bias: Array | None,
    settings: dict[str, Any],
) -> Array:
    expect_one_dtype(function.__name__, x, weight=weight, bias=bias)
    if ndim_of(x) == count + 1:
        return na.squeeze(function(na.expand_dims(x, axis=0), weight, bias, **settings), axis=0)
    return function(x, weight, bias, **settings)


def conv_transpose1d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Array:
    """The transpose of `conv1d`."""
    settings = _transposed(1, stride, padding, output_padding, groups, dilation)
    return _batched(na.conv_transpose1d, 1, input, weight, bias, settings)


def conv_transpose2d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Array:
    """The transpose of `conv2d`."""
    settings = _transposed(2, stride, padding, output_padding, groups, dilation)
    return _batched(na.conv_transpose2d, 2, input, weight, bias, settings)


def conv_transpose3d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Array:
    """The transpose of `conv3d`."""
    settings = _transposed(3, stride, padding, output_padding, groups, dilation)
    return _batched(na.conv_transpose3d, 3, input, weight, bias, settings)


def _transposed(
    count: int, stride: Ints, padding: Ints, output_padding: Ints, groups: int, dilation: Ints
) -> dict[str, Any]:
    return {
        "stride": per_dim("stride", stride, count),
        "padding": per_dim("padding", padding, count),
        "output_padding": per_dim("output_padding", output_padding, count),
        "dilation": per_dim("dilation", dilation, count),
        "groups": groups,
    }


def unfold(
    input: Array, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> Array:
    """The patches of `(n, c, h, w)` as columns, `(n, c · kernel, patches)`."""
    x = input if ndim_of(input) == 4 else na.expand_dims(input, axis=0)
    columns = na.unfold(
        x,
        kernel_size=per_dim("kernel_size", kernel_size, 2),
        stride=per_dim("stride", stride, 2),
        padding=per_dim("padding", padding, 2),
        dilation=per_dim("dilation", dilation, 2),
    )
    return columns if ndim_of(input) == 4 else na.squeeze(columns, axis=0)


def fold(
    input: Array,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
) -> Array:
    """The transpose of `unfold`: overlapping patches are summed."""
    x = input if ndim_of(input) == 3 else na.expand_dims(input, axis=0)
    image = na.fold(
        x,
        output_size=per_dim("output_size", output_size, 2),
        kernel_size=per_dim("kernel_size", kernel_size, 2),
        stride=per_dim("stride", stride, 2),
        padding=per_dim("padding", padding, 2),
        dilation=per_dim("dilation", dilation, 2),
    )
    return image if ndim_of(input) == 3 else na.squeeze(image, axis=0)
