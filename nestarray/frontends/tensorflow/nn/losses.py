"""Losses.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.frontends.tensorflow.conversion import floating, tensor, tensors
from nestarray.typing import Array

__all__ = [
    "compute_average_loss", "l2_loss", "log_poisson_loss", "scale_regularization_loss",
    "sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits", "weighted_cross_entropy_with_logits",
]  # fmt: skip


def l2_loss(t: Any, name: str | None = None) -> Array:
    """Σ t² / 2."""
    return na.multiply(na.sum(na.square(floating("l2_loss", t))), 0.5)


def _same_shapes(name: str, *arrays: Array) -> None:
    shapes = [tuple(na.shape(x)) for x in arrays]
    if len({*shapes}) > 1:
        raise ShapeError(f"{name}: got the shapes {shapes}, expected equal ones")


def _log1p_exp_negative_abs(x: Array) -> tuple[Array, Array]:
    """max(x, 0), with the derivative 1 at 0, and log(1 + exp(−|x|))."""
    is_positive = na.greater_equal(x, 0)
    above = na.where(is_positive, x, na.zeros_like(x))
    return above, na.log1p(na.exp(na.where(is_positive, na.negative(x), x)))


def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Array:
    """−z · log σ(x) − (1 − z) · log(1 − σ(x)), for labels z and logits x."""
    x, z = tensors("sigmoid_cross_entropy_with_logits", logits, labels)
    _same_shapes("sigmoid_cross_entropy_with_logits", x, z)
    above, rest = _log1p_exp_negative_abs(x)
    return na.add(na.subtract(above, na.multiply(x, z)), rest)


def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Array:
    """`sigmoid_cross_entropy_with_logits`, with positive labels weighted."""
    x, z, weight = tensors("weighted_cross_entropy_with_logits", logits, labels, pos_weight)
    _same_shapes("weighted_cross_entropy_with_logits", x, z)
    factor = na.add(na.multiply(na.subtract(weight, 1), z), 1)
    rest = na.add(na.log1p(na.exp(na.negative(na.abs(x)))), na.relu(na.negative(x)))
    return na.add(na.multiply(na.subtract(1, z), x), na.multiply(factor, rest))


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: str | None = None
) -> Array:
    """−Σ labels · log softmax(logits) along an axis; the derivative by the logits is softmax − labels."""
    x = floating("softmax_cross_entropy_with_logits", logits)
    z = na.astype(tensor(labels, like=x), dtypes.dtype_of(x))
    log_p = na.log_softmax(na.stop_gradient(x), axis=axis)
    found = na.negative(na.sum(na.multiply(z, log_p), axis=axis))
    # upstream's derivative holds for labels whose sum is 1, of which the formula's makes no use
    chosen = na.sum(na.multiply(na.stop_gradient(z), x), axis=axis)
    return with_derivative_of(na.subtract(na.logsumexp(x, axis=axis), chosen), found)


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Array:
    """−log softmax(logits) at the labels, classes along the last axis."""
    x = floating("sparse_softmax_cross_entropy_with_logits", logits)
    z = tensor(labels, like=x)
    if tuple(na.shape(x)[:-1]) != tuple(na.shape(z)):
        raise ShapeError(
            f"sparse_softmax_cross_entropy_with_logits: labels: got the shape {tuple(na.shape(z))}, "
            f"expected {tuple(na.shape(x)[:-1])}, as the logits without their last axis"
        )
    index = na.expand_dims(na.astype(z, dtypes.int64), -1)
    found = na.take_along_axis(na.log_softmax(x, axis=-1), index, axis=-1)
    return na.negative(na.squeeze(found, axis=-1))


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Array:
    """exp(c) − c · z, for targets z and logarithms c; with Stirling's approximation of log z! for z > 1."""
    c, z = tensors("log_poisson_loss", log_input, targets)
    _same_shapes("log_poisson_loss", c, z)
    found = na.subtract(na.exp(c), na.multiply(c, z))
    if not compute_full_loss:
        return found
    is_small = na.logical_and(na.greater_equal(z, 0), na.less_equal(z, 1))
    safe = na.where(is_small, na.ones_like(z), z)
    stirling = na.add(
        na.subtract(na.multiply(safe, na.log(safe)), safe),
        na.multiply(na.log(na.multiply(safe, 2 * math.pi)), 0.5),
    )
    return na.add(found, na.where(is_small, na.zeros_like(z), stirling))


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Array:
    """The sum of losses divided by the size of the batch, by default the first axis."""
    losses = floating("compute_average_loss", per_example_loss)
    if not len(na.shape(losses)):
        raise ArgumentError(
            "compute_average_loss: per_example_loss: got a scalar, expected an axis"
        )
    size = na.shape(losses)[0] if global_batch_size is None else global_batch_size
    if sample_weight is not None:
        weight = na.astype(tensor(sample_weight, like=losses), dtypes.dtype_of(losses))
        rank = len(na.shape(losses)) - len(na.shape(weight))
        losses = na.multiply(losses, na.reshape(weight, (*na.shape(weight), *(1,) * rank)))
    return na.divide(na.sum(losses), na.astype(tensor(size, like=losses), dtypes.dtype_of(losses)))


def scale_regularization_loss(regularization_loss: Any) -> Array:
    """The sum of a loss, for one replica."""
    return na.sum(floating("scale_regularization_loss", regularization_loss))
