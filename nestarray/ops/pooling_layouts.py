"""Pooling over any number of axes and in either layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from nestarray import ops
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, op
from nestarray.errors import NestarrayError
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints, Padding, spatial_axes
from nestarray.typing import Array

__all__ = ["avg_pool", "max_pool"]
TRAITS = Trait.HALF_SAFE


@op
@through_numbers
def max_pool(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    data_format: str = "channels_first",
) -> Array:
    """`max_pool1d`, `max_pool2d` or `max_pool3d`, by the rank of x, with the channels first or last.

    Args:
        x: `(batch, channels, *spatial)`, or `(batch, *spatial, channels)` with the channels
            last, with one to three spatial axes, real.
        kernel_size: the size of a window; an integer, or one for each axis.
        stride: the step between windows; None: `kernel_size`.
        padding: −∞ around x, counted as in `conv`.
        dilation: the step between the elements of a window.
        ceil_mode: a last window that reaches beyond the end counts, if it starts inside.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.

    Returns:
        `(batch, channels, *out_spatial)`, or with the channels last.

    Raises:
        ArgumentError: `data_format` is unknown.
        ShapeError: the window is larger than the padded x, or the ranks do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.arange(16.0).reshape(1, 4, 4, 1)
        >>> na.max_pool(x, kernel_size=2, data_format="channels_last")[..., 0]
        array([[[ 5.,  7.],
                [13., 15.]]])

    References:
        https://keras.io/api/ops/nn/#maxpool-function
    """
    settings: dict[str, Any] = {
        "stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": ceil_mode,
    }  # fmt: skip
    functions = ops.max_pool1d, ops.max_pool2d, ops.max_pool3d
    check = partial(windows.pooling, "max_pool", kernel=kernel_size, **settings)
    settings["kernel_size"] = kernel_size
    return _in_layout("max_pool", check, functions, x, settings, data_format)


@op
def avg_pool(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    data_format: str = "channels_first",
) -> Array:
    """`avg_pool1d`, `avg_pool2d` or `avg_pool3d`, by the rank of x, with the channels first or last.

    Args:
        x: `(batch, channels, *spatial)`, or `(batch, *spatial, channels)` with the channels
            last, with one to three spatial axes, floating.
        kernel_size: the size of a window; an integer, or one for each axis.
        stride: the step between windows; None: `kernel_size`.
        padding: zeros around x, counted as in `conv`.
        ceil_mode: a last window that reaches beyond the end counts, if it starts inside;
            positions beyond the padding are excluded from the mean.
        count_include_pad: the zeros of the padding are part of the mean.
        divisor_override: divide the sums by this instead of the number of elements.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.

    Returns:
        `(batch, channels, *out_spatial)`, or with the channels last.

    Raises:
        ArgumentError: `data_format` is unknown.
        ShapeError: the window is larger than the padded x, or the ranks do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.arange(16.0).reshape(1, 4, 4, 1)
        >>> na.avg_pool(x, kernel_size=2, data_format="channels_last")[..., 0]
        array([[[ 2.5,  4.5],
                [10.5, 12.5]]])

    References:
        https://keras.io/api/ops/nn/#averagepool-function
    """
    settings: dict[str, Any] = {"stride": stride, "padding": padding, "ceil_mode": ceil_mode}
    functions = ops.avg_pool1d, ops.avg_pool2d, ops.avg_pool3d
    check = partial(
        windows.pooling, "avg_pool", kernel=kernel_size, divisor=divisor_override, **settings
    )
    settings |= {
        "kernel_size": kernel_size, "count_include_pad": count_include_pad,
        "divisor_override": divisor_override,
    }  # fmt: skip
    return _in_layout("avg_pool", check, functions, x, settings, data_format)


def _in_layout(
    name: str,
    check: Callable[..., Any],
    functions: Sequence[Callable[..., Array]],
    x: Array,
    settings: Mapping[str, Any],
    data_format: str,
) -> Array:
    """One of `functions`, of 1 to 3 spatial axes, of an array with the channels first or last.

    `check` explains a failed call.
    """
    count = spatial_axes(name, x, data_format)
    is_last = data_format == "channels_last"
    x = ops.moveaxis(x, -1, 1) if is_last else x
    try:
        out = functions[count - 1](x, **settings)
    except NestarrayError:
        check(count=count, x_shape=tuple(x.shape))
        raise
    return ops.moveaxis(out, 1, -1) if is_last else out
