"""Conversion between the colour spaces RGB and HSV, and to grayscale; channels first."""

from __future__ import annotations

from nestarray import ops
from nestarray.backends.base import refuse_complex
from nestarray.dispatch import floating_op
from nestarray.errors import ShapeError
from nestarray.typing import Array

__all__ = ["hsv_to_rgb", "rgb_to_grayscale", "rgb_to_hsv"]

#: The luminance of red, green and blue (ITU-R BT.601).
_LUMA = (0.2989, 0.587, 0.114)


@floating_op
def rgb_to_grayscale(x: Array, /, *, axis: int = -3) -> Array:
    """The luminance of colours, 0.2989 · red + 0.587 · green + 0.114 · blue.

    Args:
        x: `(*batch, 3, height, width)`, or any shape with three colours along `axis`, floating.
        axis: the axis of the colour channels.

    Returns:
        The shape of x with one channel along `axis`.

    Raises:
        ShapeError: the size along `axis` is not 3.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.rgb_to_grayscale(np.asarray([0.0, 1.0, 0.0]), axis=0)
        array([0.587])

    References:
        https://keras.io/api/ops/image/#rgbtograyscale-function
    """
    red, green, blue = _channels("rgb_to_grayscale", x, axis)
    return red * _LUMA[0] + green * _LUMA[1] + blue * _LUMA[2]


@floating_op
def rgb_to_hsv(x: Array, /, *, axis: int = -3) -> Array:
    """Convert RGB to hue, saturation and value, each in [0, 1].

    The hue of grey is 0, and the saturation of black is 0.

    Args:
        x: `(*batch, 3, height, width)`, or any shape with three colours along `axis`, floating,
            from 0 to 1.
        axis: the axis of the colour channels.

    Returns:
        The shape and dtype of x.

    Raises:
        ShapeError: the size along `axis` is not 3.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.rgb_to_hsv(np.asarray([0.0, 0.5, 0.0]), axis=0).round(4)
        array([0.3333, 1.    , 0.5   ])

    References:
        https://keras.io/api/ops/image/#rgbtohsv-function
        https://docs.python.org/3/library/colorsys.html
    """
    red, green, blue = _channels("rgb_to_hsv", x, axis)
    value = ops.maximum(ops.maximum(red, green), blue)
    spread = value - ops.minimum(ops.minimum(red, green), blue)
    is_grey, is_black = ops.equal(spread, 0), ops.equal(value, 0)
    divisor = ops.where(is_grey, 1.0, spread)
    sector = ops.where(
        ops.equal(value, red),
        (green - blue) / divisor,
        ops.where(
            ops.equal(value, green), (blue - red) / divisor + 2.0, (red - green) / divisor + 4.0
        ),
    )
    hue = sector / 6.0
    hue = ops.where(ops.less(hue, 0), hue + 1.0, hue)
    saturation = spread / ops.where(is_black, 1.0, value)
    return ops.concat((ops.where(is_grey, 0.0, hue), saturation, value), axis=axis)


@floating_op
def hsv_to_rgb(x: Array, /, *, axis: int = -3) -> Array:
    """Convert hue, saturation and value to RGB: the inverse of `rgb_to_hsv`.

    Args:
        x: `(*batch, 3, height, width)`, or any shape with hue, saturation and value along
            `axis`, floating, from 0 to 1.
        axis: the axis of the channels.

    Returns:
        The shape and dtype of x.

    Raises:
        ShapeError: the size along `axis` is not 3.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hsv_to_rgb(np.asarray([0.5, 1.0, 0.25]), axis=0)
        array([0.  , 0.25, 0.25])

    References:
        https://keras.io/api/ops/image/#hsvtorgb-function
    """
    refuse_complex(x)
    hue, saturation, value = _channels("hsv_to_rgb", x, axis)
    # each colour is a piecewise linear function of the hue
    red = ops.abs(hue * 6.0 - 3.0) - 1.0
    green = 2.0 - ops.abs(hue * 6.0 - 2.0)
    blue = 2.0 - ops.abs(hue * 6.0 - 4.0)
    shares = ops.clip(ops.concat((red, green, blue), axis=axis), 0.0, 1.0)
    return value * (1.0 + saturation * (shares - 1.0))


def _channels(name: str, x: Array, axis: int) -> list[Array]:
    count = len(x.shape)
    if not -count <= axis < count or x.shape[axis] != 3:
        raise ShapeError(
            f"{name}: x has shape {tuple(x.shape)}, expected three channels along axis {axis}"
        )
    lead = (slice(None),) * (axis % count)
    return [x[(*lead, slice(i, i + 1))] for i in range(3)]
