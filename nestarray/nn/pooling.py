"""Pooling in sliding windows: maxima, means and norms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.spatial import Spatial
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints
from nestarray.typing import Array, check_not_zero, check_range


class _Pool(Spatial):
    """Windows over the last `num_axes` axes; settings have one entry for each."""

    def _set_windows(
        self, kernel_size: Ints, stride: Ints | None, padding: Ints = 0, dilation: Ints = 1
    ) -> None:
        name, count = type(self).__name__, self.num_axes
        self.kernel_size = windows.per_axis(name, "kernel_size", kernel_size, count)
        step = kernel_size if stride is None else stride
        self.stride = windows.per_axis(name, "stride", step, count)
        self.padding = windows.per_axis(name, "padding", padding, count, least=0)
        self.dilation = windows.per_axis(name, "dilation", dilation, count)
        extent = [d * (k - 1) + 1 for k, d in zip(self.kernel_size, self.dilation)]
        if any(2 * p > e for p, e in zip(self.padding, extent)):
            raise ArgumentError(
                f"{name}: padding: got {padding!r}, expected at most half of the window, which "
                f"spans {tuple(extent)}"
            )

    def _pooled(self, pool: Callable[..., Any], x: Array, **settings: Any) -> Any:
        pool = partial(pool, kernel_size=self.kernel_size, stride=self.stride, **settings)
        return self._batched(pool, x)


class _MaxPool(_Pool):
    """The maximum in sliding windows."""

    @signature_errors()
    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        self._set_windows(kernel_size, stride, padding, dilation)
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def _maxima(self, pool: Callable[..., Array], x: Array) -> Any:
        if self.return_indices:
            pool = ops.max_pool_with_indices
        return self._pooled(
            pool, x, padding=self.padding, dilation=self.dilation, ceil_mode=self.ceil_mode
        )


class MaxPool1d(_MaxPool):
    """The maximum in sliding windows over one axis.

    Args:
        kernel_size: the size of the window.
        stride: the step between windows; None: `kernel_size`.
        padding: −∞ around x, at most half of the window.
        dilation: the step between the elements of a window.
        return_indices: whether the result is (maxima, their indices in x); `MaxUnpool1d` takes both.
        ceil_mode: whether a last window that starts in x counts, although it ends beyond.

    Raises:
        ArgumentError: a setting has a wrong kind or length, or is too small or too large.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.MaxPool1d(2, return_indices=True).init(na.random.key(0))
        >>> net(np.asarray([[[1.0, 3.0, 2.0, 5.0]]]))
        (array([[[3., 5.]]]), array([[[1, 3]]]))

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.MaxPool1d.html
    """

    num_axes = 1

    def forward(self, x: Array) -> Any:
        """x: `([batch], channels, length)`; returns `([batch], channels, out_length)`."""
        return self._maxima(ops.max_pool1d, x)


class MaxPool2d(_MaxPool):
    """The maximum in sliding windows over two axes.

    Args:
        kernel_size, stride, padding, dilation: as for `MaxPool1d`; an integer, or one for each axis.
        return_indices: whether the result is (maxima, their indices in the flattened spatial axes).
        ceil_mode: as for `MaxPool1d`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.MaxPool2d(3, 2, 1).init(na.random.key(0))
        >>> net(np.arange(16.0).reshape(1, 1, 4, 4))
        array([[[[ 5.,  7.],
                 [13., 15.]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html
    """

    num_axes = 2

    def forward(self, x: Array) -> Any:
        """x: `([batch], channels, height, width)`; returns `([batch], channels, *out)`."""
        return self._maxima(ops.max_pool2d, x)


class MaxPool3d(_MaxPool):
    """The maximum in sliding windows over three axes.

    Args:
        kernel_size, stride, padding, dilation: as for `MaxPool1d`; an integer, or one for each axis.
        return_indices: whether the result is (maxima, their indices in the flattened spatial axes).
        ceil_mode: as for `MaxPool1d`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.MaxPool3d(2).init(na.random.key(0))
        >>> net(np.ones((1, 2, 4, 4, 4))).shape
        (1, 2, 2, 2, 2)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.MaxPool3d.html
    """

    num_axes = 3

    def forward(self, x: Array) -> Any:
        """x: `([batch], channels, depth, height, width)`; returns `([batch], channels, *out)`."""
        return self._maxima(ops.max_pool3d, x)


class _AvgPool(_Pool):
    """The mean in sliding windows."""

    @signature_errors()
    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        self._set_windows(kernel_size, stride, padding)
        check_not_zero(type(self).__name__, "divisor_override", divisor_override)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def _means(self, pool: Callable[..., Array], x: Array) -> Array:
        return self._pooled(
            pool, x, padding=self.padding, ceil_mode=self.ceil_mode,
            count_include_pad=self.count_include_pad, divisor_override=self.divisor_override,
        )  # fmt: skip


class AvgPool1d(_AvgPool):
    """The mean in sliding windows over one axis.

    Args:
        kernel_size: the size of the window.
        stride: the step between windows; None: `kernel_size`.
        padding: zeros around x, at most half of the window.
        ceil_mode: whether a last window that starts in x counts, although it ends beyond.
        count_include_pad: whether the zeros around x count in the mean.
        divisor_override: the number to divide the sums by; None: the number of elements.

    Raises:
        ArgumentError: a setting has a wrong kind or length, or is too small or too large.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AvgPool1d(2).init(na.random.key(0))
        >>> net(np.asarray([[[1.0, 3.0, 2.0, 5.0]]]))
        array([[[2. , 3.5]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AvgPool1d.html
    """

    num_axes = 1

    def forward(self, x: Array) -> Array:
        """x: `([batch], channels, length)`; returns `([batch], channels, out_length)`."""
        return self._means(ops.avg_pool1d, x)


class AvgPool2d(_AvgPool):
    """The mean in sliding windows over two axes.

    Args:
        kernel_size, stride, padding: as for `AvgPool1d`; an integer, or one for each axis.
        ceil_mode, count_include_pad, divisor_override: as for `AvgPool1d`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AvgPool2d(2).init(na.random.key(0))
        >>> net(np.arange(16.0).reshape(1, 1, 4, 4))
        array([[[[ 2.5,  4.5],
                 [10.5, 12.5]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AvgPool2d.html
    """

    num_axes = 2

    def forward(self, x: Array) -> Array:
        """x: `([batch], channels, height, width)`; returns `([batch], channels, *out)`."""
        return self._means(ops.avg_pool2d, x)


class AvgPool3d(_AvgPool):
    """The mean in sliding windows over three axes.

    Args:
        kernel_size, stride, padding: as for `AvgPool1d`; an integer, or one for each axis.
        ceil_mode, count_include_pad, divisor_override: as for `AvgPool1d`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AvgPool3d(2).init(na.random.key(0))
        >>> net(np.ones((1, 2, 4, 4, 4))).shape
        (1, 2, 2, 2, 2)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AvgPool3d.html
    """

    num_axes = 3

    def forward(self, x: Array) -> Array:
        """x: `([batch], channels, depth, height, width)`; returns `([batch], channels, *out)`."""
        return self._means(ops.avg_pool3d, x)


class _LPPool(_Pool):
    """The norm in sliding windows."""

    @signature_errors()
    def __init__(
        self,
        norm_type: float,
        kernel_size: Ints,
        stride: Ints | None = None,
        ceil_mode: bool = False,
    ) -> None:
        check_range(type(self).__name__, "norm_type", norm_type, 0.0, above=True)
        self._set_windows(kernel_size, stride)
        self.norm_type, self.ceil_mode = norm_type, ceil_mode

    def forward(self, x: Array) -> Array:
        """x: `([batch], channels, *spatial)`; returns `([batch], channels, *out)`."""
        return self._pooled(ops.lp_pool, x, ord=self.norm_type, ceil_mode=self.ceil_mode)


class LPPool1d(_LPPool):
    """The norm in sliding windows over one axis, (Σ |x|ᵖ)^(1/p).

    PyTorch sums xᵖ instead of |x|ᵖ, which differs where p is odd and x negative.

    Args:
        norm_type: the order p; a positive number, or infinity for the maximum.
        kernel_size: the size of the window.
        stride: the step between windows; None: `kernel_size`.
        ceil_mode: whether a last window that starts in x counts, although it ends beyond; its sum is
            scaled to the size of the window.

    Raises:
        ArgumentError: `norm_type` is not positive, or a setting has a wrong kind or length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LPPool1d(2, 2).init(na.random.key(0))
        >>> net(np.asarray([[[3.0, -4.0, 0.0, 2.0]]]))
        array([[[5., 2.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LPPool1d.html
    """

    num_axes = 1


class LPPool2d(_LPPool):
    """The norm in sliding windows over two axes, (Σ |x|ᵖ)^(1/p).

    Args:
        norm_type, ceil_mode: as for `LPPool1d`.
        kernel_size, stride: as for `LPPool1d`; an integer, or one for each axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LPPool2d(2, 2).init(na.random.key(0))
        >>> net(np.ones((1, 1, 2, 4)))
        array([[[[2., 2.]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LPPool2d.html
    """

    num_axes = 2


class LPPool3d(_LPPool):
    """The norm in sliding windows over three axes, (Σ |x|ᵖ)^(1/p).

    Args:
        norm_type, ceil_mode: as for `LPPool1d`.
        kernel_size, stride: as for `LPPool1d`; an integer, or one for each axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LPPool3d(3, 2).init(na.random.key(0))
        >>> net(np.ones((1, 1, 2, 2, 2)))
        array([[[[[2.]]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LPPool3d.html
    """

    num_axes = 3
