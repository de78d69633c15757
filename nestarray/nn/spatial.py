"""Layers of sequences, images and volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from nestarray import ops, tree
from nestarray.nn.module import Module
from nestarray.numerics import windows
from nestarray.typing import Array


class Spatial(Module):
    """A layer with `num_axes` axes after the batch and the channels; inputs may lack the batch."""

    num_axes: ClassVar[int]

    def _batched(self, fn: Callable[..., Any], *xs: Array) -> Any:
        """``fn(*xs)``, where inputs without a batch are a batch of one that the results lack too.

        Raises:
            ShapeError: the first input has another number of axes.
        """
        shape = xs[0].shape
        if len(shape) == self.num_axes + 1:
            results = fn(*[ops.expand_dims(x, axis=0) for x in xs])
            return tree.map(lambda x: ops.squeeze(x, axis=0), results)
        layout = "(batch, channels, *spatial)"
        windows.check_rank(type(self).__name__, "x", layout, shape, self.num_axes)
        return fn(*xs)
