"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.initializers import Initializer
from nestarray.nn.module import Module, Variable
from nestarray.typing import Array


class _Conv(Module):
    """What convolutions over one, two and three axes share."""

    num_axes: ClassVar[int]
    is_transposed: ClassVar[bool] = False

    @signature_errors()
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: Any = 0,
        *,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        initializer: Initializer | None = None,
    ) -> None:
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ArgumentError(
                    f"{type(self).__name__}: {name}: got {channels}, expected a multiple of "
                    f"groups={groups}"
                )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = _sizes(kernel_size, self.num_axes)
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.has_bias = bias
        self._initializer = initializer or initializers.fan_in_uniform()

    def variables(self) -> Mapping[str, Variable]:
        """weight, and bias if there is one."""
        first, second = self.out_channels, self.in_channels
        if self.is_transposed:
            first, second = second, first
        shape = (first, second // self.groups, *self.kernel_size)
        found = {"weight": Variable(shape, self._initializer)}
        if self.has_bias:
            bound = 1 / math.sqrt(max(1, math.prod(shape[1:])))
            found["bias"] = Variable((self.out_channels,), initializers.uniform(bound))
        return found

    def _settings(self) -> dict[str, Any]:
        names = ("stride", "padding", "dilation", "groups")
        return {name: getattr(self, name) for name in names}


def _sizes(kernel_size: int | Sequence[int], num_axes: int) -> tuple[int, ...]:
    if isinstance(kernel_size, int):
        return (kernel_size,) * num_axes
    if len(kernel_size) != num_axes:
        raise ArgumentError(
            f"Conv{num_axes}d: kernel_size: got {tuple(kernel_size)}, expected {num_axes} numbers"
        )
    return tuple(kernel_size)


class Conv1d(_Conv):
    """The cross-correlation over one axis, plus a bias for each channel.

    Args:
        in_channels: channels of x.
        out_channels: channels of the result.
        kernel_size: of the window.
        stride, padding, dilation, groups: as in `na.conv1d`.
        bias: whether to add a bias.
        initializer: of the weight; None is PyTorch's, uniform in ±1 / √fan-in.

    Variables: weight `(out, in / groups, kernel)`, bias `(out,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Conv1d(2, 3, 3, padding=1).init(na.random.key(0))
        >>> net(np.ones((4, 2, 7), np.float32)).shape
        (4, 3, 7)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv1d.html
    """

    num_axes = 1

    def forward(self, x: Array) -> Array:
        """x: `(batch, in, length)`; returns `(batch, out, out_length)`."""
        bias = self.bias if self.has_bias else None
        return ops.conv1d(x, self.weight, bias, **self._settings())


class Conv2d(_Conv):
    """The cross-correlation over two axes, plus a bias for each channel.

    Args:
        in_channels: channels of x.
        out_channels: channels of the result.
        kernel_size: of the window, one number or two.
        stride, padding, dilation, groups: as in `na.conv2d`.
        bias: whether to add a bias.
        initializer: of the weight; None is PyTorch's, uniform in ±1 / √fan-in.

    Variables: weight `(out, in / groups, kernel, kernel)`, bias `(out,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Conv2d(3, 8, 3, stride=2, padding=1).init(na.random.key(0))
        >>> net(np.ones((1, 3, 8, 8), np.float32)).shape
        (1, 8, 4, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv2d.html
    """

    num_axes = 2

    def forward(self, x: Array) -> Array:
        """x: `(batch, in, height, width)`; returns `(batch, out, out_height, out_width)`."""
        bias = self.bias if self.has_bias else None
        return ops.conv2d(x, self.weight, bias, **self._settings())


class Conv3d(_Conv):
    """The cross-correlation over three axes, plus a bias for each channel.

    Args:
        in_channels: channels of x.
        out_channels: channels of the result.
        kernel_size: of the window, one number or three.
        stride, padding, dilation, groups: as in `na.conv3d`.
        bias: whether to add a bias.
        initializer: of the weight; None is PyTorch's, uniform in ±1 / √fan-in.

    Variables: weight `(out, in / groups, kernel, kernel, kernel)`, bias `(out,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Conv3d(1, 2, 2).init(na.random.key(0))
        >>> net(np.ones((1, 1, 3, 3, 3), np.float32)).shape
        (1, 2, 2, 2, 2)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv3d.html
    """

    num_axes = 3

    def forward(self, x: Array) -> Array:
        """x: `(batch, in, *spatial)`; returns `(batch, out, *out_spatial)`."""
        bias = self.bias if self.has_bias else None
        return ops.conv3d(x, self.weight, bias, **self._settings())


class ConvTranspose2d(_Conv):
    """The transpose of a convolution over two axes, plus a bias for each channel.

    Args:
        in_channels: channels of x.
        out_channels: channels of the result.
        kernel_size: of the window, one number or two.
        stride, padding, dilation, groups: as in `na.conv_transpose2d`.
        output_padding: what to add to the size of the result on one side.
        bias: whether to add a bias.
        initializer: of the weight; None is PyTorch's, uniform in ±1 / √fan-in.

    Variables: weight `(in, out / groups, kernel, kernel)`, bias `(out,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ConvTranspose2d(3, 2, 2, stride=2).init(na.random.key(0))
        >>> net(np.ones((1, 3, 4, 4), np.float32)).shape
        (1, 2, 8, 8)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ConvTranspose2d.html
    """

    num_axes = 2
    is_transposed = True

    @signature_errors()
    def __init__(
        self, *args: Any, output_padding: int | Sequence[int] = 0, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.output_padding = output_padding

    def forward(self, x: Array) -> Array:
        """x: `(batch, in, height, width)`; returns `(batch, out, out_height, out_width)`."""
        bias = self.bias if self.has_bias else None
        settings: dict[str, Any] = self._settings() | {"output_padding": self.output_padding}
        return ops.conv_transpose2d(x, self.weight, bias, **settings)
