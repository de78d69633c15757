"""Gradients of broadcast operands, for the custom derivatives of this backend."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def summed(by_first: Any, by_second: Any, x1: Any, x2: Any) -> tuple[Any, Any]:
    """The gradients of broadcast operands, summed to the shapes of `x1` and `x2`."""
    shapes = tf.shape(x1), tf.shape(x2)
    axes = tf.raw_ops.BroadcastGradientArgs(s0=shapes[0], s1=shapes[1])
    return (
        tf.reshape(tf.reduce_sum(by_first, axes[0]), shapes[0]),
        tf.reshape(tf.reduce_sum(by_second, axes[1]), shapes[1]),
    )
