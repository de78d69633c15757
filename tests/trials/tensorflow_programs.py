"""Functions in the style of TensorFlow programs: variables, ragged edges, AutoGraph, updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

RNG = np.random.default_rng(7)


def _normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype("float32")


def repeated_updates(x: Any) -> Any:
    """Updates at repeated positions: sums, extrema, and the last one."""
    index = tf.constant([[0], [0], [2]])
    y = tf.tensor_scatter_nd_add(x, index, 2.0 * x[:3])
    y = tf.tensor_scatter_nd_max(y, index, x[1:4])
    return y * tf.scatter_nd(index, x[:3], [5, 2])


def decoded(x: Any) -> Any:
    """A loop of AutoGraph that appends to a TensorArray."""
    rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[3])
    state = tf.zeros([3])
    for i in tf.range(tf.shape(x)[0]):
        state = tf.tanh(x[i] + 0.5 * state)
        rows = rows.write(i, state)
    return rows.stack()


def masked_softmax(scores: Any, lengths: Any) -> Any:
    """Attention weights up to a length, and a mean over them."""
    mask = tf.sequence_mask(lengths, maxlen=tf.shape(scores)[1])
    weights = tf.nn.softmax(tf.where(mask, scores, -1e9))
    return weights, tf.math.segment_mean(weights, tf.constant([0, 0, 1]))


def patches(images: Any) -> Any:
    """Patches of images, and the images again."""
    parts = tf.image.extract_patches(images, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    blocks = tf.nn.space_to_depth(images, 2)
    return parts - blocks, tf.nn.depth_to_space(blocks, 2)


def newton(x: Any) -> Any:
    """A loop until the error is small, with a condition inside."""
    y = tf.ones_like(x)
    step = 0
    while step < 6:
        new = y - (y * y - tf.abs(x) - 1.0) / (2.0 * y)
        y = tf.cond(tf.reduce_max(new) > 100.0, lambda new=new: new / 2.0, lambda new=new: new)
        step += 1
    return y


def nearest_codes(x: Any, codes: Any) -> Any:
    """Vector quantization whose gradient passes through."""
    distances = tf.reduce_sum((x[:, None] - codes[None]) ** 2, -1)
    chosen = tf.gather(codes, tf.argmin(distances, -1))
    return x + tf.stop_gradient(chosen - x), tf.reduce_mean((tf.stop_gradient(x) - chosen) ** 2)


TRIALS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "repeated_updates": (repeated_updates, (_normal(5, 2),)),
    "decoded": (decoded, (_normal(4, 3),)),
    "masked_softmax": (masked_softmax, (_normal(3, 5), np.array([5, 2, 3], "int32"))),
    "patches": (patches, (_normal(1, 4, 6, 2),)),
    "newton": (newton, (_normal(3),)),
    "nearest_codes": (nearest_codes, (_normal(5, 3), _normal(4, 3))),
}
