"""Exponentials that sum to 1, and their logarithms."""

from __future__ import annotations

from nestarray import ops
from nestarray.errors import ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.typing import Array


class Softmax(Module):
    """exp(xᵢ) / Σⱼ exp(xⱼ) along an axis.

    Args:
        dim: the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Softmax(-1).init(na.random.key(0))
        >>> net(np.asarray([0.0, np.log(3.0)]))
        array([0.25, 0.75])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Softmax.html
    """

    @signature_errors()
    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.softmax(x, axis=self.dim)


class Softmin(Module):
    """exp(−xᵢ) / Σⱼ exp(−xⱼ) along an axis.

    Args:
        dim: the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Softmin(-1).init(na.random.key(0))
        >>> net(np.asarray([0.0, np.log(3.0)]))
        array([0.75, 0.25])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Softmin.html
    """

    @signature_errors()
    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.softmax(ops.negative(x), axis=self.dim)


class LogSoftmax(Module):
    """xᵢ − log Σⱼ exp(xⱼ) along an axis.

    Args:
        dim: the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LogSoftmax(-1).init(na.random.key(0))
        >>> net(np.asarray([0.0, 0.0]))
        array([-0.69314718, -0.69314718])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LogSoftmax.html
    """

    @signature_errors()
    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.log_softmax(x, axis=self.dim)


class Softmax2d(Module):
    """The softmax over the channels of each pixel.

    Raises:
        ShapeError: x does not have three or four axes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Softmax2d().init(na.random.key(0))
        >>> net(np.zeros((1, 4, 2, 3)))[0, :, 0, 0]
        array([0.25, 0.25, 0.25, 0.25])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Softmax2d.html
    """

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, height, width)`, or without batch; returns the same shape."""
        if len(x.shape) not in (3, 4):
            raise ShapeError(
                f"Softmax2d: x: got the shape {tuple(x.shape)}, expected (batch, channels, height, "
                "width) or (channels, height, width)"
            )
        return ops.softmax(x, axis=-3)
