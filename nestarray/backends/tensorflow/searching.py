"""TensorFlow: `nestarray.ops.searching`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends import portable
from nestarray.backends.base import supports
from nestarray.backends.checks.positions import check_sorter
from nestarray.backends.promotion import choosing
from nestarray.backends.tensorflow.indexing import take_along_axis
from nestarray.backends.tensorflow.order import comparable
from nestarray.backends.tensorflow.promotion import cast, promoted, truth
from nestarray.numerics.results import TopKResult
from nestarray.typing import NUMBERS


def _where(condition: Any, x1: Any, x2: Any) -> Any:
    # In a graph TensorFlow converts a number as first operand to float32.
    if isinstance(x1, NUMBERS):
        x1 = tf.constant(x1, x2.dtype)
    return tf.where(condition, x1, x2)


where = choosing(_where, cast)


def _placed(search: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    rank = len(x.shape)
    if axis is None:
        x, axis = tf.reshape(x, (-1,)), 0
    found = search(x, axis)
    if x.dtype.is_floating:  # TensorFlow ignores NaN
        is_nan = tf.math.is_nan(x)
        first = tf.argmax(is_nan, axis)
        found = tf.where(tf.reduce_any(is_nan, axis), first, found)
    if not keepdims:
        return found
    return tf.expand_dims(found, axis) if len(x.shape) == rank else tf.reshape(found, (1,) * rank)


def argmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/argmax"""
    return _placed(tf.argmax, x, axis, keepdims)


def argmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/argmin"""
    return _placed(tf.argmin, x, axis, keepdims)


@supports(lambda *_, size=None, **_settings: size is None)
def nonzero(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> tuple[Any, ...]:
    """https://www.tensorflow.org/api_docs/python/tf/where"""
    return tuple(tf.unstack(tf.where(truth(x)), axis=-1))


def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/searchsorted"""
    if len(x1.shape) != 1:
        raise ValueError("x1 is no vector")
    if side not in _BOUNDS:
        raise ValueError("neither left nor right")
    if sorter is not None:
        check_sorter("searchsorted", {"x1": x1, "sorter": sorter})
        x1 = tf.gather(x1, sorter)
    x1, x2 = (comparable(x) for x in promoted((x1, x2)))
    if portable.are_wanted():
        return portable.searchsorted(x1, x2, side)
    # the core of tf.searchsorted, without reshapes for batches of sequences
    found = _BOUNDS[side](sorted_inputs=x1[None], values=tf.reshape(x2, (1, -1)), out_type=tf.int64)
    return tf.reshape(found, tf.shape(x2))


_BOUNDS = {"left": tf.raw_ops.LowerBound, "right": tf.raw_ops.UpperBound}


def _takes_last(x: Any, /, k: int, *, axis: int = -1, largest: bool = True) -> bool:
    is_empty = 0 in x.shape  # TensorFlow's derivative fails
    return axis in (-1, len(x.shape) - 1) and x.dtype != tf.bool and not is_empty


@supports(_takes_last)
def top_k(x: Any, /, k: int, *, axis: int = -1, largest: bool = True) -> TopKResult:
    """https://www.tensorflow.org/api_docs/python/tf/math/top_k"""
    keys = comparable(tf.stop_gradient(x))
    indices = tf.math.top_k(keys if largest else tf.bitwise.invert(keys), k).indices
    indices = tf.cast(indices, tf.int64)
    return TopKResult(take_along_axis(x, indices, axis=-1), indices)
