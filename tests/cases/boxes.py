"""Cases of `nestarray.ops.boxes`; the oracles are TensorFlow's images and loops over single numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import Case

Rng = np.random.Generator


def boxes(rng: Rng, count: int, size: float = 4.0) -> np.ndarray:
    low = rng.uniform(0.0, size, (count, 2))
    return np.concatenate([low, low + rng.uniform(0.5, size, (count, 2))], axis=1)


def pairs(rng: Rng) -> tuple[Any, ...]:
    return boxes(rng, 3), boxes(rng, 4)


def flat(rng: Rng) -> tuple[Any, ...]:
    """Boxes without area, and one far away."""
    return np.asarray([[1.0, 1, 1, 1], [0, 0, 2, 2]]), np.asarray([[1.0, 1, 1, 1], [5, 5, 6, 6]])


def scored(rng: Rng) -> tuple[Any, ...]:
    return boxes(rng, 8), rng.permutation(8) / 8


def iou(one: np.ndarray, two: np.ndarray) -> float:
    """Of two boxes."""
    width = min(one[2], two[2]) - max(one[0], two[0])
    height = min(one[3], two[3]) - max(one[1], two[1])
    shared = max(width, 0.0) * max(height, 0.0)
    covered = sum((b[2] - b[0]) * (b[3] - b[1]) for b in (one, two)) - shared
    return shared / covered if covered else 0.0


def box_iou(boxes1: Any, boxes2: Any) -> Any:
    return np.asarray([[iou(one, two) for two in boxes2] for one in boxes1])


def nms(
    boxes: Any, scores: Any, *, iou_threshold: float, max_output_size: int | None = None
) -> Any:
    import tensorflow as tf  # here, since it takes seconds

    found = tf.image.non_max_suppression(
        boxes.astype("float32"), scores.astype("float32"), len(scores), iou_threshold
    )
    found = found.numpy().astype("int64")
    if max_output_size is None:
        return found
    return np.concatenate([found, np.full(max_output_size, -1)])[:max_output_size]


def regions(rng: Rng) -> tuple[Any, ...]:
    """Boxes inside, across the border and outside of two images, with no sample at an element."""
    found = np.asarray([[0.3, 0.6, 3.5, 3.2], [-2.3, 1.1, 2.4, 6.3], [2.2, 2.1, 2.5, 2.45]])
    return rng.normal(size=(2, 3, 5, 4)), found, np.asarray([1, 0, 1])


def bilinear(image: np.ndarray, y: float, x: float) -> np.ndarray:
    """`(channels,)` of `(channels, height, width)`, as the paper's code has it."""
    height, width = image.shape[1:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return np.zeros(len(image))
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = math.floor(y), math.floor(x)
    total = np.zeros(len(image))
    for row, part in ((top, top + 1 - y), (min(top + 1, height - 1), y - top)):
        for column, share in ((left, left + 1 - x), (min(left + 1, width - 1), x - left)):
            total += image[:, row, column] * part * share
    return total


def roi_align(
    x: Any, boxes: Any, box_indices: Any, *, output_size: Any, spatial_scale: float = 1.0,
    sampling_ratio: int = 2, aligned: bool = False,
) -> Any:  # fmt: skip
    rows, columns = output_size
    out = np.zeros((len(boxes), x.shape[1], rows, columns))
    for n, (box, image) in enumerate(zip(boxes, box_indices, strict=True)):
        x1, y1, x2, y2 = box * spatial_scale - (0.5 if aligned else 0.0)
        width, height = x2 - x1, y2 - y1
        if not aligned:
            width, height = max(width, 1.0), max(height, 1.0)
        for i, j, a, b in np.ndindex(rows, columns, sampling_ratio, sampling_ratio):
            y = y1 + height / rows * (i + (a + 0.5) / sampling_ratio)
            at = x1 + width / columns * (j + (b + 0.5) / sampling_ratio)
            out[n, :, i, j] += bilinear(x[image], y, at) / sampling_ratio**2
    return out


def crops(rng: Rng) -> tuple[Any, ...]:
    found = np.asarray([[0.05, 0.1, 0.83, 0.92], [0.9, -0.3, 0.12, 1.2]])
    return rng.normal(size=(2, 3, 5, 4)), found, np.asarray([1, 0])


def crop_and_resize(
    x: Any,
    boxes: Any,
    box_indices: Any,
    *,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Any:
    import tensorflow as tf  # here, since it takes seconds

    last = np.moveaxis(x, 1, -1)
    found = tf.image.crop_and_resize(
        last, boxes, box_indices, crop_size, method, extrapolation_value
    )
    return np.moveaxis(found.numpy(), -1, 1)


def with_scores(is_soft: bool) -> Callable[..., Any]:
    def call(
        boxes: Any, scores: Any, *, max_output_size: int | None = None, **settings: Any
    ) -> Any:
        import tensorflow as tf

        single = (x.astype("float32") for x in (boxes, scores))
        size = len(boxes) if max_output_size is None else max_output_size
        found, lowered = tf.image.non_max_suppression_with_scores(*single, size, **settings)
        found, lowered = found.numpy().astype("int64"), lowered.numpy()
        if is_soft:
            return found, lowered
        return np.pad(found, (0, size - len(found)), constant_values=-1)

    return call


#: TensorFlow computes positions and crops in float32.
SINGLE: dict[str, Any] = {"dtypes": ("float32",)}

CASES = [
    Case("box_iou", pairs, reference=box_iou),
    Case("box_iou", flat, reference=box_iou, differentiable=False, id="flat"),
    Case(
        "nms", scored, {"iou_threshold": 0.3}, nms, differentiable=False, jit=False, dtype="int64"
    ),
    Case(
        "nms",
        scored,
        {"iou_threshold": 0.3, "max_output_size": 10},
        nms,
        differentiable=False,
        dtype="int64",
        id="padded",
    ),
    Case(
        "nms",
        scored,
        {"iou_threshold": 0.3, "max_output_size": 10, "score_threshold": 0.4},
        with_scores(False),
        differentiable=False,
        dtype="int64",
        id="score-threshold",
    ),
    *(
        Case(
            "nms",
            scored,
            {"iou_threshold": 0.3, "soft_nms_sigma": 0.5, **settings},
            with_scores(True),
            differentiable=False,
            jit="max_output_size" in settings,
            id=id,
            **SINGLE,
        )
        for id, settings in (
            ("soft", {"score_threshold": 0.2}),
            ("soft-cut", {"max_output_size": 4}),
        )
    ),
    Case("roi_align", regions, {"output_size": (2, 3)}, roi_align),
    Case(
        "roi_align",
        regions,
        {"output_size": (1, 2), "spatial_scale": 0.7, "sampling_ratio": 3, "aligned": True},
        roi_align,
        id="aligned",
    ),
    Case("crop_and_resize", crops, {"crop_size": (3, 5)}, crop_and_resize, **SINGLE),
    Case(
        "crop_and_resize",
        crops,
        {"crop_size": (1, 4), "extrapolation_value": -2.0},
        crop_and_resize,
        **SINGLE,
        id="outside",
    ),
    Case(
        "crop_and_resize",
        crops,
        {"crop_size": (4, 3), "method": "nearest", "extrapolation_value": -2.0},
        crop_and_resize,
        (0,),
        **SINGLE,
        id="nearest",
    ),
]
