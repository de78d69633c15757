"""TensorFlow: unsigned integers of 16 bits, for which kernels are missing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import tensorflow as tf


def by_bits(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which repeats elements of its first tensor, on signed integers of the same bits."""

    @wraps(native)
    def call(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        if x.dtype != tf.uint16:
            return native(x, *args, **kwargs)
        return tf.bitcast(native(tf.bitcast(x, tf.int16), *args, **kwargs), tf.uint16)

    return call
