"""Products with correct derivatives of every order for zero factors.

TensorFlow divides by the factors: for a zero factor its first derivative of ``cumprod`` and its
second derivative of ``reduce_prod`` are silently wrong.
https://github.com/tensorflow/tensorflow/issues/119430
https://github.com/tensorflow/tensorflow/issues/61117
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray.backends import portable
from nestarray.backends.tensorflow.derivatives import custom_gradient


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

    return _derived_from(by_halves, native, x)


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
    return _derived_from(by_doubling, native, x)


def in_segments(x: Any, segment_ids: Any, count: Any) -> Any:
    """``tf.math.unsorted_segment_prod``, whose derivative lacks the conjugate of complex factors."""

    def native(x: Any) -> Any:
        return tf.math.unsorted_segment_prod(x, segment_ids, count)

    @custom_gradient
    def of_complex(x: Any) -> Any:
        return native(x), lambda upstream: tf.math.conj(
            _cotangent(native, x, tf.math.conj(upstream))
        )

    return of_complex(x) if x.dtype.is_complex else native(x)


def _is_differentiable(x: Any, axes: list[int]) -> bool:
    """Whether the dtype has derivatives and multiplications."""
    counts = [x.shape[a] for a in axes]
    return (x.dtype.is_floating or x.dtype.is_complex) and all(counts) and bool(axes)


def _derived_from(multiplied: Callable[[Any], Any], native: Callable[[Any], Any], x: Any) -> Any:
    """``native(x)`` with the derivatives of `multiplied`, the product in single steps."""

    @custom_gradient
    def call(x: Any) -> Any:
        return native(x), lambda upstream: _cotangent(multiplied, x, upstream)

    return call(x)


def _cotangent(fn: Callable[[Any], Any], x: Any, upstream: Any) -> Any:
    """The vector–Jacobian product of ``fn(x)``."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = fn(x)
    return tape.gradient(result, x, upstream)
