"""Depthwise and separable convolutions."""

from __future__ import annotations

from typing import ClassVar

from nestarray.errors.signatures import signature_errors
from nestarray.nn.convolution import Conv1d, Conv2d, Convolution
from nestarray.nn.initializers import Initializer
from nestarray.nn.module import Module
from nestarray.numerics.windows import Ints, Padding
from nestarray.typing import Array


class _Depthwise(Convolution):
    """Settings of depthwise convolutions; a subclass adds the number of axes."""

    @signature_errors()
    def __init__(
        self,
        in_channels: int | None,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Padding = 0,
        dilation: Ints = 1,
        depth_multiplier: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        *,
        initializer: Initializer | None = None,
    ) -> None:
        channels = in_channels or 1
        super().__init__(
            in_channels, channels * depth_multiplier, kernel_size, stride, padding, dilation,
            channels, bias, padding_mode, initializer=initializer,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier

    def _set_size(self, size: int) -> None:
        self.in_channels = self.groups = size
        self.out_channels = size * self.depth_multiplier


class DepthwiseConv1d(_Depthwise, Conv1d):
    """A convolution over one axis with separate kernels for each channel.

    It equals ``Conv1d(in, in · multiplier, ..., groups=in)``.

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        kernel_size: the size of the window.
        stride, padding, dilation: as for `Conv1d`.
        depth_multiplier: the number of kernels for each channel.
        bias: whether to add a bias.
        padding_mode, initializer: as for `Conv1d`.

    Variables: weight `(in · multiplier, 1, kernel)`: the kernels of channel 0 first; bias
    `(in · multiplier,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.DepthwiseConv1d(2, 3, depth_multiplier=2).init(na.random.key(0))
        >>> net(np.ones((4, 2, 7), np.float32)).shape
        (4, 4, 5)

    References:
        https://keras.io/api/layers/convolution_layers/depthwise_convolution1d/
    """


class DepthwiseConv2d(_Depthwise, Conv2d):
    """A convolution over two axes with separate kernels for each channel.

    It equals ``Conv2d(in, in · multiplier, ..., groups=in)``.

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        kernel_size: the size of the window; an integer, or one for each axis.
        stride, padding, dilation: as for `Conv2d`.
        depth_multiplier: the number of kernels for each channel.
        bias: whether to add a bias.
        padding_mode, initializer: as for `Conv2d`.

    Variables: weight `(in · multiplier, 1, kernel, kernel)`: the kernels of channel 0 first; bias
    `(in · multiplier,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.DepthwiseConv2d(3, 3, padding="same").init(na.random.key(0))
        >>> net(np.ones((1, 3, 8, 8), np.float32)).shape
        (1, 3, 8, 8)

    References:
        https://arxiv.org/abs/1704.04861
        https://keras.io/api/layers/convolution_layers/depthwise_convolution2d/
    """


class _Separable(Module):
    """A depthwise convolution, and a convolution of kernel size 1."""

    depthwise_layer: ClassVar[type[_Depthwise]]
    pointwise_layer: ClassVar[type[Convolution]]

    @signature_errors()
    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Padding = 0,
        dilation: Ints = 1,
        depth_multiplier: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        *,
        initializer: Initializer | None = None,
    ) -> None:
        self.depthwise = self.depthwise_layer(
            in_channels, kernel_size, stride, padding, dilation, depth_multiplier, False,
            padding_mode, initializer=initializer,
        )  # fmt: skip
        channels = None if in_channels is None else in_channels * depth_multiplier
        self.pointwise = self.pointwise_layer(
            channels, out_channels, 1, bias=bias, initializer=initializer
        )

    def forward(self, x: Array) -> Array:
        """x: `(batch, in, *spatial)`; returns `(batch, out, *out_spatial)`."""
        return self.pointwise(self.depthwise(x))


class SeparableConv1d(_Separable):
    """A `DepthwiseConv1d` without bias, followed by a convolution of kernel size 1.

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        out_channels: channels of the result.
        kernel_size: the size of the window.
        stride, padding, dilation: of the depthwise convolution, as for `Conv1d`.
        depth_multiplier: the number of kernels for each channel.
        bias: whether to add a bias.
        padding_mode, initializer: as for `Conv1d`.

    Variables: depthwise/weight `(in · multiplier, 1, kernel)`,
    pointwise/weight `(out, in · multiplier, 1)`, pointwise/bias `(out,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.SeparableConv1d(2, 5, 3).init(na.random.key(0))
        >>> net(np.ones((4, 2, 7), np.float32)).shape
        (4, 5, 5)

    References:
        https://keras.io/api/layers/convolution_layers/separable_convolution1d/
    """

    depthwise_layer, pointwise_layer = DepthwiseConv1d, Conv1d


class SeparableConv2d(_Separable):
    """A `DepthwiseConv2d` without bias, followed by a convolution of kernel size 1.

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        out_channels: channels of the result.
        kernel_size: the size of the window; an integer, or one for each axis.
        stride, padding, dilation: of the depthwise convolution, as for `Conv2d`.
        depth_multiplier: the number of kernels for each channel.
        bias: whether to add a bias.
        padding_mode, initializer: as for `Conv2d`.

    Variables: depthwise/weight `(in · multiplier, 1, kernel, kernel)`,
    pointwise/weight `(out, in · multiplier, 1, 1)`, pointwise/bias `(out,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.SeparableConv2d(3, 8, 3, padding="same").init(na.random.key(0))
        >>> net(np.ones((1, 3, 8, 8), np.float32)).shape
        (1, 8, 8, 8)

    References:
        https://arxiv.org/abs/1610.02357
        https://keras.io/api/layers/convolution_layers/separable_convolution2d/
    """

    depthwise_layer, pointwise_layer = DepthwiseConv2d, Conv2d
