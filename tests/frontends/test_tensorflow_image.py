"""The functions of `tf.image` against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from tests.frontends import tensorflow_expressions as expressions

METHODS = ["bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
EXPRESSIONS = [
    *[f"resize(image, [3, 7], '{name}')" for name in [*METHODS, "nearest"]],
    *[f"resize(image[0], [9, 2], '{name}', antialias=True)" for name in METHODS],
    "resize(i[..., None], [3, 5])", "resize(i[..., None], [3, 5], ResizeMethod.NEAREST_NEIGHBOR)",
    "resize(image, [4, 4], preserve_aspect_ratio=True)",
    "resize_with_pad(image, 7, 9)", "resize_with_pad(image[0], 4, 9, 'bicubic', True)",
    "resize_with_crop_or_pad(image, 7, 3)", "resize_with_crop_or_pad(image[0], 3, 8)",
    "crop_and_resize(image, boxes, l - 2, [3, 4])",
    "crop_and_resize(image, boxes, l - 2, [1, 2], 'nearest', 0.5)",
    "flip_left_right(image)", "flip_up_down(image[0])", "transpose(image)", "rot90(image)",
    "rot90(image[0], 2)", "rot90(image, 3)", "central_crop(image, 0.5)", "central_crop(image[0], 0.7)",
    "crop_to_bounding_box(image, 1, 2, 3, 2)", "pad_to_bounding_box(image, 1, 2, 8, 9)",
    "extract_patches(image, [1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1], 'VALID')",
    "extract_patches(image, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], 'SAME')",
    "extract_glimpse(image, [3, 2], p[:, :2], noise='zero')",
    "extract_glimpse(image, [3, 4], x[:, :2] * 3, False, False, 'zero')",
    "extract_glimpse(image, [2, 4], x[:, :2] * 2, True, False, 'zero')",
    "extract_glimpse(image, [2, 4], p[:, 1:], False, True, 'zero')",
    "image_gradients(image)", "total_variation(image)", "total_variation(image[0])",
    "sobel_edges(image)", "psnr(image, image * 0.9, 2.0)", "psnr(pixels, flip_up_down(pixels), 255)",
    "ssim(image, image * 0.9, 2.0, 3)", "ssim(image, image * image, 1.0, 4, 0.7, 0.02, 0.05, True)",
    "ssim_multiscale(image, image * 0.9, 2.0, [0.4, 0.6], 2)",
    "ssim_multiscale(volume, volume * 0.9, 2.0, (0.5, 0.5), 2)",
    "rgb_to_hsv(image)", "rgb_to_hsv(p)", "hsv_to_rgb(p)", "rgb_to_yiq(p)", "yiq_to_rgb(p)",
    "rgb_to_yuv(x)", "yuv_to_rgb(x)", "rgb_to_grayscale(p)", "rgb_to_grayscale(image)",
    "rgb_to_grayscale(pixels)", "grayscale_to_rgb(v[:, None])", "per_image_standardization(image)",
    "per_image_standardization(image[0] * 0)", "per_image_standardization(pixels)",
    "adjust_brightness(image, 0.3)", "adjust_brightness(pixels, -0.2)", "adjust_brightness(h, 0.1)",
    "adjust_contrast(image, 1.5)", "adjust_contrast(pixels, 0.5)", "adjust_gamma(p, 2, 0.5)",
    "adjust_gamma(pixels, 0.7)", "adjust_hue(image, 0.3)", "adjust_hue(p[None], -0.7)",
    "adjust_hue(pixels, 0.1)", "adjust_saturation(p[None], 1.7)", "adjust_saturation(pixels, 0.4)",
    "adjust_saturation(image, 0.5)",
    *[f"convert_image_dtype(pixels, x.dtype, {saturate})" for saturate in (False, True)],
    "convert_image_dtype(pixels, i.dtype)", "convert_image_dtype(i, u.dtype, True)",
    "convert_image_dtype(p, u.dtype)", "convert_image_dtype(x, u.dtype, True)",
    "convert_image_dtype(x, h.dtype)", "convert_image_dtype(s, u.dtype, True)",
    *[
        f"stateless_random_{name}(image{part}, {rest}[3, -5])"
        for part in ("", "[0]")
        for name, rest in (
            ("flip_left_right", ""), ("flip_up_down", ""), ("brightness", "0.4, "),
            ("contrast", "0.5, 1.5, "), ("hue", "0.3, "), ("saturation", "0.5, 1.5, "),
        )
    ],
    "stateless_random_crop(image, [1, 3, 2, 3], [3, -5])",
    *[
        f"non_max_suppression(boxes_of_many, scores_of_many, 6, {rest})"
        for rest in ("0.5", "0.2, 0.3", "0.9")
    ],
    "draw_bounding_boxes(image, boxes_of_many[None, :2] * z[:2, None, None] ** 2 * 0.3, m)",
    "draw_bounding_boxes(image, boxes[:, None] * 0 + 0.3, None)",
    "draw_bounding_boxes(image[..., :1], boxes_of_many[None, :8] * z[:2, None, None] ** 2 * 0.3, None)",
    *[
        f"stateless_sample_distorted_bounding_box({rest})"
        for rest in (
            "k[:3] * 20 + 9, boxes_of_many[None] * 0.8, [3, -5]", "[9, 7, 3], boxes_of_many[None] * 0.8, l",
            "[64, 64, 3], boxes_of_many[None, :2] * 0.8, [1, 2], 0.9, [0.2, 3.0], [0.6, 1.0], 4",
            "[64, 48, 3], boxes_of_many[None, :0], [1, 2], use_image_if_no_bounding_boxes=True",
        )
    ],
    "non_max_suppression(boxes_of_many[:0], scores_of_many[:0], 6)",
    "non_max_suppression_with_scores(boxes_of_many, scores_of_many, 8, 0.5, 0.1, 0.5)",
    "non_max_suppression_with_scores(boxes_of_many, scores_of_many, 8, 0.5)",
    "non_max_suppression_with_scores(boxes_of_many, scores_of_many, 12, 1.0, 0.1, 0.3)",
    "non_max_suppression_padded(boxes_of_many, scores_of_many, 10, 0.5, 0.3, True)",
    "non_max_suppression_padded(boxes_of_many, scores_of_many, 10, 0.5)",
    "non_max_suppression_overlaps(overlaps_of_many, scores_of_many, 5, 0.4, 0.1)",
    "combined_non_max_suppression(boxes_of_many[None, :, None], class_scores, 3, 7, 0.5, 0.2)",
    "combined_non_max_suppression(boxes_of_many[None, :, None], class_scores, 2, 9, 0.5, 0.6, True)",
    "combined_non_max_suppression(boxes_of_many[None, :, None] * 1.5, class_scores, 2, 9, 0.5, clip_boxes=False)",
]  # fmt: skip
#: Beginning of an expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    "adjust_": "upstream has none of contrast, hue and saturation",
    "stateless_random_contrast": "upstream has none",
    "rgb_to_hsv(image)": "another one upstream, for negative colours",
    "stateless_random_hue": "upstream has none",
    "stateless_random_saturation": "upstream has none",
    "hsv_to_rgb": "upstream has none",
    "extract_glimpse": "upstream has none", "stateless_sample": "upstream has none",
    "draw": "upstream has none",
    "non_max": "indices", "combined": "upstream has none",
    "resize(image, [3, 7], 'area'": "upstream has none",
    "resize(image[0], [9, 2], 'area'": "upstream has none",
    "crop_and_resize(image, boxes, l - 2, [1, 2], 'nearest'": "upstream interpolates linearly",
}  # fmt: skip
DIFFERENTIABLE = [
    "adjust_brightness(image, 0.3)", "adjust_gamma(p, 2, 0.5)",
    *[row for row in EXPRESSIONS if not row.startswith(tuple(NOT_DIFFERENTIATED))],
]  # fmt: skip


@pytest.mark.one_in(32)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, tf.image, frontend.image, backend)


@pytest.mark.one_in(32)
@pytest.mark.parametrize("expression", DIFFERENTIABLE)
def test_gradients(expression: str, backend: str) -> None:
    if expressions.is_differentiable(expression, tf.image):
        expressions.assert_gradients(expression, tf.image, frontend.image, backend)


RANDOM = {
    "random_flip_left_right": (), "random_flip_up_down": (), "random_brightness": (0.4,),
    "random_contrast": (0.5, 1.5), "random_hue": (0.3,), "random_saturation": (0.5, 1.5),
    "random_crop": ((2, 3, 2, 3),),
}  # fmt: skip


@pytest.mark.parametrize("name", RANDOM)
def test_changes_of_a_key(name: str) -> None:
    image = expressions.INPUTS["image"]
    results = [
        getattr(frontend.image, name)(image, *RANDOM[name], key=na.random.key(seed))
        for seed in (0, 0, 1, 2, 3)
    ]
    np.testing.assert_array_equal(*results[:2])
    assert any(not np.array_equal(results[0], other) for other in results[2:])
    with pytest.raises(na.errors.ArgumentError, match="key: got None, expected a key"):
        getattr(frontend.image, name)(image, *RANDOM[name])


def test_random_parts_cover_a_box() -> None:
    found = []
    for seed in range(20):
        begin, size, box = frontend.image.sample_distorted_bounding_box(
            [64, 48, 3], [[[0.4, 0.4, 0.6, 0.7]]], min_object_covered=1.0, key=na.random.key(seed)
        )
        top, left, bottom, right = box[0, 0]
        # the box is rounded to whole elements
        assert max(top, left) <= 0.4
        assert bottom >= 38 / 64
        assert right >= 33 / 48
        np.testing.assert_allclose([top * 64, left * 48], begin[:2], rtol=1e-6)
        np.testing.assert_allclose([(bottom - top) * 64, (right - left) * 48], size[:2], rtol=1e-6)
        assert 0.74 < size[1] / size[0] < 1.35
        found.append(tuple(size))
    assert len({*found}) > 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda im, x: im.flip_up_down(x), r"flip_up_down: image: got the shape \(3, 3\), expected"),
        (lambda im, x: im.resize(x[None], (2, 2), "mitchell"), "method: got 'mitchell', expected"),
        (lambda im, x: im.central_crop(x[None], 0), "central_fraction: got 0.0, expected a number"),
        (lambda im, x: im.crop_to_bounding_box(x[None], 0, 2, 1, 2), "got a box of the size"),
        (lambda im, x: im.extract_glimpse(x[None], (2, 2), x), "noise: got 'uniform', expected"),
        (lambda im, x: im.adjust_hue(x, 2), "adjust_hue: delta: got 2, expected a number"),
        (lambda im, x: im.random_hue(x, 0.7), "random_hue: max_delta: got 0.7, expected 0 to 0.5"),
        (lambda im, x: im.ssim(x[None], x[None], 1), "ssim: filter_size: got 11 for images"),
        (
            lambda im, x: im.sample_distorted_bounding_box([3, 3, 1], x[:0, :, None], key=na.random.key(0)),
            "sample_distorted_bounding_box: bounding_boxes: got none, expected at least one",
        ),
        (lambda im, x: im.psnr(x, x, 1), "psnr: got images of the shapes"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises((na.errors.ArgumentError, na.errors.ShapeError), match=message):
        call(frontend.image, np.eye(3))
