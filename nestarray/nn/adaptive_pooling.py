"""Pooling to a fixed number of parts, and of all spatial axes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nestarray import ops
from nestarray.errors import ArgumentError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.nn.spatial import Spatial
from nestarray.ops.window_reductions import adaptive_maxima
from nestarray.typing import Array

#: One number of parts for all axes, or one for each; None keeps the size of x.
Parts = int | None | Sequence[int | None]


class _AdaptivePool(Spatial):
    """Parts of the last `num_axes` axes."""

    def _parts(self, output_size: Parts) -> tuple[int | None, ...]:
        count = self.num_axes
        is_one = output_size is None or isinstance(output_size, int)
        parts: Any = (output_size,) * count if is_one else tuple(output_size)  # type: ignore[arg-type]
        if len(parts) != count or any(n is not None and n < 1 for n in parts):
            raise ArgumentError(
                f"{type(self).__name__}: output_size: got {output_size!r}, expected None, a positive "
                f"integer, or {count} of these"
            )
        return parts


class _AdaptiveAvgPool(_AdaptivePool):
    """The mean of each part."""

    @signature_errors()
    def __init__(self, output_size: Parts) -> None:
        self.output_size = self._parts(output_size)

    def _means(self, pool: Callable[..., Array], x: Array) -> Array:
        return self._batched(partial(pool, output_size=self.output_size), x)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The mean of each of `output_size` parts of one axis.

    Part i of n of the axis has the elements from ⌊i · length / n⌋ to ⌈(i + 1) · length / n⌉.

    Args:
        output_size: the number of parts n; None keeps the axis.

    Raises:
        ArgumentError: `output_size` is not positive, or has the wrong length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AdaptiveAvgPool1d(2).init(na.random.key(0))
        >>> net(np.asarray([[[1.0, 2.0, 6.0]]]))
        array([[[1.5, 4. ]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool1d.html
    """

    num_axes = 1

    def forward(self, x: Array) -> Array:
        """x: `([batch], channels, length)`; returns `([batch], channels, output_size)`."""
        return self._means(ops.adaptive_avg_pool1d, x)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The mean of each of the parts of two axes.

    Args:
        output_size: the number of parts of each axis; an integer, or one for each; None keeps an axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AdaptiveAvgPool2d((1, 2)).init(na.random.key(0))
        >>> net(np.arange(16.0).reshape(1, 1, 4, 4))
        array([[[[6.5, 8.5]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool2d.html
    """

    num_axes = 2

    def forward(self, x: Array) -> Array:
        """x: `([batch], channels, height, width)`; returns `([batch], channels, *output_size)`."""
        return self._means(ops.adaptive_avg_pool2d, x)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The mean of each of the parts of three axes.

    Args:
        output_size: the number of parts of each axis; an integer, or one for each; None keeps an axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AdaptiveAvgPool3d((1, None, 2)).init(na.random.key(0))
        >>> net(np.ones((2, 3, 4, 4, 4))).shape
        (2, 3, 1, 4, 2)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool3d.html
    """

    num_axes = 3

    def forward(self, x: Array) -> Array:
        """x: `([batch], channels, depth, height, width)`; returns `([batch], channels, *output_size)`."""
        return self._means(ops.adaptive_avg_pool3d, x)


class _AdaptiveMaxPool(_AdaptivePool):
    """The maximum of each part."""

    @signature_errors()
    def __init__(self, output_size: Parts, return_indices: bool = False) -> None:
        self.output_size, self.return_indices = self._parts(output_size), return_indices

    def _maxima(self, pool: Callable[..., Array], x: Array) -> Any:
        if self.return_indices:
            pool = adaptive_maxima
        return self._batched(partial(pool, output_size=self.output_size), x)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The maximum of each of `output_size` parts of one axis.

    The parts are as in `AdaptiveAvgPool1d`.

    Args:
        output_size: the number of parts; None keeps the axis.
        return_indices: whether the result is (maxima, their indices in x).

    Raises:
        ArgumentError: `output_size` is not positive, or has the wrong length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AdaptiveMaxPool1d(2, return_indices=True).init(na.random.key(0))
        >>> net(np.asarray([[[1.0, 2.0, 6.0]]]))
        (array([[[2., 6.]]]), array([[[1, 2]]]))

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveMaxPool1d.html
    """

    num_axes = 1

    def forward(self, x: Array) -> Any:
        """x: `([batch], channels, length)`; returns `([batch], channels, output_size)`."""
        return self._maxima(ops.adaptive_max_pool1d, x)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The maximum of each of the parts of two axes.

    Args:
        output_size: the number of parts of each axis; an integer, or one for each; None keeps an axis.
        return_indices: whether the result is (maxima, their indices in the flattened spatial axes).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AdaptiveMaxPool2d((1, 2)).init(na.random.key(0))
        >>> net(np.arange(16.0).reshape(1, 1, 4, 4))
        array([[[[13., 15.]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveMaxPool2d.html
    """

    num_axes = 2

    def forward(self, x: Array) -> Any:
        """x: `([batch], channels, height, width)`; returns `([batch], channels, *output_size)`."""
        return self._maxima(ops.adaptive_max_pool2d, x)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The maximum of each of the parts of three axes.

    Args:
        output_size: the number of parts of each axis; an integer, or one for each; None keeps an axis.
        return_indices: whether the result is (maxima, their indices in the flattened spatial axes).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AdaptiveMaxPool3d((1, None, 2)).init(na.random.key(0))
        >>> net(np.ones((2, 3, 4, 4, 4))).shape
        (2, 3, 1, 4, 2)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveMaxPool3d.html
    """

    num_axes = 3

    def forward(self, x: Array) -> Any:
        """x: `([batch], channels, depth, height, width)`; returns `([batch], channels, *output_size)`."""
        return self._maxima(ops.adaptive_max_pool3d, x)


class _GlobalPool(Module):
    """A reduction of all spatial axes."""

    @signature_errors()
    def __init__(self, *, keepdims: bool = False) -> None:
        self.keepdims = keepdims

    def _spatial(self, x: Array) -> tuple[int, ...]:
        if len(x.shape) < 3:
            raise ShapeError(
                f"{type(self).__name__}: x: got the shape {tuple(x.shape)}, expected (batch, "
                "channels, *spatial)"
            )
        return tuple(range(2, len(x.shape)))


class GlobalAvgPool(_GlobalPool):
    """The mean of each channel over all spatial axes, of any number.

    Args:
        keepdims: whether the spatial axes stay, with size 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GlobalAvgPool().init(na.random.key(0))
        >>> net(np.arange(8.0).reshape(1, 2, 2, 2))
        array([[1.5, 5.5]])

    References:
        https://keras.io/api/layers/pooling_layers/global_average_pooling2d/
    """

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`; returns `(batch, channels)`."""
        return ops.mean(x, axis=self._spatial(x), keepdims=self.keepdims)


class GlobalMaxPool(_GlobalPool):
    """The maximum of each channel over all spatial axes, of any number.

    Args:
        keepdims: whether the spatial axes stay, with size 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GlobalMaxPool().init(na.random.key(0))
        >>> net(np.arange(8.0).reshape(1, 2, 2, 2))
        array([[3., 7.]])

    References:
        https://keras.io/api/layers/pooling_layers/global_max_pooling2d/
    """

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`; returns `(batch, channels)`."""
        return ops.max(x, axis=self._spatial(x), keepdims=self.keepdims)
