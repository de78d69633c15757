"""Boxes in images: overlap, non-maximum suppression and pooling of regions.

A box is x1, y1, x2, y2 with x along the width, unless stated otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from nestarray import dtypes, ops
from nestarray.backends.control_flow import Arrays, find_for
from nestarray.dispatch import floating_op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints
from nestarray.typing import Array, check_range

__all__ = ["box_iou", "crop_and_resize", "nms", "roi_align"]


@floating_op
def box_iou(boxes1: Array, boxes2: Array, /) -> Array:
    """The intersection over union (Jaccard index) of all pairs of boxes.

    Args:
        boxes1: `(*batch, n, 4)`, x1 ≤ x2 and y1 ≤ y2, floating.
        boxes2: `(*batch, m, 4)`.

    Returns:
        `(*batch, n, m)`; 0 for pairs of empty boxes.

    Raises:
        ShapeError: the last axis does not have four elements.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.box_iou(np.asarray([[0.0, 0.0, 2.0, 2.0]]), np.asarray([[1.0, 0.0, 3.0, 2.0]])).round(4)
        array([[0.3333]])

    References:
        https://docs.pytorch.org/vision/main/generated/torchvision.ops.box_iou.html
    """
    _check_boxes("box_iou", "boxes1", boxes1)
    _check_boxes("box_iou", "boxes2", boxes2)
    one, two = ops.expand_dims(boxes1, axis=-2), ops.expand_dims(boxes2, axis=-3)
    width = ops.minimum(one[..., 2], two[..., 2]) - ops.maximum(one[..., 0], two[..., 0])
    height = ops.minimum(one[..., 3], two[..., 3]) - ops.maximum(one[..., 1], two[..., 1])
    shared = ops.relu(width) * ops.relu(height)
    areas = [(b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1]) for b in (one, two)]
    covered = areas[0] + areas[1] - shared
    is_nothing = ops.equal(covered, 0)
    return ops.where(is_nothing, 0.0, shared / ops.where(is_nothing, 1.0, covered))


@floating_op
def nms(
    boxes: Array,
    scores: Array,
    /,
    *,
    iou_threshold: float,
    max_output_size: int | None = None,
    score_threshold: float = -math.inf,
    soft_nms_sigma: float = 0.0,
) -> Array | tuple[Array, Array]:
    """Non-maximum suppression: keep boxes by falling score, and drop boxes that overlap a kept one.

    Args:
        boxes: `(n, 4)`, floating.
        scores: `(n,)`, floating; ties prefer the first box.
        iou_threshold: the `box_iou` with a kept box above which a box is dropped.
        max_output_size: the number of indices to return, padded with −1; None: the number of kept
            boxes, which depends on values and cannot be compiled.
        score_threshold: boxes with a lower or equal score are dropped.
        soft_nms_sigma: if positive, a kept box lowers the scores of others by the factor
            exp(−iou² / 2σ) instead of dropping them, and `iou_threshold` is ignored.

    Returns:
        indices of boxes by falling score, `(kept,)` or `(max_output_size,)`, int64; with
        `soft_nms_sigma` also the lowered scores, padded with 0.

    Raises:
        ShapeError: `scores` does not have one element per box.
        ArgumentError: `soft_nms_sigma` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> boxes = np.asarray([[0.0, 0, 2, 2], [0, 0, 2, 1.9], [3, 3, 4, 4]])
        >>> na.nms(boxes, np.asarray([0.5, 0.9, 0.7]), iou_threshold=0.5)
        array([1, 2])

    References:
        https://docs.pytorch.org/vision/main/generated/torchvision.ops.nms.html
        https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression_with_scores
        https://arxiv.org/abs/1704.04503
    """
    check_range("nms", "soft_nms_sigma", soft_nms_sigma, 0)
    _check_boxes("nms", "boxes", boxes)
    if len(boxes.shape) != 2 or tuple(scores.shape) != tuple(boxes.shape[:1]):
        raise ShapeError(
            f"nms: boxes has shape {tuple(boxes.shape)} and scores {tuple(scores.shape)}, expected "
            "(n, 4) and (n,)"
        )
    if soft_nms_sigma:
        order, lowered = _softly(boxes, scores, soft_nms_sigma)
        is_kept = ops.greater(lowered, score_threshold)
        return (
            _kept(order, is_kept, max_output_size, -1),
            _kept(lowered, is_kept, max_output_size, 0),
        )
    count, dtype = boxes.shape[0], dtypes.dtype_of(boxes)
    order = ops.astype(ops.argsort(scores, descending=True), dtypes.int64)
    if count:
        boxes = ops.take(boxes, order, axis=0)
        clashes = ops.astype(ops.greater(ops.box_iou(boxes, boxes), iou_threshold), dtype)
        places = ops.eye(count, dtype=dtype, like=boxes)

        def step(states: Arrays, box: Arrays) -> tuple[Arrays, Arrays]:
            (kept,) = states
            clash, place = box
            return (kept + place * (1.0 - ops.max(kept * clash)),), ()

        scan = find_for((clashes, places), "scan")
        (kept,), _ = scan(step, (ops.zeros_like(boxes[:, 0]),), (clashes, places))
        is_kept = ops.greater(kept, 0)
        if score_threshold != -math.inf:
            is_high = ops.greater(ops.take(scores, order, axis=0), score_threshold)
            is_kept = ops.logical_and(is_kept, is_high)
    else:
        is_kept = ops.greater(scores, 0)
    return _kept(order, is_kept, max_output_size, -1)


def _kept(values: Array, is_kept: Array, size: int | None, fill: int) -> Array:
    """The values where a mask is True, padded to `size` if given."""
    if size is None:
        return ops.masked_select(values, is_kept)
    count = values.shape[0]
    (places,) = ops.nonzero(is_kept, size=size, fill_value=count)
    return ops.take(ops.pad(values, (0, 1), constant_values=fill), places, axis=0)


def _softly(boxes: Array, scores: Array, sigma: float) -> tuple[Array, Array]:
    """All boxes by falling score, and their scores, each lowered by the boxes before it."""
    count = boxes.shape[0]
    numbers = ops.arange(count, dtype="int64", like=boxes)
    if not count:
        return numbers, scores
    factors = ops.exp(ops.square(ops.box_iou(boxes, boxes)) * (-0.5 / sigma))

    def step(states: Arrays, row: Arrays) -> tuple[Arrays, Arrays]:
        left, is_taken = states
        best = ops.argmax(ops.where(ops.greater(is_taken, 0), -math.inf, left))
        is_best = ops.equal(numbers, best)
        score = ops.take(left, best, axis=0)
        lowered = ops.multiply(left, ops.take(factors, best, axis=0))
        return (lowered, ops.where(is_best, 1.0, is_taken)), (best, score)

    scan = find_for((boxes, scores), "scan")
    _, (order, lowered) = scan(step, (scores, ops.zeros_like(scores)), (numbers,))
    return ops.astype(order, dtypes.int64), lowered


@floating_op(not_promoted=("box_indices",))
def roi_align(
    x: Array,
    boxes: Array,
    box_indices: Array,
    /,
    *,
    output_size: Ints,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 2,
    aligned: bool = False,
) -> Array:
    """RoI align: the mean of bilinear samples in each cell of a grid over each box.

    Args:
        x: `(batch, channels, height, width)`, floating.
        boxes: `(n, 4)`, of the dtype of x.
        box_indices: `(n,)`, integer: the index of the image of each box.
        output_size: the number of cells of a box; an integer, or one for height and width.
        spatial_scale: a factor of the coordinates.
        sampling_ratio: the number of samples of a cell along each axis; at least 1.
        aligned: the centre of pixel i is at i + 0.5, and boxes may have any size; if False, it is
            at i, and boxes are at least 1 wide.

    Returns:
        `(n, channels, *output_size)`.

    Raises:
        ShapeError: x, `boxes` or `box_indices` has the wrong rank.
        ArgumentError: `sampling_ratio` is less than 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
        >>> na.roi_align(x, np.asarray([[0.0, 0.0, 2.0, 2.0]]), np.asarray([0]), output_size=1)
        array([[[[5.]]]])

    References:
        https://arxiv.org/abs/1703.06870
        https://docs.pytorch.org/vision/main/generated/torchvision.ops.roi_align.html
    """
    _check_regions("roi_align", x, boxes, box_indices)
    cells = windows.per_axis("roi_align", "output_size", output_size, 2)
    if sampling_ratio < 1:
        raise ArgumentError(
            f"roi_align: sampling_ratio: got {sampling_ratio!r}, expected at least 1: a number "
            "that depends on the size of the box would make shapes depend on values"
        )
    shift = 0.5 if aligned else 0.0
    start, end = boxes[:, :2] * spatial_scale - shift, boxes[:, 2:] * spatial_scale - shift
    size = end - start if aligned else ops.maximum(end - start, 1.0)
    positions = []
    for axis, count in ((1, cells[0]), (0, cells[1])):  # y, then x
        steps = ops.arange(count * sampling_ratio, dtype=dtypes.dtype_of(x), like=x)
        shares = (steps + 0.5) / float(count * sampling_ratio)
        positions.append(start[:, axis : axis + 1] + size[:, axis : axis + 1] * shares)
    inside = [
        ops.logical_and(ops.greater_equal(p, -1.0), ops.less_equal(p, float(n)))
        for p, n in zip(positions, x.shape[2:])
    ]
    samples = _between(x, box_indices, positions, inside, 0.0)
    channels, ratio = x.shape[1], sampling_ratio
    parts = ops.reshape(samples, (-1, channels, cells[0], ratio, cells[1], ratio))
    return ops.mean(parts, axis=(3, 5))


@floating_op(not_promoted=("box_indices",))
def crop_and_resize(
    x: Array,
    boxes: Array,
    box_indices: Array,
    /,
    *,
    crop_size: Ints,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Array:
    """Crop boxes from images, and resample each to one size.

    Args:
        x: `(batch, channels, height, width)`, floating.
        boxes: `(n, 4)`: y1, x1, y2, x2, of the dtype of x; 0 is the first row or column of the
            image and 1 the last. With y1 > y2 the crop is upside down.
        box_indices: `(n,)`, integer: the index of the image of each box.
        crop_size: the new size; an integer, or one for height and width.
        method: ``"bilinear"``: linear between the elements; ``"nearest"``: the nearest one, of
            two the one behind.
        extrapolation_value: the value outside the image.

    Returns:
        `(n, channels, *crop_size)`.

    Raises:
        ArgumentError: `method` is unknown.
        ShapeError: x, `boxes` or `box_indices` has the wrong rank.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[[0.0, 4.0]]]])
        >>> box = np.asarray([[0.0, 0.0, 0.0, 1.0]])
        >>> na.crop_and_resize(x, box, np.asarray([0]), crop_size=(1, 5))
        array([[[[0., 1., 2., 3., 4.]]]])

    References:
        https://www.tensorflow.org/api_docs/python/tf/image/crop_and_resize
    """
    if method not in ("bilinear", "nearest"):
        raise ArgumentError(
            f'crop_and_resize: method: got {method!r}, expected "bilinear" or "nearest"'
        )
    _check_regions("crop_and_resize", x, boxes, box_indices)
    sizes = windows.per_axis("crop_and_resize", "crop_size", crop_size, 2)
    positions = []
    for axis, (new, old) in enumerate(zip(sizes, x.shape[2:])):
        low, high = boxes[:, axis : axis + 1], boxes[:, axis + 2 : axis + 3]
        if new == 1:
            positions.append((low + high) * (0.5 * (old - 1)))
            continue
        steps = ops.arange(new, dtype=dtypes.dtype_of(x), like=x)
        positions.append(low * float(old - 1) + (high - low) * (steps * ((old - 1) / (new - 1))))
    inside = [
        ops.logical_and(ops.greater_equal(p, 0.0), ops.less_equal(p, float(n - 1)))
        for p, n in zip(positions, x.shape[2:])
    ]
    is_nearest = method == "nearest"
    return _between(x, box_indices, positions, inside, extrapolation_value, is_nearest=is_nearest)


def _between(
    x: Array,
    box_indices: Array,
    positions: Sequence[Array],
    inside: Sequence[Array],
    fill: float,
    *,
    is_nearest: bool = False,
) -> Array:
    """`(n, channels, rows, columns)`: x at a grid of positions for each box, linear in between.

    One gather for each of the four elements around, or of the nearest one, out of all images at
    once.
    """
    channels, height, width = x.shape[1:]
    flat = ops.reshape(ops.permute_dims(x, (1, 0, 2, 3)), (channels, -1))
    image = ops.reshape(ops.astype(box_indices, dtypes.int64), (-1, 1, 1)) * (height * width)
    ends, shares = [], []
    for position, within, size in zip(positions, inside, (height, width)):
        # NaN counts as outside; it cannot be an index
        clipped = ops.clip(ops.where(within, position, 0.0), 0.0, float(size - 1))
        if is_nearest:
            ends.append([ops.astype(ops.floor(clipped + 0.5), dtypes.int64)])
            shares.append((ops.ones_like(clipped),))
            continue
        first = ops.floor(ops.stop_gradient(clipped))
        second = ops.minimum(first + 1.0, float(size - 1))
        ends.append([ops.astype(end, dtypes.int64) for end in (first, second)])
        shares.append((1.0 - (clipped - first), clipped - first))
    total = None
    for row, vertical in zip(ends[0], shares[0]):
        for column, horizontal in zip(ends[1], shares[1]):
            index = image + ops.expand_dims(row, axis=2) * width + ops.expand_dims(column, axis=1)
            rows, columns = row.shape[1], column.shape[1]
            values = ops.take(flat, ops.reshape(index, (-1,)), axis=1)
            values = ops.reshape(values, (channels, -1, rows, columns))
            share = ops.expand_dims(vertical, axis=2) * ops.expand_dims(horizontal, axis=1)
            total = values * share if total is None else total + values * share
    seen = ops.logical_and(ops.expand_dims(inside[0], axis=2), ops.expand_dims(inside[1], axis=1))
    return ops.where(ops.expand_dims(seen, axis=1), ops.permute_dims(total, (1, 0, 2, 3)), fill)


def _check_boxes(name: str, argument: str, boxes: Array) -> None:
    if len(boxes.shape) < 2 or boxes.shape[-1] != 4:
        raise ShapeError(
            f"{name}: {argument} has shape {tuple(boxes.shape)}, expected (n, 4): four numbers a box"
        )


def _check_regions(name: str, x: Array, boxes: Array, box_indices: Array) -> None:
    shapes = [tuple(a.shape) for a in (x, boxes, box_indices)]
    image, regions, indices = shapes
    if len(image) != 4 or len(regions) != 2 or regions[-1] != 4 or indices != regions[:1]:
        raise ShapeError(
            f"{name}: got x {image}, boxes {regions} and box_indices {indices}, expected (batch, "
            "channels, height, width), (n, 4) and (n,)"
        )
    if 0 in image:
        raise ShapeError(f"{name}: x has shape {image}, expected an image with elements")
