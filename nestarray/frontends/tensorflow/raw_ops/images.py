"""Images.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ResizeBilinear
"""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.errors import UnsupportedError
from nestarray.frontends.tensorflow import image
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "AdjustContrastv2", "AdjustHue", "AdjustSaturation", "CropAndResize", "ExtractImagePatches",
    "HSVToRGB", "RGBToHSV", "ResizeBicubic", "ResizeBilinear", "ResizeBilinearGrad",
    "ResizeNearestNeighbor", "ResizeNearestNeighborGrad",
]  # fmt: skip

RGBToHSV = image.rgb_to_hsv


def HSVToRGB(images: Array) -> Array:
    """Red, green and blue of hue, saturation and value; upstream's kernel has no derivative."""
    return na.stop_gradient(image.hsv_to_rgb(images))


def AdjustContrastv2(images: Array, contrast_factor: Array) -> Array:
    """The distance to the mean of each channel, scaled."""
    return image.adjust_contrast(images, contrast_factor)


def AdjustHue(images: Array, delta: Array) -> Array:
    """The hue, moved around the circle."""
    return image.adjust_hue(images, delta)


def AdjustSaturation(images: Array, scale: Array) -> Array:
    """The saturation, scaled."""
    return image.adjust_saturation(images, scale)


def _resized(
    images: Array, size: Ints, method: str, align_corners: bool, half_pixel_centers: bool
) -> Array:
    if align_corners or not half_pixel_centers:
        raise UnsupportedError(
            f"resize: got align_corners={align_corners} and half_pixel_centers={half_pixel_centers}, "
            "expected half_pixel_centers=True, as tf.image.resize has it; the other ways are of "
            "TensorFlow 1"
        )
    found = image.resize(images, integers(size), method)
    return found if method == "nearest" else na.astype(found, dtypes.float32)


def ResizeBilinear(
    images: Array, size: Ints, align_corners: bool = False, half_pixel_centers: bool = False
) -> Array:
    """Images of another size, by linear interpolation."""
    return _resized(images, size, "bilinear", align_corners, half_pixel_centers)


def ResizeBicubic(
    images: Array, size: Ints, align_corners: bool = False, half_pixel_centers: bool = False
) -> Array:
    """Images of another size, by cubic interpolation."""
    return _resized(images, size, "bicubic", align_corners, half_pixel_centers)


def ResizeNearestNeighbor(
    images: Array, size: Ints, align_corners: bool = False, half_pixel_centers: bool = False
) -> Array:
    """Images of another size, of the nearest elements."""
    return _resized(images, size, "nearest", align_corners, half_pixel_centers)


def ResizeBilinearGrad(
    grads: Array,
    original_image: Array,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Array:
    """The gradient of `ResizeBilinear`."""
    size = na.shape(grads)[1:3]
    settings = (size, align_corners, half_pixel_centers)
    return na.vjp(lambda x: ResizeBilinear(x, *settings), original_image)[1](grads)[0]


def ResizeNearestNeighborGrad(
    grads: Array, size: Ints, align_corners: bool = False, half_pixel_centers: bool = False
) -> Array:
    """The gradient of `ResizeNearestNeighbor`."""
    batch, *after, channels = na.shape(grads)
    start = na.zeros((batch, *integers(size), channels), dtype=dtypes.dtype_of(grads), like=grads)
    settings = (after, align_corners, half_pixel_centers)
    return na.vjp(lambda x: ResizeNearestNeighbor(x, *settings), start)[1](grads)[0]


def CropAndResize(
    image: Array,
    boxes: Array,
    box_ind: Array,
    crop_size: Ints,
    method: str = "bilinear",
    extrapolation_value: float = 0,
) -> Array:
    """Parts of images, in one size."""
    first = na.permute_dims(na.astype(image, dtypes.float32), (0, 3, 1, 2))
    found = na.crop_and_resize(
        first, boxes, box_ind, crop_size=integers(crop_size), method=method,
        extrapolation_value=extrapolation_value,
    )  # fmt: skip
    return na.permute_dims(found, (0, 2, 3, 1))


def ExtractImagePatches(
    images: Array,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> Array:
    """The windows of images as channels."""
    return image.extract_patches(images, ksizes, strides, rates, padding)
