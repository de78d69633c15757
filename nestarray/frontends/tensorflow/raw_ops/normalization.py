"""Normalization, and losses of logits.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/FusedBatchNormV3
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow import nn
from nestarray.typing import Array

__all__ = [
    "LRN",
    "FusedBatchNorm",
    "FusedBatchNormGrad",
    "FusedBatchNormGradV2",
    "FusedBatchNormGradV3",
    "FusedBatchNormV2",
    "FusedBatchNormV3",
    "LRNGrad",
    "SoftmaxCrossEntropyWithLogits",
    "SparseSoftmaxCrossEntropyWithLogits",
]  # fmt: skip


def FusedBatchNormV3(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[Array, ...]:
    """The normalized images, the mean and the variance after them, and values for the gradient.

    The variance after them is unbiased. Only the images have a derivative.
    """
    axes, shape = _axes(x, data_format)
    wide = dtypes.dtype_of(scale)
    full = na.astype(x, wide)
    mean, variance = na.stop_gradient(mean), na.stop_gradient(variance)
    if not is_training:
        found = _normalized(full, mean, variance, scale, offset, epsilon, shape)
        return na.astype(found, dtypes.dtype_of(x)), mean, variance, mean, variance, mean
    batch_mean, batch_variance = na.mean(full, axis=axes), na.var(full, axis=axes)
    found = _normalized(full, batch_mean, batch_variance, scale, offset, epsilon, shape)
    batch_mean, batch_variance = na.stop_gradient(batch_mean), na.stop_gradient(batch_variance)
    count = math.prod([na.shape(x)[i] for i in axes])
    unbiased = na.multiply(batch_variance, count / max(count - 1, 1))
    new_mean, new_variance = batch_mean, unbiased
    if exponential_avg_factor != 1:
        new_mean = _averaged(mean, batch_mean, exponential_avg_factor)
        new_variance = _averaged(variance, unbiased, exponential_avg_factor)
    y = na.astype(found, dtypes.dtype_of(x))
    return y, new_mean, new_variance, batch_mean, batch_variance, batch_mean


def _averaged(old: Array, new: Array, factor: float) -> Array:
    return na.add(na.multiply(old, 1 - factor), na.multiply(new, factor))


def _axes(x: Array, data_format: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes without the channels, and the shape to which a number per channel is reshaped."""
    rank = len(na.shape(x))
    channels = 1 if data_format.startswith("NC") else rank - 1
    shape = tuple([-1 if i == channels else 1 for i in range(rank)])
    return tuple([i for i in range(rank) if i != channels]), shape


def _normalized(
    x: Array,
    mean: Array,
    variance: Array,
    scale: Array,
    offset: Array,
    epsilon: float,
    shape: tuple[int, ...],
) -> Array:
    mean, variance, scale, offset = [na.reshape(v, shape) for v in (mean, variance, scale, offset)]
    factor = na.multiply(na.rsqrt(na.add(variance, epsilon)), scale)
    return na.add(na.multiply(na.subtract(x, mean), factor), offset)


def FusedBatchNormV2(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[Array, ...]:
    """`FusedBatchNormV3` with one value less for the gradient."""
    settings = (epsilon, exponential_avg_factor, data_format, is_training)
    return FusedBatchNormV3(x, scale, offset, mean, variance, *settings)[:5]


FusedBatchNorm = FusedBatchNormV2


def FusedBatchNormGradV2(
    y_backprop: Array,
    x: Array,
    scale: Array,
    reserve_space_1: Array,
    reserve_space_2: Array,
    epsilon: float = 0.0001,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[Array, ...]:
    """The gradients of `FusedBatchNormV2` by the images, the scale and the offset."""
    axes, shape = _axes(x, data_format)
    wide = dtypes.dtype_of(scale)

    def run(x: Array, scale: Array, offset: Array) -> Array:
        full = na.astype(x, wide)
        mean, variance = reserve_space_1, reserve_space_2
        if is_training:
            mean, variance = na.mean(full, axis=axes), na.var(full, axis=axes)
        found = _normalized(full, mean, variance, scale, offset, epsilon, shape)
        return na.astype(found, dtypes.dtype_of(x))

    found = na.vjp(run, x, scale, na.zeros_like(scale))[1](y_backprop)
    empty = na.zeros((0,), dtype=wide, like=scale)
    return (*found, empty, empty)


FusedBatchNormGrad = FusedBatchNormGradV2


def FusedBatchNormGradV3(
    y_backprop: Array,
    x: Array,
    scale: Array,
    reserve_space_1: Array,
    reserve_space_2: Array,
    reserve_space_3: Array,
    epsilon: float = 0.0001,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[Array, ...]:
    """The gradients of `FusedBatchNormV3` by the images, the scale and the offset."""
    settings = (epsilon, data_format, is_training)
    return FusedBatchNormGradV2(y_backprop, x, scale, reserve_space_1, reserve_space_2, *settings)


def LRN(
    input: Array, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5
) -> Array:
    """Local response normalization across channels."""
    return nn.local_response_normalization(input, depth_radius, bias, alpha, beta)


def LRNGrad(
    input_grads: Array,
    input_image: Array,
    output_image: Array,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
) -> Array:
    """The gradient of `LRN`."""
    settings = (depth_radius, bias, alpha, beta)
    return na.vjp(lambda x: LRN(x, *settings), input_image)[1](input_grads)[0]


def SoftmaxCrossEntropyWithLogits(features: Array, labels: Array) -> tuple[Array, Array]:
    """−Σ labels · log softmax(features), and softmax(features) − labels."""
    shape = na.broadcast_shapes(na.shape(features), na.shape(labels))
    features, labels = na.broadcast_to(features, shape), na.broadcast_to(labels, shape)
    loss = nn.softmax_cross_entropy_with_logits(labels, features)
    return loss, na.subtract(na.softmax(features), labels)


def SparseSoftmaxCrossEntropyWithLogits(features: Array, labels: Array) -> tuple[Array, Array]:
    """−log softmax(features) at the labels, and the gradient by the features."""
    classes = na.shape(features)[-1]
    found = na.take_along_axis(na.log_softmax(features), na.expand_dims(labels, -1), axis=-1)
    loss = na.negative(na.squeeze(found, -1))
    hot = na.one_hot(labels, classes, dtype=dtypes.dtype_of(features))
    return loss, na.subtract(na.softmax(features), hot)
