"""Patches under sliding windows, as columns, and their sums."""

from __future__ import annotations

from functools import partial

from nestarray import ops
from nestarray.errors.signatures import signature_errors
from nestarray.nn.spatial import Spatial
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints
from nestarray.typing import Array


class Unfold(Spatial):
    """The patches under sliding windows, as columns.

    Args:
        kernel_size: the size of a patch; an integer, or one for each axis.
        dilation: the step between the elements of a patch.
        padding: zeros around x.
        stride: the step between patches.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Unfold(2).init(na.random.key(0))
        >>> net(np.ones((1, 3, 4, 5), np.float32)).shape
        (1, 12, 12)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Unfold.html
    """

    num_axes = 2

    @signature_errors()
    def __init__(
        self, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
    ) -> None:
        self.kernel_size = windows.per_axis("Unfold", "kernel_size", kernel_size, 2)
        self.dilation = windows.per_axis("Unfold", "dilation", dilation, 2)
        self.padding = windows.per_axis("Unfold", "padding", padding, 2, least=0)
        self.stride = windows.per_axis("Unfold", "stride", stride, 2)

    def forward(self, x: Array) -> Array:
        """x: `([batch], channels, height, width)`; returns `([batch], channels · kernel, patches)`."""
        unfold = partial(
            ops.unfold, kernel_size=self.kernel_size, stride=self.stride, padding=self.padding,
            dilation=self.dilation,
        )  # fmt: skip
        return self._batched(unfold, x)


class Fold(Spatial):
    """The sum of patches at their positions: the transpose of `Unfold` as a linear map.

    Args:
        output_size: the height and the width of the result.
        kernel_size: the size of a patch; an integer, or one for each axis.
        dilation: the step between the elements of a patch.
        padding: zeros that the result does not contain.
        stride: the step between patches.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Fold((4, 5), 2).init(na.random.key(0))
        >>> net(np.ones((1, 12, 12), np.float32)).shape
        (1, 3, 4, 5)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Fold.html
    """

    num_axes = 1  # of x

    @signature_errors()
    def __init__(
        self,
        output_size: Ints,
        kernel_size: Ints,
        dilation: Ints = 1,
        padding: Ints = 0,
        stride: Ints = 1,
    ) -> None:
        self.output_size = windows.per_axis("Fold", "output_size", output_size, 2)
        self.kernel_size = windows.per_axis("Fold", "kernel_size", kernel_size, 2)
        self.dilation = windows.per_axis("Fold", "dilation", dilation, 2)
        self.padding = windows.per_axis("Fold", "padding", padding, 2, least=0)
        self.stride = windows.per_axis("Fold", "stride", stride, 2)

    def forward(self, x: Array) -> Array:
        """x: `([batch], channels · kernel, patches)`; returns `([batch], channels, *output_size)`."""
        fold = partial(
            ops.fold, output_size=self.output_size, kernel_size=self.kernel_size,
            stride=self.stride, padding=self.padding, dilation=self.dilation,
        )  # fmt: skip
        return self._batched(fold, x)
