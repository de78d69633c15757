"""TensorFlow: padding with a number, in every context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from nestarray.backends.tensorflow.promotion import cast


def padded(x: Any, widths: Sequence[tuple[int, int]], fill: float) -> Any:
    """`x` padded by `fill`; `widths` has (before, after) for each axis.

    ``tf.vectorized_map`` loses the constant of ``tf.pad`` and pads with zeros:
    https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/ops/parallel_for/pfor.py
    """
    zeros = tf.pad(x, widths)
    if fill == 0:
        return zeros
    inside = np.ones((1,) * len(widths), bool)
    for axis, (before, after) in enumerate(widths):
        length = x.shape[axis]
        is_known = isinstance(before, int) and isinstance(after, int)
        if not is_known or before or after:
            if not is_known or length is None:
                return tf.pad(x, widths, constant_values=cast(fill, x.dtype))
            line = np.arange(before + length + after)
            line = (line >= before) & (line < before + length)
            inside = inside & line.reshape([-1 if i == axis else 1 for i in range(len(widths))])
    return tf.where(inside, zeros, cast(fill, x.dtype))
