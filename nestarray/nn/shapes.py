"""Layers that change the shape, or nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.numerics.axes import one_axis
from nestarray.typing import Array


class Identity(Module):
    """x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.ones(3)
        >>> na.nn.Identity().init(na.random.key(0))(x) is x
        True

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Identity.html
    """

    def forward(self, x: Any) -> Any:
        """x: anything; returns it."""
        return x


class Flatten(Module):
    """Consecutive axes as one, in row-major order.

    Args:
        start_dim: the first of the axes.
        end_dim: the last of the axes.

    Raises:
        ArgumentError: `start_dim` is after `end_dim`.
        IndexingError: x has no such axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Flatten().init(na.random.key(0))
        >>> net(np.ones((5, 2, 3, 4))).shape
        (5, 24)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Flatten.html
    """

    @signature_errors()
    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same with one axis from `start_dim` to `end_dim`."""
        count = len(x.shape)
        start = one_axis(self.start_dim, count, "Flatten", "start_dim")
        end = one_axis(self.end_dim, count, "Flatten", "end_dim")
        if start > end:
            raise ArgumentError(
                f"Flatten: start_dim: got {self.start_dim} for x of shape {tuple(x.shape)}, expected "
                f"at most end_dim={self.end_dim}"
            )
        sizes = ops.shape(x)
        return ops.reshape(
            x, (*sizes[:start], math.prod(sizes[start : end + 1]), *sizes[end + 1 :])
        )


class Unflatten(Module):
    """One axis as several, in row-major order.

    Args:
        dim: the axis.
        unflattened_size: the sizes of the new axes; one of them may be −1: the rest.

    Raises:
        ArgumentError: `unflattened_size` is empty, or does not say the rest.
        ShapeError: the axis has another size.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Unflatten(1, (2, -1)).init(na.random.key(0))
        >>> net(np.ones((5, 6))).shape
        (5, 2, 3)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Unflatten.html
    """

    @signature_errors()
    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        sizes = tuple(unflattened_size)
        is_open = -1 in sizes
        if not sizes or min(sizes) < -1 or (is_open and (sizes.count(-1) > 1 or 0 in sizes)):
            raise ArgumentError(
                f"Unflatten: unflattened_size: got {sizes}, expected sizes with at most one -1"
            )
        self.dim, self.unflattened_size = dim, sizes

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same with the new axes in place of `dim`."""
        axis = one_axis(self.dim, len(x.shape), "Unflatten", "dim")
        sizes = ops.shape(x)
        new = self.unflattened_size
        if -1 in new:
            rest = sizes[axis] // -math.prod(new)
            new = tuple(rest if n == -1 else n for n in new)
        return ops.reshape(x, (*sizes[:axis], *new, *sizes[axis + 1 :]))
