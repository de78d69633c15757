"""Padding of the spatial axes: zeros, constants, mirror images, edges and opposite ends.

`padding` is one number for all sides, or (before, after) for each axis, the last axis first, as in
PyTorch: (left, right, top, bottom). Negative numbers crop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from nestarray import ops
from nestarray.errors import ArgumentError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.numerics.windows import Ints
from nestarray.typing import Array, check_kind

#: The modes of torch.nn, and their names in `na.pad`.
MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def padded(x: Array, margins: Sequence[tuple[int, int]], mode: str, value: float = 0.0) -> Array:
    """x with (before, after) elements around its last axes, by a mode of `MODES`; negative crop."""
    lead = [(0, 0)] * (len(x.shape) - len(margins))
    outer = [*lead, *((max(low, 0), max(high, 0)) for low, high in margins)]
    if mode == "circular":  # wraps the cropped array, as in PyTorch
        return ops.pad(_cropped(x, margins), outer, mode=MODES[mode])
    return _cropped(ops.pad(x, outer, mode=MODES[mode], constant_values=value), margins)


def _cropped(x: Array, margins: Sequence[tuple[int, int]]) -> Array:
    if all(low >= 0 and high >= 0 for low, high in margins):
        return x
    return x[(..., *(slice(max(-low, 0), high if high < 0 else None) for low, high in margins))]


class _Pad(Module):
    """Padding of the last `num_axes` axes."""

    num_axes: ClassVar[int]
    mode: ClassVar[str] = "zeros"

    @signature_errors()
    def __init__(self, padding: Ints) -> None:
        self.padding = self._sides(padding)

    def _sides(self, padding: Ints) -> tuple[int, ...]:
        check_kind(type(self).__name__, "padding", "Ints", padding)
        sides = 2 * self.num_axes
        numbers = (padding,) * sides if isinstance(padding, int) else tuple(padding)
        if len(numbers) != sides:
            raise ArgumentError(
                f"{type(self).__name__}: padding: got {padding!r}, expected an integer or {sides} "
                "integers: (before, after) for each axis, the last axis first"
            )
        return numbers

    def forward(self, x: Array) -> Array:
        """x: `(*batch, channels, *spatial)`; returns the same with longer spatial axes."""
        return self._pad(x)

    def _pad(self, x: Array, value: float = 0.0) -> Array:
        if len(x.shape) <= self.num_axes:
            raise ShapeError(
                f"{type(self).__name__}: x: got the shape {tuple(x.shape)}, expected (*batch, "
                f"channels, *spatial) with {self.num_axes} spatial axes"
            )
        pairs = list(zip(self.padding[::2], self.padding[1::2]))
        return padded(x, pairs[::-1], self.mode, value)


class _ConstantPad(_Pad):
    """Padding with one number."""

    @signature_errors()
    def __init__(self, padding: Ints, value: float) -> None:
        self.padding, self.value = self._sides(padding), value

    def forward(self, x: Array) -> Array:
        """x: `(*batch, channels, *spatial)`; returns the same with longer spatial axes."""
        return self._pad(x, self.value)


class ZeroPad1d(_Pad):
    """Zeros around the last axis.

    Args:
        padding: an integer, or (left, right).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ZeroPad1d((1, 2)).init(na.random.key(0))
        >>> net(np.asarray([[1.0, 2.0, 3.0]]))
        array([[0., 1., 2., 3., 0., 0.]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ZeroPad1d.html
    """

    num_axes = 1


class ZeroPad2d(_Pad):
    """Zeros around the last two axes.

    Args:
        padding: an integer, or (left, right, top, bottom).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ZeroPad2d(1).init(na.random.key(0))
        >>> net(np.ones((1, 1, 3, 3))).shape
        (1, 1, 5, 5)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ZeroPad2d.html
    """

    num_axes = 2


class ZeroPad3d(_Pad):
    """Zeros around the last three axes.

    Args:
        padding: an integer, or (left, right, top, bottom, front, back).

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ZeroPad3d.html
    """

    num_axes = 3


class ConstantPad1d(_ConstantPad):
    """A constant around the last axis.

    Args:
        padding: an integer, or (left, right).
        value: the constant.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ConstantPad1d((1, 2), 9.0).init(na.random.key(0))
        >>> net(np.asarray([[1.0, 2.0, 3.0]]))
        array([[9., 1., 2., 3., 9., 9.]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ConstantPad1d.html
    """

    num_axes = 1


class ConstantPad2d(_ConstantPad):
    """A constant around the last two axes.

    Args:
        padding: an integer, or (left, right, top, bottom).
        value: the constant.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ConstantPad2d(1, 9.0).init(na.random.key(0))
        >>> net(np.ones((1, 1, 3, 3))).shape
        (1, 1, 5, 5)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ConstantPad2d.html
    """

    num_axes = 2


class ConstantPad3d(_ConstantPad):
    """A constant around the last three axes.

    Args:
        padding: an integer, or (left, right, top, bottom, front, back).
        value: the constant.

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ConstantPad3d.html
    """

    num_axes = 3


class ReflectionPad1d(_Pad):
    """The mirror image around the last axis without the border element; margins beyond its length repeat it.

    Args:
        padding: an integer, or (left, right).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ReflectionPad1d((1, 2)).init(na.random.key(0))
        >>> net(np.asarray([[1.0, 2.0, 3.0]]))
        array([[2., 1., 2., 3., 2., 1.]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ReflectionPad1d.html
    """

    num_axes = 1
    mode = "reflect"


class ReflectionPad2d(_Pad):
    """The mirror image around the last two axes.

    Args:
        padding: an integer, or (left, right, top, bottom).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ReflectionPad2d(1).init(na.random.key(0))
        >>> net(np.ones((1, 1, 3, 3))).shape
        (1, 1, 5, 5)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ReflectionPad2d.html
    """

    num_axes = 2
    mode = "reflect"


class ReflectionPad3d(_Pad):
    """The mirror image around the last three axes.

    Args:
        padding: an integer, or (left, right, top, bottom, front, back).

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ReflectionPad3d.html
    """

    num_axes = 3
    mode = "reflect"


class ReplicationPad1d(_Pad):
    """The nearest element around the last axis.

    Args:
        padding: an integer, or (left, right).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ReplicationPad1d((1, 2)).init(na.random.key(0))
        >>> net(np.asarray([[1.0, 2.0, 3.0]]))
        array([[1., 1., 2., 3., 3., 3.]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ReplicationPad1d.html
    """

    num_axes = 1
    mode = "replicate"


class ReplicationPad2d(_Pad):
    """The nearest element around the last two axes.

    Args:
        padding: an integer, or (left, right, top, bottom).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ReplicationPad2d(1).init(na.random.key(0))
        >>> net(np.ones((1, 1, 3, 3))).shape
        (1, 1, 5, 5)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ReplicationPad2d.html
    """

    num_axes = 2
    mode = "replicate"


class ReplicationPad3d(_Pad):
    """The nearest element around the last three axes.

    Args:
        padding: an integer, or (left, right, top, bottom, front, back).

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ReplicationPad3d.html
    """

    num_axes = 3
    mode = "replicate"


class CircularPad1d(_Pad):
    """The opposite end around the last axis: the axis is periodic.

    Args:
        padding: an integer, or (left, right).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.CircularPad1d((1, 2)).init(na.random.key(0))
        >>> net(np.asarray([[1.0, 2.0, 3.0]]))
        array([[3., 1., 2., 3., 1., 2.]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.CircularPad1d.html
    """

    num_axes = 1
    mode = "circular"


class CircularPad2d(_Pad):
    """The opposite end around the last two axes.

    Args:
        padding: an integer, or (left, right, top, bottom).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.CircularPad2d(1).init(na.random.key(0))
        >>> net(np.ones((1, 1, 3, 3))).shape
        (1, 1, 5, 5)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.CircularPad2d.html
    """

    num_axes = 2
    mode = "circular"


class CircularPad3d(_Pad):
    """The opposite end around the last three axes.

    Args:
        padding: an integer, or (left, right, top, bottom, front, back).

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.CircularPad3d.html
    """

    num_axes = 3
    mode = "circular"
