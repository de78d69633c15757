"""Flips, rotations, crops, paddings and patches of images, channels last.

Upstream: https://www.tensorflow.org/api_docs/python/tf/image
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.typing import Array

__all__ = [
    "central_crop", "crop_to_bounding_box", "extract_glimpse", "extract_patches",
    "flip_left_right", "flip_up_down", "image_gradients", "pad_to_bounding_box",
    "resize_with_crop_or_pad", "rot90", "total_variation", "transpose",
]  # fmt: skip


def image_tensor(name: str, image: Any) -> Array:
    """An image `(height, width, channels)`, or a batch of these.

    Raises:
        ShapeError: the rank is not 3 or 4.
    """
    image = tensor(image)
    if len(na.shape(image)) not in (3, 4):
        raise ShapeError(
            f"{name}: image: got the shape {tuple(na.shape(image))}, expected (height, width, "
            "channels), or a batch of these"
        )
    return image


def flip_left_right(image: Any) -> Array:
    """The columns in reverse order."""
    return na.flip(image_tensor("flip_left_right", image), axis=-2)


def flip_up_down(image: Any) -> Array:
    """The rows in reverse order."""
    return na.flip(image_tensor("flip_up_down", image), axis=-3)


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Array:
    """`image` rotated counter-clockwise by k · 90°."""
    return na.rot90(image_tensor("rot90", image), k=integers(k), axes=(-3, -2))


def transpose(image: Any, name: str | None = None) -> Array:
    """`image` with rows and columns exchanged."""
    return na.swapaxes(image_tensor("transpose", image), -3, -2)


def central_crop(image: Any, central_fraction: Any) -> Array:
    """The middle part of an image."""
    image, fraction = image_tensor("central_crop", image), float(central_fraction)
    if not 0 < fraction <= 1:
        raise ArgumentError(
            f"central_crop: central_fraction: got {fraction}, expected a number above 0, at most 1"
        )
    height, width = na.shape(image)[-3:-1]
    cuts = [int((size - size * fraction) / 2) for size in (height, width)]
    sizes = [size - 2 * cut for size, cut in zip((height, width), cuts, strict=True)]
    return crop_to_bounding_box(image, *cuts, *sizes)


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Array:
    """The part of an image in a box, given by its upper left corner and its size.

    Raises:
        ArgumentError: the box is empty or not inside of the image.
    """
    image = image_tensor("crop_to_bounding_box", image)
    top, left, height, width = map(
        integers, (offset_height, offset_width, target_height, target_width)
    )
    _check_box("crop_to_bounding_box", na.shape(image)[-3:-1], (top, left), (height, width))
    part = (..., slice(top, top + height), slice(left, left + width), slice(None))
    return na.getitem(image, part)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Array:
    """Zeros of the target size, with `image` at an offset.

    Raises:
        ArgumentError: the image is not inside of the target.
    """
    image = image_tensor("pad_to_bounding_box", image)
    sizes = na.shape(image)[-3:-1]
    starts = (integers(offset_height), integers(offset_width))
    target = (integers(target_height), integers(target_width))
    _check_box("pad_to_bounding_box", target, starts, sizes)
    widths = [
        (start, total - start - size)
        for start, total, size in zip(starts, target, sizes, strict=True)
    ]
    return na.pad(image, [(0, 0)] * (len(na.shape(image)) - 3) + [*widths, (0, 0)])


def _check_box(
    name: str, whole: Sequence[int], starts: Sequence[int], sizes: Sequence[int]
) -> None:
    for total, start, size in zip(whole, starts, sizes, strict=True):
        if start < 0 or size <= 0 or start + size > total:
            raise ArgumentError(
                f"{name}: got a box of the size {tuple(sizes)} at {tuple(starts)}, expected one "
                f"inside of {tuple(whole)}"
            )


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Array:
    """`image` cropped around its middle, or padded with zeros, to the target size."""
    image = image_tensor("resize_with_crop_or_pad", image)
    sizes, target = na.shape(image)[-3:-1], (integers(target_height), integers(target_width))
    cuts, pads = [], []
    for size, wanted in zip(sizes, target, strict=True):
        cuts.append(max((size - wanted) // 2, 0))
        pads.append(max((wanted - size) // 2, 0))
    kept = [min(size, wanted) for size, wanted in zip(sizes, target, strict=True)]
    cropped = crop_to_bounding_box(image, cuts[0], cuts[1], kept[0], kept[1])
    return pad_to_bounding_box(cropped, pads[0], pads[1], target[0], target[1])


def image_gradients(image: Any) -> tuple[Array, Array]:
    """The differences to the next row and to the next column, 0 in the last ones."""
    image = tensor(image)
    if len(na.shape(image)) != 4:
        raise ShapeError(
            f"image_gradients: image: got the shape {tuple(na.shape(image))}, expected (batch, "
            "height, width, channels)"
        )
    last_row = na.getitem(image, (slice(None), slice(-1, None)))
    last_column = na.getitem(image, (slice(None), slice(None), slice(-1, None)))
    return na.diff(image, axis=1, append=last_row), na.diff(image, axis=2, append=last_column)


def total_variation(images: Any, name: str | None = None) -> Array:
    """The sum of the absolute differences of neighbours, for each image."""
    images = image_tensor("total_variation", images)
    parts = [na.sum(na.abs(na.diff(images, axis=a)), axis=(-3, -2, -1)) for a in (-3, -2)]
    return na.add(*parts)


def extract_patches(
    images: Any,
    sizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Array:
    """The patches of images, `(batch, rows, columns, height · width · channels)`.

    Args:
        images: `(batch, height, width, channels)`.
        sizes: ``[1, height, width, 1]`` of patches.
        strides: ``[1, rows, columns, 1]`` between the centers of patches.
        rates: ``[1, rows, columns, 1]`` between the elements of patches.
        padding: ``"VALID"``, or ``"SAME"``: with zeros around the image.
    """
    images = image_tensor("extract_patches", images)
    if padding not in ("SAME", "VALID"):
        raise ArgumentError(
            f'extract_patches: padding: got {padding!r}, expected "SAME" or "VALID"'
        )
    places = []
    widths = [(0, 0)]
    for axis in (1, 2):
        old, size = na.shape(images)[axis], integers(sizes)[axis]
        step, rate = integers(strides)[axis], integers(rates)[axis]
        extent = (size - 1) * rate + 1
        if padding == "SAME":
            count = -(-old // step)
            missing = max((count - 1) * step + extent - old, 0)
            widths.append((missing // 2, missing - missing // 2))
        else:
            count = max((old - extent) // step + 1, 0)
            widths.append((0, 0))
        starts = na.expand_dims(na.multiply(na.arange(count, like=images), step), 1)
        places.append(na.add(starts, na.multiply(na.arange(size, like=images), rate)))
    x = na.pad(images, [*widths, (0, 0)])
    x = na.take(na.take(x, places[0], axis=1), places[1], axis=3)
    batch, rows, height, columns, width, channels = na.shape(x)
    x = na.permute_dims(x, (0, 1, 3, 2, 4, 5))
    return na.reshape(x, (batch, rows, columns, height * width * channels))


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Array:
    """Windows of images; zeros outside of the images.

    Offsets are of the center of a window if it is `centered` and `normalized`, else of its start.

    Args:
        input: `(batch, height, width, channels)`, float32.
        size: the height and the width of windows.
        offsets: `(batch, 2)`, the row and the column.
        centered: whether offsets are from the middle of the image.
        normalized: whether offsets are fractions of the size: from −1 to 1 if `centered`.
        noise: only ``"zero"``.
    """
    if noise != "zero":
        raise ArgumentError(
            f'extract_glimpse: noise: got {noise!r}, expected "zero": the noise outside of images '
            "has no seed"
        )
    images, offsets, sizes = image_tensor("extract_glimpse", input), tensor(offsets), integers(size)
    batch = na.shape(images)[0]
    places, inside = [], []
    for axis, length in enumerate(sizes):
        total = na.shape(images)[axis + 1]
        start = na.getitem(offsets, (slice(None), axis))
        if normalized:
            start = na.multiply(start, float(total))
        if centered and normalized:
            start = na.divide(na.add(start, total - length), 2.0)
        elif centered:
            start = na.add(start, total / 2)
        start = na.astype(na.trunc(start), dtypes.int32)
        found = na.add(na.expand_dims(start, 1), na.arange(length, dtype=dtypes.int32, like=images))
        inside.append(na.logical_and(na.greater_equal(found, 0), na.less(found, total)))
        places.append(na.clip(found, 0, total - 1))
    rows, columns = na.expand_dims(places[0], 2), na.expand_dims(places[1], 1)
    index = na.reshape(na.arange(batch, dtype=dtypes.int32, like=images), (batch, 1, 1))
    found = na.getitem(images, (index, rows, columns))
    is_inside = na.logical_and(na.expand_dims(inside[0], 2), na.expand_dims(inside[1], 1))
    return na.where(na.expand_dims(is_inside, 3), found, na.zeros_like(found))
