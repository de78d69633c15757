"""TensorFlow: `nestarray.ops.contraction`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.axes import many_axes
from nestarray.backends.base import promoted, promoting
from nestarray.backends.tensorflow.elementwise import _cast

# The integers that TensorFlow multiplies as matrices; others are computed as these.
_WIDER = {
    tf.int8: tf.int32, tf.int16: tf.int32, tf.uint8: tf.int32,
    tf.uint16: tf.int32, tf.uint32: tf.int64, tf.uint64: tf.int64,
}  # fmt: skip


def _matmul(x1: Any, x2: Any, /) -> Any:
    wider = _WIDER.get(x1.dtype)
    if wider is not None:
        return tf.cast(_matmul(tf.cast(x1, wider), tf.cast(x2, wider)), x1.dtype)
    rank1, rank2 = len(x1.shape), len(x2.shape)
    if rank1 > 1 and rank2 > 1:
        return tf.matmul(x1, x2)
    if rank1 == 1 and rank2 == 1:
        return tf.squeeze(tf.matmul(x1[None, :], x2[:, None]), (-2, -1))
    if rank1 == 1:
        return tf.squeeze(tf.matmul(x1[None, :], x2), -2)
    return tf.squeeze(tf.matmul(x1, x2[:, None]), -1)


matmul = promoting(_matmul, _cast)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/tensordot"""
    x1, x2 = promoted((x1, x2), _cast)
    if not isinstance(axes, int):
        axes = tuple(list(many_axes(a, len(x.shape), "tensordot")) for a, x in zip(axes, (x1, x2)))
    wider = _WIDER.get(x1.dtype)
    if wider is not None:
        product = tf.tensordot(tf.cast(x1, wider), tf.cast(x2, wider), axes)
        return tf.cast(product, x1.dtype)
    return tf.tensordot(x1, x2, axes)


def einsum(subscripts: str, /, *operands: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/einsum"""
    operands = promoted(operands, _cast)
    dtype = operands[0].dtype
    wider = _WIDER.get(dtype)
    if wider is None:
        return tf.einsum(subscripts, *operands)
    return tf.cast(tf.einsum(subscripts, *(tf.cast(x, wider) for x in operands)), dtype)
