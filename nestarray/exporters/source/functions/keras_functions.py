"""Keras: functions of several operations, and layers that differ from Keras's."""

# its annotations say that most functions may return None
# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false
# pyright: reportOptionalOperand=false, reportGeneralTypeIssues=false, reportArgumentType=false
# pyright: reportOperatorIssue=false, reportOptionalIterable=false, reportCallIssue=false

from __future__ import annotations

import math

import keras
from keras import layers, ops


class BatchNormalization(layers.BatchNormalization):
    """Batch normalization whose moving variance is the unbiased one, as in PyTorch."""

    def call(self, inputs, training=None, mask=None):
        old = self.momentum * self.moving_variance
        outputs = super().call(inputs, training=training, mask=mask)
        if training and self.trainable:
            count = math.prod(inputs.shape) / inputs.shape[self.axis]
            self.moving_variance.assign(old + (self.moving_variance - old) * count / (count - 1))
        return outputs


class PaddedEmbedding(layers.Embedding):
    """The rows of a table; no gradient reaches the row `padding_idx`."""

    def __init__(self, input_dim, output_dim, padding_idx, **kwargs):
        super().__init__(input_dim, output_dim, **kwargs)
        self.padding_idx = padding_idx

    def call(self, inputs):
        return embedding(inputs, self.embeddings, padding_idx=self.padding_idx)


def embedding(indices, weight, *, padding_idx):
    """The rows of a table; no gradient reaches the row `padding_idx`."""
    rows = ops.take(weight, indices, axis=0)
    is_padding = ops.expand_dims(ops.equal(indices, padding_idx), -1)
    return ops.where(is_padding, ops.stop_gradient(rows), rows)


def var(x, *, axis=None, keepdims=False, correction):
    """The variance, divided by the number of elements − correction."""
    mean = ops.mean(x, axis=axis, keepdims=True)
    count = math.prod(x.shape) / math.prod(mean.shape)
    return ops.var(x, axis=axis, keepdims=keepdims) * count / (count - correction)


def std(x, *, axis=None, keepdims=False, correction):
    """The root of the variance."""
    return ops.sqrt(var(x, axis=axis, keepdims=keepdims, correction=correction))


def gather(x, *indices):
    """``x[indices]`` for arrays of the first axes."""
    sizes, place = x.shape[: len(indices)], 0
    for size, index in zip(sizes, indices):
        place = place * size + ops.where(index < 0, index + size, index)
    rest = x.shape[len(indices) :]
    return ops.take(ops.reshape(x, (math.prod(sizes), *rest)), place, axis=0)


def scattered(x, indices, values, reduction=None):
    """The array with other elements at ``x[indices]``, arrays for the first axes."""
    shape, rest = ops.shape(sum(index * 0 for index in indices)), x.shape[len(indices) :]
    places = ops.stack([ops.broadcast_to(index, shape) for index in indices], -1)
    values = ops.broadcast_to(ops.cast(values, x.dtype), (*shape, *rest))
    places, values = ops.reshape(places, (-1, len(indices))), ops.reshape(values, (-1, *rest))
    return ops.scatter_update(x, places, values, reduction=reduction)


def updated(x, starts, sizes, values):
    """The array with other elements in a block."""
    values = ops.cast(values, x.dtype)
    if len(values.shape) < len(x.shape) and values.shape:
        axes = [axis for axis, size in enumerate(sizes) if size == 1]
        values = ops.expand_dims(values, axes[: len(x.shape) - len(values.shape)])
    return ops.slice_update(x, starts, ops.broadcast_to(values, sizes))


def scan(step, carry, xs=None, **settings):
    """`ops.scan`, on TensorFlow too, whose Keras wants results like the carry."""
    first = None if xs is None else keras.tree.map_structure(lambda x: x[0], xs)
    result = step(carry, first)[1]
    start = ops.zeros(()) if result is None else keras.tree.map_structure(ops.zeros_like, result)

    def both(carry, x):
        last, result = step(carry[0], x)
        pair = last, start if result is None else result
        return pair, pair

    (last, _), (_, results) = ops.scan(both, (carry, start), xs, **settings)
    return last, None if result is None else results


def while_loop(test, body, carry, *, max_steps=None):
    """Apply `body` as long as `test` holds, at most `max_steps` times; then it has a derivative."""

    def step(carry, _):
        return ops.cond(test(carry), lambda: body(carry), lambda: carry), None

    if max_steps is not None:
        return scan(step, carry, length=max_steps)[0]
    return ops.while_loop(lambda *carry: test(carry), lambda *carry: body(carry), carry)


def batch_norm(x, mean, variance, weight=None, bias=None, *, axis=1, eps=1e-5):
    """Batch normalization with a given mean and variance."""
    shape = [1] * len(x.shape)
    shape[axis] = -1
    y = (x - ops.reshape(mean, shape)) / ops.sqrt(ops.reshape(variance, shape) + eps)
    y = y if weight is None else y * ops.reshape(weight, shape)
    return y if bias is None else y + ops.reshape(bias, shape)


def layer_norm(x, weight=None, bias=None, *, axis=-1, eps=1e-5):
    """Layer normalization."""
    mean, variance = ops.moments(x, axis, keepdims=True)
    y = (x - mean) / ops.sqrt(variance + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def group_norm(x, weight=None, bias=None, *, num_groups, axis=1, eps=1e-5):
    """Group normalization of the channels along an axis."""
    x = ops.moveaxis(x, axis, 1)
    y = ops.reshape(x, (x.shape[0], num_groups, -1))
    mean, variance = ops.moments(y, -1, keepdims=True)
    y, shape = (
        ops.reshape((y - mean) / ops.sqrt(variance + eps), x.shape),
        (-1, *[1] * (len(x.shape) - 2)),
    )
    y = y if weight is None else y * ops.reshape(weight, shape)
    y = y if bias is None else y + ops.reshape(bias, shape)
    return ops.moveaxis(y, 1, axis)


def rms_norm(x, weight=None, *, axis=-1, eps=1e-6):
    """Division by the root mean square."""
    y = x / ops.sqrt(ops.mean(x * x, axis, keepdims=True) + eps)
    return y if weight is None else y * weight


def scaled_dot_product_attention(query, key, value, mask=None, *, is_causal=False, scale=None):
    """softmax(scale · Q Kᵀ + mask) V; zeros where the mask admits nothing."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query * scale @ ops.swapaxes(key, -1, -2)
    if is_causal:
        scores = ops.where(ops.tri(*scores.shape[-2:], dtype="bool"), scores, -math.inf)
    if mask is not None:
        is_bool = keras.backend.standardize_dtype(mask.dtype) == "bool"
        scores = ops.where(mask, scores, -math.inf) if is_bool else scores + mask
    admits = scores > -math.inf
    weights = ops.softmax(ops.where(admits, scores, -1e30))
    return ops.where(admits, weights, 0) @ value
