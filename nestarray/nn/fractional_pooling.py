"""Max pooling in windows with random steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nestarray import dtypes, ops, random
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.spatial import Spatial
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints
from nestarray.ops.window_reductions import fractional_maxima
from nestarray.typing import Array


class _FractionalMaxPool(Spatial):
    """The maximum in windows with random steps over `num_axes` axes."""

    @signature_errors()
    def __init__(
        self,
        kernel_size: Ints,
        output_size: Ints | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
    ) -> None:
        name, count = type(self).__name__, self.num_axes
        if (output_size is None) == (output_ratio is None):
            raise ArgumentError(
                f"{name}: got output_size={output_size!r} and output_ratio={output_ratio!r}, "
                "expected one of them"
            )
        self.kernel_size = windows.per_axis(name, "kernel_size", kernel_size, count)
        self.output_size = self.output_ratio = None
        if output_size is not None:
            self.output_size = windows.per_axis(name, "output_size", output_size, count)
        if output_ratio is not None:
            is_one = isinstance(output_ratio, (int, float))
            self.output_ratio = (output_ratio,) * count if is_one else tuple(output_ratio)
            if len(self.output_ratio) != count or not all(0 < r < 1 for r in self.output_ratio):
                raise ArgumentError(
                    f"{name}: output_ratio: got {output_ratio!r}, expected a number between 0 and 1, "
                    f"or {count} of these"
                )
        self.return_indices = return_indices

    def forward(self, x: Array) -> Any:
        """x: `([batch], channels, *spatial)`; returns `([batch], channels, *output_size)`."""
        return self._batched(self._maxima, x)

    def _maxima(self, x: Array) -> Any:
        output = self.output_size or [
            int(n * ratio) for n, ratio in zip(ops.shape(x)[2:], self.output_ratio or ())
        ]

        def draw() -> Array:
            shape = (*ops.shape(x)[:2], self.num_axes)
            return random.uniform(self.key_for("the steps"), shape, dtype=dtypes.dtype_of(x))

        layout = ("height, width", "depth, height, width")[self.num_axes - 2]
        return fractional_maxima(
            type(self).__name__, x, draw, self.kernel_size, output, layout,
            return_indices=self.return_indices,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPool):
    """The maximum in windows with random steps over two axes.

    Window i starts at ⌊(i + u) α⌋ − ⌊u α⌋ with α = (size − kernel) / (output − 1) and one
    uniform u for each channel and axis. The layer draws in training and in evaluation, as PyTorch
    does, so each call needs a key.

    Args:
        kernel_size: the size of the window; an integer, or one for each axis.
        output_size: the size of the result; an integer, or one for each axis.
        output_ratio: the size of the result over the size of x, between 0 and 1, in place of
            `output_size`; a number, or one for each axis.
        return_indices: whether the result is (maxima, their indices in the flattened spatial axes).

    Raises:
        ArgumentError: both or neither of `output_size` and `output_ratio` are given.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.FractionalMaxPool2d(2, output_ratio=0.7).init(na.random.key(0))
        >>> net(np.ones((1, 3, 8, 10), np.float32), key=na.random.key(1)).shape
        (1, 3, 5, 7)

    References:
        https://arxiv.org/abs/1412.6071
        https://docs.pytorch.org/docs/stable/generated/torch.nn.FractionalMaxPool2d.html
    """

    num_axes = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """The maximum in windows with random steps over three axes; see `FractionalMaxPool2d`.

    Args:
        kernel_size, output_size, output_ratio, return_indices: as for `FractionalMaxPool2d`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.FractionalMaxPool3d(2, 3).init(na.random.key(0))
        >>> net(np.ones((1, 3, 8, 8, 8), np.float32), key=na.random.key(1)).shape
        (1, 3, 3, 3, 3)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.FractionalMaxPool3d.html
    """

    num_axes = 3
