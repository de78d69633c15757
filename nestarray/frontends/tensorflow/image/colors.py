"""Colour spaces, colour adjustments and data types of images, channels last.

Upstream: https://www.tensorflow.org/api_docs/python/tf/image
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.frontends.tensorflow.conversion import floating, tensor
from nestarray.frontends.tensorflow.data_type import cast, saturate_cast
from nestarray.frontends.tensorflow.image.geometry import image_tensor
from nestarray.typing import Array, DTypeLike

__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
    "convert_image_dtype", "grayscale_to_rgb", "hsv_to_rgb", "per_image_standardization",
    "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv", "yiq_to_rgb", "yuv_to_rgb",
]  # fmt: skip

_LUMA = (0.2989, 0.587, 0.114)
_RGB_TO_YIQ = [
    [0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955],
]  # fmt: skip
_YIQ_TO_RGB = [
    [1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049],
]  # fmt: skip
_RGB_TO_YUV = [
    [0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026],
]  # fmt: skip
_YUV_TO_RGB = [
    [1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0],
]  # fmt: skip


def convert_image_dtype(
    image: Any, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Array:
    """`image` in another dtype, scaled: 1 corresponds to the largest integer.

    Args:
        image: of a floating or integer dtype.
        dtype: the new dtype.
        saturate: clip to the limits of the new dtype.
    """
    image = tensor(image)
    old, new = dtypes.dtype_of(image), dtypes.as_dtype(dtype)
    for found in (old, new):
        if not found.is_integer and found.kind != "float":
            raise DtypeError(
                f"convert_image_dtype: got {found}, expected a floating or an integer dtype"
            )
    convert = saturate_cast if saturate else cast
    if old is new:
        return image
    if old.is_integer and new.is_integer:
        largest, limit = dtypes.iinfo(old).max, dtypes.iinfo(new).max
        if largest > limit:
            return convert(na.floor_divide(image, (largest + 1) // (limit + 1)), new)
        return na.multiply(convert(image, new), (limit + 1) // (largest + 1))
    if old.is_integer:
        return na.multiply(cast(image, new), 1.0 / dtypes.iinfo(old).max)
    if new.is_integer:
        return convert(na.multiply(image, dtypes.iinfo(new).max + 0.5), new)
    return cast(image, new)


def _in_floats(image: Any) -> tuple[Array, DType]:
    """An image in float16 or float32, and its dtype."""
    image = tensor(image)
    dtype = dtypes.dtype_of(image)
    if dtype in (dtypes.float16, dtypes.float32):
        return image, dtype
    return convert_image_dtype(image, dtypes.float32), dtype


def _number(x: Any, like: Array) -> Array:
    """A number or tensor in the dtype of an image."""
    x = tensor(x, like=like) if hasattr(x, "dtype") else tensor(float(x), like=like)
    return cast(x, dtypes.dtype_of(like))


def adjust_brightness(image: Any, delta: Any) -> Array:
    """`image` + delta."""
    x, dtype = _in_floats(image)
    return convert_image_dtype(na.add(x, _number(delta, x)), dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Array:
    """(x − mean) · factor + mean, the mean of each channel of each image."""
    x, dtype = _in_floats(image_tensor("adjust_contrast", images))
    wide = cast(x, dtypes.float32)
    mean = na.mean(wide, axis=(-3, -2), keepdims=True)
    found = na.add(na.multiply(na.subtract(wide, mean), _number(contrast_factor, wide)), mean)
    return convert_image_dtype(cast(found, dtypes.dtype_of(x)), dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Array:
    """gain · xᵞ."""
    if not hasattr(gamma, "dtype") and gamma < 0:
        raise ArgumentError(f"adjust_gamma: gamma: got {gamma}, expected a non-negative number")
    x, dtype = _in_floats(image)
    found = na.multiply(na.pow(x, _number(gamma, x)), _number(gain, x))
    return convert_image_dtype(found, dtype, saturate=True)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Array:
    """`image` with delta added to the hue, a fraction of the circle."""
    if not hasattr(delta, "dtype") and not -1 <= delta <= 1:
        raise ArgumentError(f"adjust_hue: delta: got {delta}, expected a number from −1 to 1")
    x, dtype = _in_floats(image)
    wide = cast(x, dtypes.float32)
    hue, spread, value = _hue_spread_value(wide)
    hue = na.add(hue, _number(delta, wide))
    hue = na.subtract(hue, na.floor(hue))
    found = na.add(na.subtract(value, spread), na.multiply(spread, _shares(hue)))
    return convert_image_dtype(cast(found, dtypes.dtype_of(x)), dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Array:
    """`image` with the saturation times a factor, clipped to [0, 1]."""
    x, dtype = _in_floats(image)
    wide = cast(x, dtypes.float32)
    hue, spread, value = _hue_spread_value(wide)
    saturation = na.multiply(_saturation(spread, value), _number(saturation_factor, wide))
    found = _rgb(hue, na.clip(saturation, 0.0, 1.0), value)
    return convert_image_dtype(cast(found, dtypes.dtype_of(x)), dtype)


def rgb_to_hsv(images: Any, name: str | None = None) -> Array:
    """Hue, saturation and value, from 0 to 1, of red, green and blue."""
    hue, spread, value = _hue_spread_value(floating("rgb_to_hsv", images))
    return na.concat([hue, _saturation(spread, value), value], axis=-1)


def hsv_to_rgb(images: Any, name: str | None = None) -> Array:
    """Red, green and blue of hue, saturation and value."""
    return _rgb(*_channels("hsv_to_rgb", floating("hsv_to_rgb", images)))


def _channels(name: str, x: Array) -> list[Array]:
    if na.shape(x)[-1] != 3:
        raise ShapeError(
            f"{name}: images: got the shape {tuple(na.shape(x))}, expected three channels, last"
        )
    return [na.getitem(x, (..., slice(i, i + 1))) for i in range(3)]


def _hue_spread_value(x: Array) -> tuple[Array, Array, Array]:
    """The hue, the largest less the smallest colour, and the largest colour."""
    red, green, blue = _channels("rgb_to_hsv", x)
    value = na.maximum(na.maximum(red, green), blue)
    spread = na.subtract(value, na.minimum(na.minimum(red, green), blue))
    is_gray = na.less_equal(spread, 0)
    unit = na.divide(1 / 6, na.where(is_gray, na.ones_like(spread), spread))
    of_blue = na.add(na.multiply(na.subtract(red, green), unit), 4 / 6)
    of_green = na.add(na.multiply(na.subtract(blue, red), unit), 2 / 6)
    hue = na.where(na.equal(green, value), of_green, of_blue)
    hue = na.where(na.equal(red, value), na.multiply(na.subtract(green, blue), unit), hue)
    hue = na.where(is_gray, na.zeros_like(hue), hue)
    return na.where(na.less(hue, 0), na.add(hue, 1), hue), spread, value


def _saturation(spread: Array, value: Array) -> Array:
    is_positive = na.greater(value, 0)
    found = na.divide(spread, na.where(is_positive, value, na.ones_like(value)))
    return na.where(is_positive, found, na.zeros_like(found))


def _shares(hue: Array) -> Array:
    """The shares of the three colours in a saturated colour, piecewise linear in the hue."""
    sector = na.multiply(hue, 6)
    red = na.subtract(na.abs(na.subtract(sector, 3)), 1)
    green, blue = [na.subtract(2, na.abs(na.subtract(sector, center))) for center in (2, 4)]
    return na.clip(na.concat([red, green, blue], axis=-1), 0.0, 1.0)


def _rgb(hue: Array, saturation: Array, value: Array) -> Array:
    shares = na.multiply(saturation, _shares(hue))
    return na.multiply(na.add(na.subtract(1, saturation), shares), value)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Array:
    """The luminance, one channel."""
    images = tensor(images)
    x = convert_image_dtype(images, dtypes.float32)
    found = na.matmul(x, na.asarray([[share] for share in _LUMA], dtype=dtypes.float32, like=x))
    return convert_image_dtype(found, dtypes.dtype_of(images))


def grayscale_to_rgb(images: Any, name: str | None = None) -> Array:
    """One channel three times."""
    images = tensor(images)
    if na.shape(images)[-1] != 1:
        raise ShapeError(
            f"grayscale_to_rgb: images: got the shape {tuple(na.shape(images))}, expected one "
            "channel, last"
        )
    return na.repeat(images, 3, axis=-1)


def rgb_to_yiq(images: Any) -> Array:
    """Luma and the two chroma components of NTSC."""
    return _mapped("rgb_to_yiq", images, _RGB_TO_YIQ)


def yiq_to_rgb(images: Any) -> Array:
    """The inverse of `rgb_to_yiq`."""
    return _mapped("yiq_to_rgb", images, _YIQ_TO_RGB)


def rgb_to_yuv(images: Any) -> Array:
    """Luma and the two chroma components of PAL."""
    return _mapped("rgb_to_yuv", images, _RGB_TO_YUV)


def yuv_to_rgb(images: Any) -> Array:
    """The inverse of `rgb_to_yuv`."""
    return _mapped("yuv_to_rgb", images, _YUV_TO_RGB)


def _mapped(name: str, images: Any, matrix: Sequence[Sequence[float]]) -> Array:
    x = floating(name, images)
    _channels(name, x)
    rows = [list(row) for row in matrix]
    return na.matmul(x, na.asarray(rows, dtype=dtypes.dtype_of(x), like=x))


def per_image_standardization(image: Any) -> Array:
    """(x − mean) / max(deviation, 1 / √n) of each image, float32."""
    x = cast(image_tensor("per_image_standardization", image), dtypes.float32)
    axes, count = (-3, -2, -1), math.prod(na.shape(x)[-3:])
    mean = na.mean(x, axis=axes, keepdims=True)
    centered = na.subtract(x, mean)
    variance = na.mean(na.square(centered), axis=axes, keepdims=True)
    # the square root has no derivative at 0
    deviation = na.sqrt(na.maximum(variance, 1 / count))
    return na.divide(centered, deviation)
