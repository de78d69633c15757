"""Suppression of boxes that overlap a box of a higher score.

Upstream: https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import UnsupportedError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.typing import Array

__all__ = [
    "combined_non_max_suppression", "non_max_suppression", "non_max_suppression_overlaps",
    "non_max_suppression_padded", "non_max_suppression_with_scores",
]  # fmt: skip


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = -math.inf,
    name: str | None = None,
) -> Array:
    """The indices of the kept boxes by falling score, int32; their number depends on values.

    Args:
        boxes: `(n, 4)`, floating: two opposite corners.
        scores: `(n,)`.
        max_output_size: the largest number of indices.
        iou_threshold: the share of the intersection in the union above which a box is dropped.
        score_threshold: only boxes of higher scores are kept.
    """
    boxes, scores = tensor(boxes), tensor(scores)
    found, _, count = selected(
        overlaps(boxes), scores, integers(max_output_size), iou_threshold, score_threshold
    )
    return na.getitem(found, slice(count))


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = -math.inf,
    soft_nms_sigma: float = 0.0,
    name: str | None = None,
) -> tuple[Array, Array]:
    """The indices of the kept boxes, and their scores.

    With `soft_nms_sigma`, no box is dropped: a kept box lowers the scores of others by the factor
    exp(−iou² / 2σ), as in https://arxiv.org/abs/1704.04503.
    """
    boxes, scores = tensor(boxes), tensor(scores)
    limit = integers(max_output_size)
    found, values, count = selected(
        overlaps(boxes), scores, limit, iou_threshold, score_threshold, float(soft_nms_sigma)
    )
    kept = slice(count)
    return na.getitem(found, kept), na.getitem(values, kept)


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: float = 0.5,
    score_threshold: float = -math.inf,
    name: str | None = None,
) -> Array:
    """`non_max_suppression` with the overlaps `(n, n)` of boxes in place of boxes."""
    found, _, count = selected(
        tensor(overlaps),
        tensor(scores),
        integers(max_output_size),
        overlap_threshold,
        score_threshold,
    )
    return na.getitem(found, slice(count))


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = -math.inf,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Array, Array]:
    """The indices of the kept boxes, padded with 0, and their number; for one set of boxes."""
    boxes, scores = tensor(boxes), tensor(scores)
    if len(na.shape(boxes)) > 2:
        raise UnsupportedError(
            f"non_max_suppression_padded: boxes: got the shape {tuple(na.shape(boxes))}, expected "
            "(n, 4); call it for each set of boxes"
        )
    limit = integers(max_output_size)
    found, _, count = selected(overlaps(boxes), scores, limit, iou_threshold, score_threshold)
    if pad_to_max_output_size:
        return padded(found, limit), count
    return na.getitem(found, slice(count)), count


def padded(x: Array, size: int) -> Array:
    """A vector with zeros up to a size."""
    return na.pad(x, [(0, size - na.shape(x)[0])])


def overlaps(boxes: Array) -> Array:
    """The intersection over the union of all pairs of boxes, `(n, n)`; 0 for empty boxes."""
    corners = [na.getitem(boxes, (slice(None), slice(i, i + 1))) for i in range(4)]
    top, bottom = na.minimum(corners[0], corners[2]), na.maximum(corners[0], corners[2])
    left, right = na.minimum(corners[1], corners[3]), na.maximum(corners[1], corners[3])
    area = na.multiply(na.subtract(bottom, top), na.subtract(right, left))
    turned = na.matrix_transpose

    def extent(low: Array, high: Array) -> Array:
        common = na.subtract(na.minimum(high, turned(high)), na.maximum(low, turned(low)))
        return na.maximum(common, 0)

    common = na.multiply(extent(top, bottom), extent(left, right))
    union = na.subtract(na.add(area, turned(area)), common)
    is_filled = na.logical_and(na.greater(area, 0), na.greater(turned(area), 0))
    found = na.divide(common, na.where(is_filled, union, na.ones_like(union)))
    return na.where(is_filled, found, na.zeros_like(found))


def selected(
    overlaps: Array,
    scores: Array,
    limit: int,
    threshold: Any,
    score_threshold: Any,
    sigma: float = 0.0,
) -> tuple[Array, Array, Array]:
    """Indices and scores of the kept boxes, `(limit,)`, padded with 0, and their number.

    Each step keeps the box of the highest score, which may have been lowered, and lowers others.
    """
    size = na.shape(scores)[0]
    if isinstance(size, int):
        limit = min(limit, size)
    dtype = dtypes.dtype_of(scores)
    places = na.arange(limit, dtype=dtypes.int32, like=scores)
    threshold, score_threshold = float(threshold), float(score_threshold)
    none = na.full_like(scores, -math.inf)

    def keep(i: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
        current, is_open, found, values, count = state
        masked = na.where(
            na.logical_and(is_open, na.greater(current, score_threshold)), current, none
        )
        best = na.argmax(masked)
        score = na.take(masked, best, axis=0)
        is_kept = na.greater(score, -math.inf)
        here = na.logical_and(na.equal(places, i), is_kept)
        found = na.where(here, na.astype(best, dtypes.int32), found)
        values = na.where(here, score, values)
        shared = na.take(overlaps, best, axis=1)
        if sigma:
            factor = na.exp(na.multiply(na.square(shared), -0.5 / sigma))
            current = na.where(is_kept, na.multiply(current, na.astype(factor, dtype)), current)
        else:
            is_dropped = na.logical_and(is_kept, na.greater(shared, threshold))
            is_open = na.logical_and(is_open, na.logical_not(is_dropped))
        is_best = na.equal(na.arange(size, like=scores), best)
        is_open = na.logical_and(is_open, na.logical_not(is_best))
        return current, is_open, found, values, na.add(count, na.astype(is_kept, dtypes.int32))

    zero = na.zeros_like(places)
    start = (
        scores,
        na.ones_like(scores, dtype="bool"),
        zero,
        na.zeros_like(places, dtype=dtype),
        na.sum(zero, dtype=dtypes.int32),
    )
    if not limit:
        return zero, na.astype(zero, dtype), start[-1]
    _, _, found, values, count = na.fori_loop(0, limit, keep, start)
    return found, values, count


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = -math.inf,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The boxes of the highest scores over all classes, after suppression within each class.

    Args:
        boxes: `(batch, n, q, 4)`, q = 1 or the number of classes.
        scores: `(batch, n, classes)`.
        max_output_size_per_class, max_total_size: the largest numbers of boxes.
        iou_threshold, score_threshold: as in `non_max_suppression`.
        pad_per_class: limit the size of the result by `max_output_size_per_class` · classes.
        clip_boxes: clip the result to [0, 1].

    Returns:
        boxes `(batch, size, 4)`, scores and classes `(batch, size)`, padded with 0, and the
        number of boxes, int32 `(batch,)`.
    """
    boxes, scores = tensor(boxes), tensor(scores)
    batch, _, groups, _ = na.shape(boxes)
    classes = na.shape(scores)[2]
    limit, total = integers(max_output_size_per_class), integers(max_total_size)
    size = min(total, limit * classes) if pad_per_class else total
    rows = []
    for b in range(batch):
        columns = []
        for c in range(classes):
            own = na.getitem(boxes, (b, slice(None), c if groups > 1 else 0))
            of_class = na.getitem(scores, (b, slice(None), c))
            found, values, count = selected(
                overlaps(own), of_class, limit, iou_threshold, score_threshold
            )
            is_kept = na.less(na.arange(na.shape(found)[0], like=count), count)
            ranks = na.where(is_kept, values, na.full_like(values, -math.inf))
            columns.append((na.take(own, found, axis=0), ranks, na.full_like(values, float(c))))
        own, ranks, labels = [na.concat(parts) for parts in zip(*columns, strict=True)]
        order = na.getitem(na.argsort(ranks, descending=True, stable=True), slice(size))
        own, ranks, labels = [na.take(x, order, axis=0) for x in (own, ranks, labels)]
        is_kept = na.greater(ranks, -math.inf)
        own = na.clip(own, 0.0, 1.0) if clip_boxes else own
        row = [na.where(na.expand_dims(is_kept, 1), own, na.zeros_like(own))]
        row += [na.where(is_kept, x, na.zeros_like(x)) for x in (ranks, labels)]
        missing = size - na.shape(order)[0]
        row = [na.pad(x, [(0, missing)] + [(0, 0)] * (len(na.shape(x)) - 1)) for x in row]
        rows.append((*row, na.sum(na.astype(is_kept, dtypes.int32), dtype=dtypes.int32)))
    found = [na.stack(parts) for parts in zip(*rows, strict=True)]
    return found[0], found[1], found[2], found[3]
