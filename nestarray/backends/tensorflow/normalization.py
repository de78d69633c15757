"""TensorFlow: `nestarray.ops.normalization`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.base import supports
from nestarray.backends.tensorflow.derivatives import custom_gradient


def _are_vectors(x: Any, *arrays: Any) -> bool:
    return all(a is None or (a.dtype is x.dtype and a.shape == x.shape[-1:]) for a in arrays)


# the kernel for CPUs has the channels last, and the moments of empty batches are NaN
@supports(
    lambda x, weight=None, bias=None, *, axis=1, eps=1e-5: (
        x.dtype is tf.float32
        and x.shape.rank > 1
        and axis in (-1, x.shape.rank - 1)
        and x.shape[-1] is not None
        and 0 not in x.shape
        and _are_vectors(x, weight, bias)
    )
)
def batch_norm_training(
    x: Any, weight: Any = None, bias: Any = None, *, axis: int = 1, eps: float = 1e-5
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/raw_ops/FusedBatchNormV3"""
    channels = x.shape[-1]
    rows = x if x.shape.rank == 4 else tf.reshape(x, (-1, 1, 1, channels))
    out, mean, unbiased, *_ = tf.raw_ops.FusedBatchNormV3(
        x=rows,
        scale=tf.ones(channels) if weight is None else weight,
        offset=tf.zeros(channels) if bias is None else bias,
        mean=tf.zeros(0),
        variance=tf.zeros(0),
        epsilon=eps,
    )
    out = out if x.shape.rank == 4 else tf.reshape(out, tf.shape(x))
    return out, *_moments(rows, mean, unbiased)


@custom_gradient
def _moments(x: Any, mean: Any, unbiased: Any) -> Any:
    """The moments that the kernel returns without derivatives: the mean and the biased variance."""
    count = tf.cast(tf.size(x) // x.shape[-1], x.dtype)

    def backward(by_mean: Any, by_variance: Any) -> Any:
        """d mean = dx / n, d variance = 2 (x − mean) dx / n."""
        centered = x - tf.reduce_mean(x, (0, 1, 2))  # with its own derivative
        return (by_mean + 2.0 * by_variance * centered) / count, None, None

    return (tf.identity(mean), unbiased * ((count - 1.0) / count)), backward
