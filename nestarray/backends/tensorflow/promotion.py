"""TensorFlow: promotion of operands of several dtypes and of Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from nestarray.backends import promotion
from nestarray.backends.tensorflow.core import native_dtype
from nestarray.typing import NUMBERS


def cast(x: Any, dtype: Any, like: Any = None) -> Any:
    """An array or a Python number as an array of `dtype`; `like` has no effect."""
    # tf.cast converts a Python number to float32 first, and loses half of its digits.
    native = native_dtype(dtype)
    if x.__class__ in (int, float, complex):
        return tf.constant(np.asarray(x, native.as_numpy_dtype), native)
    return tf.cast(x, native)


def truth(x: Any) -> Any:
    """Whether elements differ from 0; ``tf.cast`` tests only the real part of complex numbers."""
    x = tf.convert_to_tensor(x)
    return tf.not_equal(x, 0) if x.dtype.is_complex else tf.cast(x, tf.bool)


def _is_integer(x: Any) -> bool:
    return x.dtype.is_integer or x.dtype.is_bool


def on_integers(native: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, or `other` for integers that it does not support.

    Native functions reject integers before they compute, both eagerly and in graphs, so floating
    arguments pay nothing; a test of the dtype would take 0.3 µs.
    """

    def call(x: Any, /) -> Any:
        try:
            return native(x)
        except _REFUSED:
            if not _is_integer(x):
                raise
        return other(x)

    return call


def pair_on_integers(native: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """Like `on_integers`, for two operands of one dtype."""

    def call(x1: Any, x2: Any, /) -> Any:
        try:
            return native(x1, x2)
        except _REFUSED:
            if not _is_integer(x1):
                raise
        return other(x1, x2)

    return call


_REFUSED = (TypeError, ValueError, tf.errors.InvalidArgumentError)


def floating(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` with integers cast to float32."""
    return on_integers(native, lambda x: native(tf.cast(x, tf.float32)))


def floating_pair(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` of two operands, with integers cast to float32."""

    def call(x1: Any, x2: Any, /) -> Any:
        if _is_integer(x1 if hasattr(x1, "dtype") else x2):
            x1, x2 = tf.cast(x1, tf.float32), tf.cast(x2, tf.float32)
        return native(x1, x2)

    return call


def number_first(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` with a weakly typed Python number as first operand, which TensorFlow reads as
    float32."""

    def call(x1: Any, x2: Any, /) -> Any:
        if isinstance(x1, NUMBERS):  # np.float64, which is a float, too
            x1 = tf.constant(x1, x2.dtype)
        return native(x1, x2)

    return call


def promoting(
    native: Callable[..., Any], *, scalar_ok: bool = True, **kind: bool
) -> Callable[..., Any]:
    """A two-operand function that promotes.

    Args:
        native: TensorFlow's function.
        scalar_ok: whether it accepts a weakly typed Python number with a tensor.
        kind: see `nestarray.backends.promotion`.
    """
    # in graphs, a number as first operand determines the dtype
    reflected = number_first(native) if scalar_ok else None
    return promotion.promoting(native, cast, scalar_ok=scalar_ok, reflected=reflected, **kind)


promoted = promotion.promoting_all(cast)
