"""Boxes in images: drawn, and covered by random parts.

Upstream: https://www.tensorflow.org/api_docs/python/tf/image/stateless_sample_distorted_bounding_box
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import tensor
from nestarray.frontends.tensorflow.random import streams
from nestarray.frontends.tensorflow.random.stateful import required_key
from nestarray.typing import Array

__all__ = [
    "draw_bounding_boxes", "sample_distorted_bounding_box",
    "stateless_sample_distorted_bounding_box",
]  # fmt: skip

#: Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLORS = (
    (1.0, 1.0, 0.0, 1.0),
    (0.0, 0.0, 1.0, 1.0),
    (1.0, 0.0, 0.0, 1.0),
    (0.0, 1.0, 0.0, 1.0),
    (0.5, 0.0, 0.5, 1.0),
    (0.5, 0.5, 0.0, 1.0),
    (0.5, 0.0, 0.0, 1.0),
    (0.0, 0.0, 0.5, 1.0),
    (0.0, 1.0, 1.0, 1.0),
    (1.0, 0.0, 1.0, 1.0),
)

#: The words of random bits that an attempt takes at most.
_WORDS = 4


def draw_bounding_boxes(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Array:
    """The edges of boxes drawn into images, one after another, without a derivative.

    Args:
        images: `(batch, height, width, channels)`.
        boxes: `(batch, n, 4)`: top, left, bottom, right, from 0 to 1.
        colors: `(m, channels)`, of which box i has the color i mod m; None or without rows: ten colors.
        name: has no effect.
    """
    images = tensor(images)
    boxes = tensor(boxes, like=images)
    _, height, width, channels = na.shape(images)
    if colors is None or not na.shape(tensor(colors))[0]:
        colors = [[1.0, *color[1:]] if channels == 1 else [*color] for color in _COLORS]
    colors = na.getitem(tensor(colors, like=images), (slice(None), slice(channels)))
    colors = na.astype(colors, dtypes.dtype_of(images))
    corners = na.multiply(
        na.astype(boxes, dtypes.float32),
        na.asarray([height - 1.0, width - 1.0] * 2, dtype=dtypes.float32, like=images),
    )
    corners = na.astype(corners, dtypes.int32)[..., None, None, None]
    rows = na.reshape(na.arange(height, dtype=dtypes.int32, like=images), (-1, 1, 1))
    columns = na.reshape(na.arange(width, dtype=dtypes.int32, like=images), (-1, 1))
    for i in range(na.shape(boxes)[1]):
        top, left, bottom, right = [corners[:, i, side] for side in range(4)]
        inside = (rows >= top) & (rows <= bottom) & (columns >= left) & (columns <= right)
        is_edge = (rows == top) | (rows == bottom) | (columns == left) | (columns == right)
        color = na.getitem(colors, i % na.shape(colors)[0])
        images = na.where(inside & is_edge, color, images)
    return na.stop_gradient(images)


class DistortedBox(NamedTuple):
    """A part of an image: arguments of `tf.slice`, and the box `(1, 1, 4)` from 0 to 1."""

    begin: Any
    size: Any
    bboxes: Any


class _Search(NamedTuple):
    """The state of the search: the number of attempts and of used words, and the last part."""

    attempts: Any
    used: Any
    is_found: Any
    top: Any
    left: Any
    height: Any
    width: Any


def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: float = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> DistortedBox:
    """`sample_distorted_bounding_box` of a seed, with upstream's bits."""
    attempts = max_attempts or 100
    stream = streams.philox(streams.beside(seed, image_size, bounding_boxes))
    return _sampled(
        image_size,
        bounding_boxes,
        stream.words(_WORDS * attempts),
        min_object_covered,
        aspect_ratio_range or (0.75, 1.33),
        area_range or (0.05, 1.0),
        attempts,
        bool(use_image_if_no_bounding_boxes),
    )


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: float = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
    *,
    key: Array | None = None,
) -> DistortedBox:
    """A part of an image of random size, shape and place that covers one of the boxes.

    Args:
        image_size: height, width and channels.
        bounding_boxes: `(batch, n, 4)`, float32: top, left, bottom, right, from 0 to 1.
        seed: has no effect.
        min_object_covered: the share of one of the boxes within the part.
        aspect_ratio_range: the limits of width / height; None: (0.75, 1.33).
        area_range: the limits of the share of the area; None: (0.05, 1).
        max_attempts: the number of attempts, after which the part is the image; None: 100.
        use_image_if_no_bounding_boxes: take the image as the box if there are none.
        name: has no effect.
        key: the random key.
    """
    attempts = max_attempts or 100
    key = required_key("sample_distorted_bounding_box", key)
    words = na.random.bits(key, (_WORDS * attempts,), dtype=dtypes.uint32)
    return _sampled(
        image_size,
        bounding_boxes,
        words,
        min_object_covered,
        aspect_ratio_range or (0.75, 1.33),
        area_range or (0.05, 1.0),
        attempts,
        bool(use_image_if_no_bounding_boxes),
    )


def _sampled(
    image_size: Any,
    bounding_boxes: Any,
    words: Array,
    min_object_covered: Any,
    aspect_ratio_range: Sequence[float],
    area_range: Sequence[float],
    max_attempts: int,
    use_image: bool,
) -> DistortedBox:
    image_size = tensor(image_size, like=words)
    boxes = na.reshape(tensor(bounding_boxes, like=words), (-1, 4))
    if not na.shape(boxes)[0]:
        if not use_image:
            raise ArgumentError(
                "sample_distorted_bounding_box: bounding_boxes: got none, expected at least one, or "
                "use_image_if_no_bounding_boxes=True"
            )
        boxes = na.asarray([[0.0, 0.0, 1.0, 1.0]], dtype=dtypes.float32, like=words)
    rows, columns = [_integer(na.getitem(image_size, i)) for i in range(2)]
    sides = na.stack([rows, columns, rows, columns])
    boxes = _integer(na.multiply(boxes, na.astype(sides, dtypes.float32)))  # rounded to zero
    area = _single(na.multiply(rows, columns))
    limits = [na.multiply(area, share) for share in area_range]

    def is_unfinished(state: _Search) -> Array:
        return na.logical_and(na.logical_not(state.is_found), na.less(state.attempts, max_attempts))

    def attempt(state: _Search) -> _Search:
        used = state.used
        low, high = aspect_ratio_range
        u = streams.fraction(na.take(words, used, axis=0), dtypes.float32)
        ratio = na.add(na.multiply(u, high - low), low)
        least, most = [_rounded(na.sqrt(na.divide(limit, ratio))) for limit in limits]
        is_wide = na.greater(_rounded(na.multiply(_single(most), ratio)), columns)
        fitting = _integer(na.divide(na.add(_single(columns), 0.5 - 1e-7), ratio))
        is_still_wide = na.greater(_rounded(na.multiply(_single(fitting), ratio)), columns)
        fitting = na.subtract(fitting, _integer(is_still_wide))
        most = na.minimum(na.where(is_wide, fitting, most), rows)
        least = na.minimum(least, most)
        used = na.add(used, 1)
        drawn, used = _below(words, used, na.subtract(most, least), 1)
        height = na.add(least, drawn)
        # a part may miss the limits by its rounding
        for sign, limit, exceeds in ((1, limits[0], na.less), (-1, limits[1], na.greater)):
            is_beyond = exceeds(_area(height, ratio), limit)
            height = na.add(height, na.multiply(_integer(is_beyond), sign))
        width = _rounded(na.multiply(_single(height), ratio))
        size = _area(height, ratio)
        fits = _all(
            na.greater_equal(size, limits[0]), na.less_equal(size, limits[1]),
            na.less_equal(width, columns), na.less_equal(height, rows),
            na.greater(width, 0), na.greater(height, 0),
        )  # fmt: skip
        top, after_top = _below(words, used, na.subtract(rows, height), 0)
        left, after_left = _below(words, after_top, na.subtract(columns, width), 0)
        used = na.where(fits, after_left, used)
        covers = _covers((top, left, height, width), boxes, min_object_covered)
        is_found = na.logical_and(fits, covers)
        return _Search(na.add(state.attempts, 1), used, is_found, top, left, height, width)

    zero = na.zeros_like(rows)
    start = _Search(zero, zero, na.zeros_like(rows, dtype="bool"), zero, zero, rows, columns)
    found = na.while_loop(is_unfinished, attempt, start)
    whole = (zero, zero, rows, columns)
    pairs = zip(found[3:], whole, strict=True)
    top, left, height, width = [na.where(found.is_found, x, rest) for x, rest in pairs]
    dtype = dtypes.dtype_of(image_size)
    begin = na.astype(na.stack([top, left, zero]), dtype)
    size = na.astype(na.stack([height, width, na.full_like(zero, -1)]), dtype)
    ends = na.stack([top, left, na.add(top, height), na.add(left, width)])
    box = na.divide(_single(ends), _single(sides))
    return DistortedBox(begin, size, na.reshape(box, (1, 1, 4)))


def _integer(x: Array) -> Array:
    return na.astype(x, dtypes.int32)


def _single(x: Array) -> Array:
    return na.astype(x, dtypes.float32)


def _rounded(x: Array) -> Array:
    return _integer(na.round(x))


def _area(height: Array, ratio: Array) -> Array:
    return _single(na.multiply(height, _rounded(na.multiply(_single(height), ratio))))


def _all(*conditions: Array) -> Array:
    return na.all(na.stack(conditions))


def _below(words: Array, used: Array, span: Array, added: int) -> tuple[Array, Array]:
    """An integer from 0 to span − 1 + added, of the next word if the span is positive, and its use.

    Upstream takes another word where a remainder would be too likely, with a probability below 2⁻³²
    times the span; this does not.
    """
    is_drawn = na.greater(span, 0)
    count = na.astype(na.add(na.where(is_drawn, span, na.ones_like(span)), added), dtypes.uint32)
    drawn = _integer(na.remainder(na.take(words, used, axis=0), count))
    return (
        na.where(is_drawn, drawn, na.zeros_like(drawn)),
        na.add(used, _integer(is_drawn)),
    )


def _covers(part: tuple[Array, ...], boxes: Array, share: Any) -> Array:
    """Whether a part covers a share of one of the boxes, all in elements."""
    top, left, height, width = part
    y1, x1, y2, x2 = na.unstack(boxes, axis=1)
    inner = [
        na.maximum(na.subtract(na.minimum(high, end), na.maximum(low, start)), 0)
        for low, high, start, end in (
            (y1, y2, top, na.add(top, height)),
            (x1, x2, left, na.add(left, width)),
        )
    ]
    sizes = _single(na.multiply(na.subtract(y2, y1), na.subtract(x2, x1)))
    is_filled = na.greater_equal(sizes, 1)
    covered = na.divide(
        _single(na.multiply(*inner)), na.where(is_filled, sizes, na.ones_like(sizes))
    )
    return na.any(na.logical_and(is_filled, na.greater_equal(covered, share)))
