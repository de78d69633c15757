"""Images.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ResizeBilinear
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow import image
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.frontends.tensorflow.image import resizing
from nestarray.frontends.tensorflow.image.suppression import overlaps as overlaps_of
from nestarray.frontends.tensorflow.image.suppression import padded, selected
from nestarray.frontends.tensorflow.raw_ops.convolution import pulled
from nestarray.frontends.tensorflow.shaping import extract_volume_patches
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "AdjustContrastv2", "AdjustHue", "AdjustSaturation", "CombinedNonMaxSuppression",
    "CropAndResize", "CropAndResizeGradBoxes", "CropAndResizeGradImage", "DrawBoundingBoxes",
    "DrawBoundingBoxesV2", "ExtractGlimpse", "ExtractGlimpseV2", "ExtractImagePatches",
    "ExtractVolumePatches", "HSVToRGB", "NonMaxSuppression", "NonMaxSuppressionV2",
    "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5",
    "NonMaxSuppressionWithOverlaps", "RGBToHSV", "ResizeArea", "ResizeBicubic", "ResizeBicubicGrad",
    "ResizeBilinear", "ResizeBilinearGrad", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad",
    "SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", "ScaleAndTranslate",
    "ScaleAndTranslateGrad", "StatelessSampleDistortedBoundingBox",
]  # fmt: skip

RGBToHSV = image.rgb_to_hsv
ExtractVolumePatches = extract_volume_patches


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


def _is_open(images: Array, size: Ints, half_pixel_centers: bool) -> bool:
    """Whether `na.interpolate` resizes: its positions may be those of open sizes."""
    sizes = *na.shape(images)[1:3], *integers(size)
    return half_pixel_centers and not all(isinstance(n, int) for n in sizes)


def _interpolated(images: Array, size: Ints, mode: str) -> Array:
    return na.interpolate(images, size=integers(size), mode=mode, data_format="channels_last")


def _resampled(images: Array, size: Ints, weights: Callable[..., Any], **settings: Any) -> Array:
    """Images of another size, float32, by the weights of an axis."""
    pairs = zip(na.shape(images)[1:3], integers(size), strict=True)
    return resizing.resampled(images, [weights(*pair, **settings) for pair in pairs])


def ResizeBilinear(
    images: Array, size: Ints, align_corners: bool = False, half_pixel_centers: bool = False
) -> Array:
    """Images of another size, by linear interpolation."""
    if _is_open(images, size, half_pixel_centers):
        return _interpolated(na.astype(images, dtypes.float32), size, "linear")
    return _resampled(
        images,
        size,
        resizing.linear_weights,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
    )


def ResizeBicubic(
    images: Array, size: Ints, align_corners: bool = False, half_pixel_centers: bool = False
) -> Array:
    """Images of another size, by cubic interpolation."""
    if _is_open(images, size, half_pixel_centers):
        return _interpolated(na.astype(images, dtypes.float32), size, "tf-bicubic")
    return _resampled(
        images,
        size,
        resizing.cubic_weights,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
    )


def ResizeArea(images: Array, size: Ints, align_corners: bool = False) -> Array:
    """Images of another size, by means of areas; upstream's kernel has no derivative."""
    images = na.stop_gradient(images)
    return _resampled(images, size, resizing.area_weights, align_corners=align_corners)


def ResizeNearestNeighbor(
    images: Array, size: Ints, align_corners: bool = False, half_pixel_centers: bool = False
) -> Array:
    """Images of another size, of the nearest elements."""
    if _is_open(images, size, half_pixel_centers):
        return _interpolated(images, size, "nearest-exact")
    pairs = zip(na.shape(images)[1:3], integers(size), strict=True)
    places = [
        resizing.nearest(*pair, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
        for pair in pairs
    ]
    return resizing.take_nearest(images, places)


def ScaleAndTranslate(
    images: Array,
    size: Ints,
    scale: Array,
    translation: Array,
    kernel_type: str = "lanczos3",
    antialias: bool = True,
) -> Array:
    """Images at scaled and then moved positions, float32; 0 outside of them."""
    factors, shifts = tensor(scale, dtypes.float32), tensor(translation, dtypes.float32)
    matrices = []
    for i, (old, new) in enumerate(zip(na.shape(images)[1:3], integers(size), strict=True)):
        factor, shift = float(na.getitem(factors, i)), float(na.getitem(shifts, i))
        matrices.append(resizing.kernel_weights(old, new, kernel_type, antialias, factor, shift))
    return resizing.resampled(images, matrices)


def ScaleAndTranslateGrad(
    grads: Array,
    original_image: Array,
    scale: Array,
    translation: Array,
    kernel_type: str = "lanczos3",
    antialias: bool = True,
) -> Array:
    """The gradient of `ScaleAndTranslate`."""
    settings = (na.shape(grads)[1:3], scale, translation, kernel_type, antialias)
    return na.vjp(lambda x: ScaleAndTranslate(x, *settings), original_image)[1](grads)[0]


def ResizeBilinearGrad(
    grads: Array,
    original_image: Array,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Array:
    """The gradient of `ResizeBilinear`."""
    settings = (na.shape(grads)[1:3], align_corners, half_pixel_centers)
    return na.vjp(lambda x: ResizeBilinear(x, *settings), original_image)[1](grads)[0]


def ResizeBicubicGrad(
    grads: Array,
    original_image: Array,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Array:
    """The gradient of `ResizeBicubic`."""
    settings = (na.shape(grads)[1:3], align_corners, half_pixel_centers)
    return na.vjp(lambda x: ResizeBicubic(x, *settings), original_image)[1](grads)[0]


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


def CropAndResizeGradImage(
    grads: Array,
    boxes: Array,
    box_ind: Array,
    image_size: Ints,
    T: DType,
    method: str = "bilinear",
) -> Array:
    """The gradient of `CropAndResize` by the images."""
    size = na.shape(grads)[1:3]
    start = na.zeros(integers(image_size), dtype=T, like=grads)
    return pulled(lambda x: CropAndResize(x, boxes, box_ind, size, method), start, grads)


def CropAndResizeGradBoxes(
    grads: Array, image: Array, boxes: Array, box_ind: Array, method: str = "bilinear"
) -> Array:
    """The gradient of `CropAndResize` by the boxes."""
    size = na.shape(grads)[1:3]
    return pulled(lambda b: CropAndResize(image, b, box_ind, size, method), boxes, grads)


CombinedNonMaxSuppression = image.combined_non_max_suppression


def DrawBoundingBoxesV2(images: Array, boxes: Array, colors: Array) -> Array:
    """The edges of boxes drawn into images, in the colors of a table."""
    return image.draw_bounding_boxes(images, boxes, colors)


def DrawBoundingBoxes(images: Array, boxes: Array) -> Array:
    """`DrawBoundingBoxesV2` in upstream's ten colors."""
    return image.draw_bounding_boxes(images, boxes, None)


def ExtractGlimpseV2(
    input: Array,
    size: Ints,
    offsets: Array,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    noise: str = "uniform",
) -> Array:
    """Windows of images; only with zeros outside of the images."""
    found = image.extract_glimpse(input, size, offsets, centered, normalized, noise)
    return na.stop_gradient(found)


def ExtractGlimpse(
    input: Array,
    size: Ints,
    offsets: Array,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    noise: str = "uniform",
) -> Array:
    """`ExtractGlimpseV2`, where all offsets are of the center of a window."""
    sizes = na.asarray(na.shape(input)[1:3], dtype=dtypes.float32, like=input)
    window = na.asarray(integers(size), dtype=dtypes.float32, like=input)
    places = na.multiply(offsets, sizes) if normalized else offsets
    places = na.divide(na.add(places, sizes), 2.0) if centered else places
    starts = na.subtract(places, na.divide(window, 2.0))
    return ExtractGlimpseV2(input, size, starts, False, False, uniform_noise, noise)


def ExtractImagePatches(
    images: Array,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> Array:
    """The windows of images as channels."""
    return image.extract_patches(images, ksizes, strides, rates, padding)


# -- suppression -------------------------------------------------------------------------------


def NonMaxSuppression(
    boxes: Array, scores: Array, max_output_size: int, iou_threshold: float = 0.5
) -> Array:
    """The indices of boxes by falling score that do not overlap a better one."""
    return image.non_max_suppression(boxes, scores, max_output_size, iou_threshold)


def NonMaxSuppressionV2(
    boxes: Array, scores: Array, max_output_size: int, iou_threshold: Array
) -> Array:
    """`NonMaxSuppression` with the threshold as an array."""
    return image.non_max_suppression(boxes, scores, max_output_size, iou_threshold)


def NonMaxSuppressionV3(
    boxes: Array,
    scores: Array,
    max_output_size: int,
    iou_threshold: Array,
    score_threshold: Array,
) -> Array:
    """`NonMaxSuppression` of boxes with scores above a threshold."""
    return image.non_max_suppression(boxes, scores, max_output_size, iou_threshold, score_threshold)


def NonMaxSuppressionV4(
    boxes: Array,
    scores: Array,
    max_output_size: int,
    iou_threshold: Array,
    score_threshold: Array,
    pad_to_max_output_size: bool = False,
) -> tuple[Array, Array]:
    """`NonMaxSuppressionV3`, and the number of indices before the padding."""
    return image.non_max_suppression_padded(
        boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size
    )


def NonMaxSuppressionV5(
    boxes: Array,
    scores: Array,
    max_output_size: int,
    iou_threshold: Array,
    score_threshold: Array,
    soft_nms_sigma: Array,
    pad_to_max_output_size: bool = False,
) -> tuple[Array, Array, Array]:
    """The indices of the kept boxes, their scores, and the number of indices before the padding."""
    limit = integers(max_output_size)
    found, values, count = selected(
        overlaps_of(boxes), scores, limit, iou_threshold, score_threshold, float(soft_nms_sigma)
    )
    if pad_to_max_output_size:
        return padded(found, limit), padded(values, limit), count
    kept = slice(int(count))
    return na.getitem(found, kept), na.getitem(values, kept), count


def NonMaxSuppressionWithOverlaps(
    overlaps: Array,
    scores: Array,
    max_output_size: int,
    overlap_threshold: Array,
    score_threshold: Array,
) -> Array:
    """`NonMaxSuppressionV3` with the overlaps of boxes in place of boxes."""
    return image.non_max_suppression_overlaps(
        overlaps, scores, max_output_size, overlap_threshold, score_threshold
    )


# -- random parts ------------------------------------------------------------------------------


def StatelessSampleDistortedBoundingBox(
    image_size: Array,
    bounding_boxes: Array,
    min_object_covered: Array,
    seed: Array,
    aspect_ratio_range: Sequence[float] = (0.75, 1.33),
    area_range: Sequence[float] = (0.05, 1),
    max_attempts: int = 100,
    use_image_if_no_bounding_boxes: bool = False,
) -> tuple[Array, Array, Array]:
    """The begin, the size and the box of a random part of an image that covers an object."""
    settings = (aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    return image.stateless_sample_distorted_bounding_box(
        image_size, bounding_boxes, seed, min_object_covered, *settings
    )


def SampleDistortedBoundingBoxV2(
    image_size: Array,
    bounding_boxes: Array,
    min_object_covered: Array,
    seed: int = 0,
    seed2: int = 0,
    aspect_ratio_range: Sequence[float] = (0.75, 1.33),
    area_range: Sequence[float] = (0.05, 1),
    max_attempts: int = 100,
    use_image_if_no_bounding_boxes: bool = False,
    *,
    key: Array | None = None,
) -> tuple[Array, Array, Array]:
    """`StatelessSampleDistortedBoundingBox` of a key."""
    settings = (aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    return image.sample_distorted_bounding_box(
        image_size, bounding_boxes, 0, min_object_covered, *settings, key=key
    )


def SampleDistortedBoundingBox(
    image_size: Array,
    bounding_boxes: Array,
    seed: int = 0,
    seed2: int = 0,
    min_object_covered: float = 0.1,
    aspect_ratio_range: Sequence[float] = (0.75, 1.33),
    area_range: Sequence[float] = (0.05, 1),
    max_attempts: int = 100,
    use_image_if_no_bounding_boxes: bool = False,
    *,
    key: Array | None = None,
) -> tuple[Array, Array, Array]:
    """`SampleDistortedBoundingBoxV2` with the share as a setting."""
    settings = (aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    return image.sample_distorted_bounding_box(
        image_size, bounding_boxes, 0, min_object_covered, *settings, key=key
    )
