"""Resampling of images, channels last: a product with a matrix of weights along each axis.

Upstream: https://www.tensorflow.org/api_docs/python/tf/image/resize
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.frontends.tensorflow.image.geometry import image_tensor, pad_to_bounding_box
from nestarray.typing import Array

__all__ = ["ResizeMethod", "crop_and_resize", "resize", "resize_with_pad"]

_single = np.float32


class ResizeMethod:
    """The names of methods."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Array:
    """`images` of another height and width, float32 except for ``"nearest"``.

    Args:
        images: `(height, width, channels)`, or a batch of these.
        size: the height and the width.
        method: a name of `ResizeMethod`.
        preserve_aspect_ratio: the largest size within `size` with the ratio of `images`.
        antialias: widen the kernel where the image becomes smaller.
    """
    images, sizes = image_tensor("resize", images), integers(size)
    old = na.shape(images)[-3:-1]
    if preserve_aspect_ratio:
        scale = min(_single(new) / _single(n) for new, n in zip(sizes, old, strict=True))
        sizes = tuple([int(np.round(scale * _single(n))) for n in old])
    if method == "nearest":
        return take_nearest(images, [nearest(*pair) for pair in zip(old, sizes, strict=True)])
    return resampled(images, [weights(*pair, method, antialias) for pair in zip(old, sizes)])


def resampled(images: Array, matrices: list[np.ndarray]) -> Array:
    """`images` times matrices `(new, old)` along height and width, in float32."""
    x = na.astype(images, dtypes.float32)
    for axis, matrix in zip((-3, -2), matrices, strict=True):
        product = na.tensordot(na.asarray(matrix, like=x), x, axes=((1,), (axis % len(x.shape),)))
        x = na.moveaxis(product, 0, axis)
    return x


def take_nearest(images: Array, places: list[np.ndarray]) -> Array:
    """Rows and columns of images."""
    for axis, place in zip((-3, -2), places, strict=True):
        images = na.take(images, na.asarray(place, like=images), axis=axis)
    return images


# -- positions of the elements of the result, as upstream rounds them ------------------------------


def positions(old: int, new: int, *, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """The position of each element of the result in the axis."""
    places = np.arange(new, dtype=_single)
    if align_corners and new > 1:
        return places * _single((old - 1) / _single(new - 1))
    scale = _single(old) / _single(new)
    if half_pixel_centers:
        return (places + _single(0.5)) * scale - _single(0.5)
    return places * scale


def nearest(
    old: int, new: int, *, align_corners: bool = False, half_pixel_centers: bool = True
) -> np.ndarray:
    """The index of the nearest element."""
    found = positions(old, new, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
    if half_pixel_centers:
        found = found + _single(0.5)
    found = np.floor(found + _single(0.5)) if align_corners else np.floor(found)
    return np.clip(found, 0, old - 1).astype(np.int32)


def linear_weights(
    old: int, new: int, *, align_corners: bool = False, half_pixel_centers: bool = True
) -> np.ndarray:
    """Weights of the two neighbours, `(new, old)`; the edges are repeated."""
    place = positions(old, new, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
    low = np.floor(place)
    share = place - low
    found = np.zeros((new, old), _single)
    rows = np.arange(new)
    first = np.clip(low, 0, old - 1).astype(int)
    second = np.clip(np.ceil(place), 0, old - 1).astype(int)
    np.add.at(found, (rows, first), 1 - share)
    np.add.at(found, (rows, second), share)
    return found


#: Upstream's steps of a table of cubic weights.
_TABLE_SIZE = 1 << 10


def cubic_weights(
    old: int, new: int, *, align_corners: bool = False, half_pixel_centers: bool = True
) -> np.ndarray:
    """Weights of the four neighbours, `(new, old)`.

    With `half_pixel_centers`, Keys' kernel with a = −0.5, renormalized at the edges; else a = −0.75
    with repeated edges.
    """
    place = positions(old, new, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
    a = -0.5 if half_pixel_centers else -0.75
    low = np.floor(place)
    share = np.rint((place - low) * _TABLE_SIZE) / _TABLE_SIZE
    found = np.zeros((new, old))
    rows = np.arange(new)
    for step in (-1, 0, 1, 2):
        weight = _cubic(np.abs(share - step), a)
        index = low.astype(int) + step
        inside = np.clip(index, 0, old - 1)
        if half_pixel_centers:
            weight = np.where(index == inside, weight, 0)
        np.add.at(found, (rows, inside), weight)
    if half_pixel_centers:
        found = found / found.sum(axis=1, keepdims=True)
    return found.astype(_single)


def _cubic(x: np.ndarray, a: float) -> np.ndarray:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def area_weights(old: int, new: int, *, align_corners: bool = False) -> np.ndarray:
    """The share of each element in the interval of each element of the result, `(new, old)`."""
    whole = (old - 1) / (new - 1) if align_corners and new > 1 else old / new
    scale = _single(whole)
    starts = np.arange(new, dtype=_single)[:, None] * scale
    ends = (np.arange(new, dtype=_single)[:, None] + 1) * scale
    places = np.arange(math.ceil(ends.max()) if new else 0)
    overlaps = np.minimum(ends, places + 1) - np.maximum(starts, places)
    found = np.zeros((new, old), _single)
    for place in places:
        found[:, min(place, old - 1)] += np.maximum(overlaps[:, place], 0)
    return found / scale


# -- kernels of any scale --------------------------------------------------------------------------


def _lanczos(radius: float) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        safe = np.where(x > 1e-3, x, 1)
        found = radius * np.sin(np.pi * safe) * np.sin(np.pi * safe / radius)
        found = np.where(x > 1e-3, found / (np.pi**2 * safe * safe), 1)
        return np.where(x > radius, 0, found)

    return kernel


def _mitchell(x: np.ndarray) -> np.ndarray:
    near = (7 / 6 * x - 2) * x * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x < 1, near, np.where(x < 2, far, 0))


#: Kernel → its radius, and its values at distances.
KERNELS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-2 * x * x), 0)),
    "box": (1.0, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2.0, lambda x: _cubic(x, -0.5)),
    "mitchellcubic": (2.0, _mitchell),
}


def kernel_weights(
    old: int,
    new: int,
    kernel: str,
    antialias: bool,
    scale: float | None = None,
    translation: float = 0.0,
) -> np.ndarray:
    """Weights of a kernel, `(new, old)`, normalized; 0 for elements outside of the axis.

    Args:
        old, new: lengths.
        kernel: a name of `KERNELS`.
        antialias: widen the kernel if the scale is below 1.
        scale: new / old by default.
        translation: the position of the start of the axis in the result.
    """
    radius, values = KERNELS[kernel]
    factor = _single(new) / _single(old) if scale is None else _single(scale)
    inverse = _single(1) / factor
    width = max(inverse, _single(1)) if antialias else _single(1)
    centers = (np.arange(new, dtype=_single) + _single(0.5)) * inverse
    centers = (centers - inverse * _single(translation))[:, None]
    places = np.arange(old, dtype=_single) + _single(0.5)
    reach = radius * width
    is_near = (places >= np.ceil(centers - reach - _single(0.5))) & (
        places - _single(0.5) <= np.floor(centers + reach - _single(0.5))
    )
    found = np.where(is_near, values(np.abs(places - centers) / width), 0)
    total = found.sum(axis=1, keepdims=True)
    is_large = np.abs(total) >= 1000 * np.finfo(_single).tiny
    found = np.where(is_large, found / np.where(is_large, total, 1), found)
    return np.where((centers >= 0) & (centers <= old), found, 0).astype(_single)


def weights(old: int, new: int, method: str, antialias: bool) -> np.ndarray:
    """The weights of a method of `resize`, `(new, old)`."""
    if method == "bilinear":
        return kernel_weights(old, new, "triangle", True) if antialias else linear_weights(old, new)
    if method == "bicubic":
        return kernel_weights(old, new, "keyscubic", True) if antialias else cubic_weights(old, new)
    if method == "area":
        return area_weights(old, new)
    if method in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic"):
        return kernel_weights(old, new, method, antialias)
    known = [value for key, value in vars(ResizeMethod).items() if key.isupper()]
    raise ArgumentError(f"resize: method: got {method!r}, expected one of {known}")


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Array:
    """`image` resized to the largest size within the target, padded with zeros around it."""
    image = image_tensor("resize_with_pad", image)
    target, old = (integers(target_height), integers(target_width)), na.shape(image)[-3:-1]
    ratio = max(_single(n) / _single(new) for n, new in zip(old, target, strict=True))
    exact = [_single(n) / ratio for n in old]
    pads = [
        max(0, math.floor((_single(new) - size) / 2))
        for new, size in zip(target, exact, strict=True)
    ]
    found = resize(image, [math.floor(size) for size in exact], method, antialias=antialias)
    return pad_to_bounding_box(found, pads[0], pads[1], target[0], target[1])


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Array:
    """Boxes of images `(batch, height, width, channels)`, resampled to one size, float32.

    Args:
        image: the images.
        boxes: `(n, 4)`, float32: y1, x1, y2, x2, from 0 to 1.
        box_indices: `(n,)`, int32: the image of each box.
        crop_size: the height and the width of the result.
        method: ``"bilinear"`` or ``"nearest"``.
        extrapolation_value: the value outside of images.
    """
    images = na.astype(image_tensor("crop_and_resize", image), dtypes.float32)
    found = na.crop_and_resize(
        na.moveaxis(images, -1, 1),
        tensor(boxes, like=images),
        tensor(box_indices, like=images),
        crop_size=integers(crop_size),
        method=method,
        extrapolation_value=extrapolation_value,
    )
    return na.moveaxis(found, 1, -1)
