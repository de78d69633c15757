"""Transposed convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.convolution import Convolution
from nestarray.nn.initializers import Initializer
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints
from nestarray.typing import Array


class _Transposed(Convolution):
    """Settings of transposed convolutions over `num_axes` axes, in the order of PyTorch."""

    is_transposed = True

    @signature_errors()
    def __init__(
        self,
        in_channels: int | None,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        output_padding: Ints = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Ints = 1,
        padding_mode: str = "zeros",
        *,
        initializer: Initializer | None = None,
    ) -> None:
        name = type(self).__name__
        if padding_mode != "zeros":
            raise ArgumentError(f"{name}: padding_mode: got {padding_mode!r}, expected 'zeros'")
        super().__init__(
            in_channels, out_channels, kernel_size, stride,
            windows.per_axis(name, "padding", padding, self.num_axes, least=0), dilation, groups,
            bias, initializer=initializer,
        )  # fmt: skip
        self.output_padding = windows.per_axis(
            name, "output_padding", output_padding, self.num_axes, least=0
        )

    def _transposed(
        self, convolve: Callable[..., Array], x: Array, output_size: Sequence[int] | None
    ) -> Array:
        extra = self.output_padding
        if output_size is not None:
            extra = self._padding_to(output_size, ops.shape(x)[-self.num_axes :])
        return self._convolved(convolve, x, output_padding=extra)

    def _padding_to(self, output_size: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
        """The output padding that gives this size, below the stride."""
        axes = zip(sizes, self.kernel_size, self.stride, self._margins, self.dilation)
        least = [(n - 1) * s - sum(p) + d * (k - 1) + 1 for n, k, s, p, d in axes]
        extra = tuple(size - low for size, low in zip(tuple(output_size)[-self.num_axes :], least))
        if not 0 <= len(output_size) - self.num_axes <= 2 or not all(
            0 <= e < s for e, s in zip(extra, self.stride)
        ):
            raise ArgumentError(
                f"{type(self).__name__}: output_size: got {tuple(output_size)}, expected "
                f"{self.num_axes} numbers from {tuple(least)} to "
                f"{tuple(low + s - 1 for low, s in zip(least, self.stride))}"
            )
        return extra


class ConvTranspose1d(_Transposed):
    """The transpose of a convolution over one axis, plus a bias for each channel.

    out_length = (length − 1)·stride − 2·padding + dilation·(kernel − 1) + output_padding + 1.

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        out_channels: channels of the result.
        kernel_size: the size of the kernel.
        stride: the step between the kernels in the result.
        padding: the number of elements to crop from the result at each side.
        output_padding: the number of elements to add at the end of the result.
        groups: the number of groups of channels; divides both numbers of channels.
        bias: whether to add a bias.
        dilation: the step between the elements of the kernel.
        padding_mode: ``"zeros"``.
        initializer: of the weight; None is PyTorch's, uniform in ±1 / √(out / groups · kernel).

    Variables: weight `(in, out / groups, kernel)`, bias `(out,)`.

    Raises:
        ArgumentError: `groups` does not divide the channels, or a setting has a wrong kind or length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ConvTranspose1d(3, 2, 3, stride=2).init(na.random.key(0))
        >>> x = np.ones((1, 3, 4), np.float32)
        >>> net(x).shape, net(x, output_size=[10]).shape
        ((1, 2, 9), (1, 2, 10))

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ConvTranspose1d.html
    """

    num_axes = 1
    inferred = ("in_channels", -2)

    def forward(self, x: Array, output_size: Sequence[int] | None = None) -> Array:
        """Compute the transposed convolution.

        Args:
            x: `([batch], in, length)`.
            output_size: the length of the result, in place of `output_padding`.

        Returns:
            `([batch], out, out_length)`.
        """
        return self._transposed(ops.conv_transpose1d, x, output_size)


class ConvTranspose2d(_Transposed):
    """The transpose of a convolution over two axes, plus a bias for each channel.

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        out_channels: channels of the result.
        kernel_size: the size of the kernel; an integer, or one for each axis.
        stride, padding, output_padding, groups, bias, dilation, padding_mode, initializer: as for
            `ConvTranspose1d`; an integer, or one for each axis.

    Variables: weight `(in, out / groups, kernel, kernel)`, bias `(out,)`.

    Raises:
        ArgumentError: `groups` does not divide the channels, or a setting has a wrong kind or length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ConvTranspose2d(3, 2, 2, stride=2).init(na.random.key(0))
        >>> net(np.ones((1, 3, 4, 4), np.float32)).shape
        (1, 2, 8, 8)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ConvTranspose2d.html
    """

    num_axes = 2
    inferred = ("in_channels", -3)

    def forward(self, x: Array, output_size: Sequence[int] | None = None) -> Array:
        """Compute the transposed convolution.

        Args:
            x: `([batch], in, height, width)`.
            output_size: the height and the width of the result, in place of `output_padding`.

        Returns:
            `([batch], out, out_height, out_width)`.
        """
        return self._transposed(ops.conv_transpose2d, x, output_size)


class ConvTranspose3d(_Transposed):
    """The transpose of a convolution over three axes, plus a bias for each channel.

    Args:
        in_channels: channels of x; None: `init` reads them from an input.
        out_channels: channels of the result.
        kernel_size: the size of the kernel; an integer, or one for each axis.
        stride, padding, output_padding, groups, bias, dilation, padding_mode, initializer: as for
            `ConvTranspose1d`; an integer, or one for each axis.

    Variables: weight `(in, out / groups, kernel, kernel, kernel)`, bias `(out,)`.

    Raises:
        ArgumentError: `groups` does not divide the channels, or a setting has a wrong kind or length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ConvTranspose3d(1, 2, 2).init(na.random.key(0))
        >>> net(np.ones((1, 1, 3, 3, 3), np.float32)).shape
        (1, 2, 4, 4, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ConvTranspose3d.html
    """

    num_axes = 3
    inferred = ("in_channels", -4)

    def forward(self, x: Array, output_size: Sequence[int] | None = None) -> Array:
        """Compute the transposed convolution.

        Args:
            x: `([batch], in, *spatial)`.
            output_size: the spatial sizes of the result, in place of `output_padding`.

        Returns:
            `([batch], out, *out_spatial)`.
        """
        return self._transposed(ops.conv_transpose3d, x, output_size)
