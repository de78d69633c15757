"""Products with correct derivatives of every order for zero factors.

TensorFlow divides by the factors: for a zero factor its first derivative of ``cumprod`` and its
second derivative of ``reduce_prod`` are silently wrong.
https://github.com/tensorflow/tensorflow/issues/119430
https://github.com/tensorflow/tensorflow/issues/61117
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends import portable, xp
from nestarray.backends.tensorflow.derivatives import with_derivative_of
from nestarray.numerics.products import products_at


def total(x: Any, axis: Any, keepdims: bool) -> Any:
    """``tf.reduce_prod``."""

    def native(x: Any) -> Any:
        return tf.reduce_prod(x, axis, keepdims)

    rank = len(x.shape)
    axes = range(rank) if axis is None else axis if isinstance(axis, list) else [axis]
    axes = [a % rank for a in axes]
    if not _is_differentiable(x, axes):
        return native(x)

    def by_halves(x: Any) -> Any:
        for a in axes:
            while x.shape[a] > 1:
                half = x.shape[a] // 2
                first, second, odd = tf.split(x, [half, half, x.shape[a] - 2 * half], a)
                x = tf.concat([first * second, odd], a)
        return x if keepdims else tf.squeeze(x, axes)

    return with_derivative_of(by_halves, native)(x)


def running(x: Any, axis: int) -> Any:
    """``tf.math.cumprod``."""

    def native(x: Any) -> Any:
        return tf.math.cumprod(x, axis)

    def by_doubling(x: Any) -> Any:
        count, reach = x.shape[axis], 1
        while reach < count:  # each element is the product of the last `reach` factors
            start, _ = tf.split(x, [reach, count - reach], axis)
            before, _ = tf.split(x, [count - reach, reach], axis)
            x = x * tf.concat([tf.ones_like(start), before], axis)
            reach *= 2
        return x

    if portable.are_wanted() and x.shape[axis] is not None:
        return by_doubling(x)
    if not _is_differentiable(x, [axis]):
        return native(x)
    return with_derivative_of(by_doubling, native)(x)


def at(x: Any, places: Any, factors: Any) -> Any:
    """The elements of a vector, times the factors at their places."""

    def native(x: Any, factors: Any) -> Any:
        return x * tf.math.unsorted_segment_prod(factors, places, tf.size(x))

    def in_order(x: Any, factors: Any) -> Any:
        return products_at(xp, x, places, factors)

    if None in (x.shape[0], factors.shape[0]) or not x.dtype.is_floating | x.dtype.is_complex:
        return native(x, factors)
    return with_derivative_of(in_order, native)(x, factors)


def _is_differentiable(x: Any, axes: list[int]) -> bool:
    """Whether the dtype has derivatives and multiplications."""
    counts = [x.shape[a] for a in axes]
    return (x.dtype.is_floating or x.dtype.is_complex) and all(counts) and bool(axes)
