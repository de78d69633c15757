"""TensorFlow: `nestarray.ops.logic`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.elementwise import _as_signed_bits
from nestarray.backends.tensorflow.promotion import on_integers, pair_on_integers, promoting, truth


def _of_bools(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` of two operands, with numbers compared with 0."""

    def call(x1: Any, x2: Any, /) -> Any:
        return native(truth(x1), truth(x2))

    return call


def _bits(native: Callable[..., Any], of_bools: Callable[..., Any]) -> Callable[..., Any]:
    """`native` for bits of integers, `of_bools` for booleans; TensorFlow has separate functions."""
    return promoting(pair_on_integers(native, of_bools), scalar_ok=False)


def _parts(test: Callable[..., Any], join: Callable[..., Any], value: bool) -> Callable[..., Any]:
    """`test` of floating numbers or both parts of complex numbers; `value` for integers."""

    def call(x: Any, /) -> Any:
        if x.dtype.is_complex:
            return join(test(tf.math.real(x)), test(tf.math.imag(x)))
        if x.dtype.is_floating:
            return test(x)
        return tf.fill(tf.shape(x), value)

    return call


def _within_width(x: Any, shift: Any) -> Any:
    """Whether a shift is less than the width; TensorFlow clamps it, others shift all bits out."""
    return (shift >= 0) & (shift < 8 * x.dtype.size)


def _left_shift(x1: Any, x2: Any) -> Any:
    return tf.where(_within_width(x1, x2), tf.bitwise.left_shift(x1, x2), tf.zeros_like(x1))


def _right_shift(x1: Any, x2: Any) -> Any:
    emptied = tf.zeros_like(x1) if x1.dtype.is_unsigned else -tf.cast(x1 < 0, x1.dtype)
    return tf.where(_within_width(x1, x2), tf.bitwise.right_shift(x1, x2), emptied)


isfinite = _parts(tf.math.is_finite, tf.math.logical_and, True)
isinf = _parts(tf.math.is_inf, tf.math.logical_or, False)
isnan = _parts(tf.math.is_nan, tf.math.logical_or, False)
bitwise_invert = on_integers(tf.bitwise.invert, tf.math.logical_not)

equal = promoting(tf.math.equal, compares=True)
not_equal = promoting(tf.math.not_equal, compares=True)
less = promoting(tf.math.less, compares=True)
less_equal = promoting(tf.math.less_equal, compares=True)
greater = promoting(tf.math.greater, compares=True)
greater_equal = promoting(tf.math.greater_equal, compares=True)
bitwise_and = _bits(tf.bitwise.bitwise_and, tf.math.logical_and)
bitwise_or = _bits(tf.bitwise.bitwise_or, tf.math.logical_or)
bitwise_xor = _bits(tf.bitwise.bitwise_xor, tf.math.logical_xor)
bitwise_left_shift = promoting(_left_shift, scalar_ok=False)
bitwise_right_shift = promoting(_right_shift, scalar_ok=False)

logical_and = _of_bools(tf.math.logical_and)
logical_or = _of_bools(tf.math.logical_or)
logical_xor = _of_bools(tf.math.logical_xor)


def signbit(x: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.signbit.html"""
    return _as_signed_bits(x) < 0 if x.dtype.is_floating else x < 0


def logical_not(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/logical_not"""
    return tf.math.logical_not(truth(x))
