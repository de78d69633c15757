"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.initializers import Initializer
from nestarray.nn.module import Variable
from nestarray.nn.padding import MODES, padded
from nestarray.nn.spatial import Spatial
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints, Padding
from nestarray.typing import Array, check_range


class Convolution(Spatial):
    """Settings and variables of convolutions over `num_axes` axes; the base of these layers."""

    is_transposed: ClassVar[bool] = False

    @signature_errors()
    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Padding = 0,
        dilation: Ints = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        *,
        initializer: Initializer | None = None,
    ) -> None:
        name = type(self).__name__
        check_range(name, "groups", groups, 1)
        for argument, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels is not None and channels % groups:
                raise ArgumentError(
                    f"{name}: {argument}: got {channels}, expected a multiple of groups={groups}"
                )
        if padding_mode not in MODES:
            raise ArgumentError(
                f"{name}: padding_mode: got {padding_mode!r}, expected one of {', '.join(MODES)}"
            )
        self.in_channels: Any = in_channels
        self.out_channels = out_channels
        self.kernel_size = windows.per_axis(name, "kernel_size", kernel_size, self.num_axes)
        self.stride = windows.per_axis(name, "stride", stride, self.num_axes)
        self.dilation = windows.per_axis(name, "dilation", dilation, self.num_axes)
        self.padding, self.padding_mode = padding, padding_mode
        self.groups, self.has_bias = groups, bias
        self._margins: Any = self._read_padding()
        self._initializer = initializer or initializers.fan_in_uniform()

    def _read_padding(self) -> Padding:
        """A pair for each axis, or ``"same"`` where it depends on the size of x."""
        name = type(self).__name__
        if self.padding == "causal" and self.num_axes == 1:
            return ((self.dilation[0] * (self.kernel_size[0] - 1), 0),)
        if self.padding == "same" and max(self.stride) > 1:
            if self.padding_mode != "zeros":
                raise ArgumentError(
                    f"{name}: padding: got 'same' with stride={self.stride} and padding_mode="
                    f"{self.padding_mode!r}, expected stride=1 or padding_mode='zeros'"
                )
            return "same"
        sizes: Any = (None,) * self.num_axes
        return windows.settings(
            name, sizes, self.kernel_size, stride=self.stride, padding=self.padding,
            dilation=self.dilation,
        ).padding  # fmt: skip

    def variables(self) -> Mapping[str, Variable]:
        """weight, and bias if there is one."""
        first, second = self.out_channels, self.in_channels
        if self.is_transposed:
            first, second = second, first
        shape = (first, second // self.groups, *self.kernel_size)
        declared = {"weight": Variable(shape, self._initializer)}
        if self.has_bias:
            bound = 1 / math.sqrt(max(1, math.prod(shape[1:])))
            declared["bias"] = Variable((self.out_channels,), initializers.uniform(bound))
        return declared

    def _convolved(self, convolve: Callable[..., Array], x: Array, **settings: Any) -> Array:
        def convolved(x: Array) -> Array:
            padding = self._margins
            if self.padding_mode != "zeros":
                x, padding = padded(x, padding, self.padding_mode), 0
            return convolve(
                x,
                self.weight,
                self.bias if self.has_bias else None,
                stride=self.stride,
                padding=padding,
                dilation=self.dilation,
                groups=self.groups,
                **settings,
            )

        return self._batched(convolved, x)


class Conv1d(Convolution):
    """The cross-correlation over one axis, y[o, i] = Σ x[c, s·i + d·k] · w[o, c, k] + b[o].

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        out_channels: channels of the result.
        kernel_size: the size of the window.
        stride: the step s between windows.
        padding: an integer, a pair (before, after), ``"valid"``: none, ``"same"``: so that the
            result has ⌈length / stride⌉ elements, or ``"causal"``: before x, so that element i of the
            result depends only on the elements of x up to s·i.
        dilation: the step d between the elements of a window.
        groups: the number of groups of channels; divides both numbers of channels.
        bias: whether to add a bias.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        initializer: of the weight; None is PyTorch's, uniform in ±1 / √fan-in.

    Variables: weight `(out, in / groups, kernel)`, bias `(out,)`.

    Raises:
        ArgumentError: `groups` does not divide the channels, or a setting has a wrong kind or length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Conv1d(2, 3, 3, padding=1).init(na.random.key(0))
        >>> net(np.ones((4, 2, 7), np.float32)).shape
        (4, 3, 7)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv1d.html
        https://keras.io/api/layers/convolution_layers/convolution1d/
    """

    num_axes = 1
    inferred = ("in_channels", -2)

    def forward(self, x: Array) -> Array:
        """x: `([batch], in, length)`; returns `([batch], out, out_length)`."""
        return self._convolved(ops.conv1d, x)


class Conv2d(Convolution):
    """The cross-correlation over two axes, plus a bias for each channel.

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        out_channels: channels of the result.
        kernel_size: the size of the window; an integer, or one for each axis.
        stride: the step between windows; an integer, or one for each axis.
        padding: an integer, one integer or pair (before, after) for each axis, ``"valid"``: none,
            or ``"same"``: so that the result has ⌈size / stride⌉ elements.
        dilation: the step between the elements of a window.
        groups: the number of groups of channels; divides both numbers of channels.
        bias: whether to add a bias.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        initializer: of the weight; None is PyTorch's, uniform in ±1 / √fan-in.

    Variables: weight `(out, in / groups, kernel, kernel)`, bias `(out,)`.

    Raises:
        ArgumentError: `groups` does not divide the channels, or a setting has a wrong kind or length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Conv2d(3, 8, 3, stride=2, padding=1).init(na.random.key(0))
        >>> net(np.ones((1, 3, 8, 8), np.float32)).shape
        (1, 8, 4, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv2d.html
    """

    num_axes = 2
    inferred = ("in_channels", -3)

    def forward(self, x: Array) -> Array:
        """x: `([batch], in, height, width)`; returns `([batch], out, out_height, out_width)`."""
        return self._convolved(ops.conv2d, x)


class Conv3d(Convolution):
    """The cross-correlation over three axes, plus a bias for each channel.

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        out_channels: channels of the result.
        kernel_size: the size of the window; an integer, or one for each axis.
        stride, padding, dilation, groups, bias, padding_mode, initializer: as for `Conv2d`.

    Variables: weight `(out, in / groups, kernel, kernel, kernel)`, bias `(out,)`.

    Raises:
        ArgumentError: `groups` does not divide the channels, or a setting has a wrong kind or length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Conv3d(1, 2, 2).init(na.random.key(0))
        >>> net(np.ones((1, 1, 3, 3, 3), np.float32)).shape
        (1, 2, 2, 2, 2)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv3d.html
    """

    num_axes = 3
    inferred = ("in_channels", -4)

    def forward(self, x: Array) -> Array:
        """x: `([batch], in, *spatial)`; returns `([batch], out, *out_spatial)`."""
        return self._convolved(ops.conv3d, x)
