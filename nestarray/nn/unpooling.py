"""Maxima back at their places among zeros."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.spatial import Spatial
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints
from nestarray.typing import Array


class _MaxUnpool(Spatial):
    """Zeros with the maxima of a max pooling over `num_axes` axes."""

    @signature_errors()
    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0) -> None:
        name, count = type(self).__name__, self.num_axes
        self.kernel_size = windows.per_axis(name, "kernel_size", kernel_size, count)
        step = kernel_size if stride is None else stride
        self.stride = windows.per_axis(name, "stride", step, count)
        self.padding = windows.per_axis(name, "padding", padding, count, least=0)

    def forward(self, x: Array, indices: Array, output_size: Sequence[int] | None = None) -> Array:
        """Put the maxima at their places.

        Args:
            x: the maxima, `([batch], channels, *spatial)`.
            indices: from the max pooling, of the shape of x.
            output_size: the spatial sizes of the result, or its shape; None is
                (size − 1) · stride − 2 · padding + kernel_size.

        Returns:
            `([batch], channels, *output_size)`.
        """
        if output_size is not None and not 0 <= len(output_size) - self.num_axes <= 2:
            raise ArgumentError(
                f"{type(self).__name__}: output_size: got {tuple(output_size)}, expected "
                f"{self.num_axes} numbers"
            )
        unpool = partial(
            ops.max_unpool, kernel_size=self.kernel_size, stride=self.stride, padding=self.padding,
            output_size=None if output_size is None else tuple(output_size)[-self.num_axes :],
        )  # fmt: skip
        return self._batched(unpool, x, indices)


class MaxUnpool1d(_MaxUnpool):
    """Zeros with the maxima of a `MaxPool1d` at their places: its partial inverse.

    Args:
        kernel_size, stride, padding: of the max pooling.

    Raises:
        ArgumentError: a setting has a wrong kind or length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.MaxUnpool1d(2).init(na.random.key(0))
        >>> net(np.asarray([[[3.0, 5.0]]]), np.asarray([[[1, 3]]]))
        array([[[0., 3., 0., 5.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.MaxUnpool1d.html
    """

    num_axes = 1


class MaxUnpool2d(_MaxUnpool):
    """Zeros with the maxima of a `MaxPool2d` at their places: its partial inverse.

    Args:
        kernel_size, stride, padding: of the max pooling; an integer, or one for each axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.MaxUnpool2d(2).init(na.random.key(0))
        >>> net(np.asarray([[[[7.0]]]]), np.asarray([[[[2]]]]))
        array([[[[0., 0.],
                 [7., 0.]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.MaxUnpool2d.html
    """

    num_axes = 2


class MaxUnpool3d(_MaxUnpool):
    """Zeros with the maxima of a `MaxPool3d` at their places: its partial inverse.

    Args:
        kernel_size, stride, padding: of the max pooling; an integer, or one for each axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.MaxUnpool3d(2).init(na.random.key(0))
        >>> net(np.ones((1, 2, 1, 1, 1)), np.zeros((1, 2, 1, 1, 1), int)).shape
        (1, 2, 2, 2, 2)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.MaxUnpool3d.html
    """

    num_axes = 3
