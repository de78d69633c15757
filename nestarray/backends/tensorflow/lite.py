"""Operations that TFLite has, in place of TensorFlow's where `portable.are_wanted`.

TFLite lacks running products, maxima of scattered values, arrays of tensors with open sizes, and
unstacked int64. TensorFlow's own operations are faster where they exist.
https://ai.google.dev/edge/litert/models/ops_compatibility
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def unstack(x: Any, axis: int) -> list[Any]:
    """``tf.unstack`` by slices."""
    return [tf.gather(x, i, axis=axis) for i in range(x.shape[axis])]


def scatter_extreme(mode: str, x: Any, places: Any, updates: Any) -> Any:
    """``tf.tensor_scatter_nd_max`` (or ``min``) of a vector by segments."""
    if mode == "max":
        return tf.maximum(x, tf.math.unsorted_segment_max(updates, places, tf.size(x)))
    return tf.minimum(x, tf.math.unsorted_segment_min(updates, places, tf.size(x)))


def scan(step: Callable[..., Any], carry: Any, xs: Any, count: Any, reverse: bool) -> Any:
    """A scan whose results are concatenated step by step; `count` is at least 1."""

    def row(done: Any) -> Any:
        place = count - 1 - done if reverse else done
        return tuple([tf.gather(x, place) for x in xs])

    def body(done: Any, carry: Any, columns: Any) -> Any:
        carry, ys = step(carry, row(done))
        pairs = zip(columns, ys, strict=True)
        order = (lambda column, y: [y, column]) if reverse else (lambda column, y: [column, y])
        grown = [tf.concat(order(column, y[None]), 0) for column, y in pairs]
        return done + 1, tuple(carry), tuple(grown)

    carry, ys = step(carry, row(0))
    columns = tuple([y[None] for y in ys])
    shapes = [x.shape for x in carry], [tf.TensorShape([None, *y.shape]) for y in ys]
    _, carry, columns = tf.while_loop(
        lambda done, *_: done < count,
        body,
        (tf.constant(1), tuple(carry), columns),
        shape_invariants=(tf.TensorShape(()), *map(tuple, shapes)),
    )
    return tuple(carry), tuple(columns)
