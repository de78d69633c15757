"""MLX: functions and layers that differ from its own."""

from __future__ import annotations

import math

import mlx.core as mx
import mlx.nn as nn


class BatchNorm(nn.BatchNorm):
    """Batch normalization of any number of axes, whose running variance is not the unbiased one."""

    def __call__(self, x):
        y = x.reshape(-1, x.shape[-1])
        variance, count = self.running_var, y.shape[0]
        y = super().__call__(y).reshape(x.shape)
        if self.training:
            kept = (1 - self.momentum) * variance
            self.running_var = kept + (self.running_var - kept) * ((count - 1) / count)
        return y


class BatchNormOfAnyRank(nn.BatchNorm):
    """Batch normalization of any number of axes."""

    def __call__(self, x):
        return super().__call__(x.reshape(-1, x.shape[-1])).reshape(x.shape)


class SharedDropout(nn.Module):
    """Dropout that drops the elements along some axes together."""

    def __init__(self, p, axes):
        super().__init__()
        self.p, self.axes = p, axes

    def __call__(self, x):
        if not self.training:
            return x
        shape = [1 if i in self.axes else n for i, n in enumerate(x.shape)]
        return x * mx.random.bernoulli(1 - self.p, shape) / (1 - self.p)


def linear(x, weight, bias=None):
    """x Wᵀ + b."""
    y = x @ weight.T
    return y if bias is None else y + bias


def embedding(indices, weight, *, padding_idx):
    """The rows of a table; no gradient reaches the row `padding_idx`."""
    rows, is_padding = weight[indices], (indices == padding_idx)[..., None]
    return mx.where(is_padding, mx.stop_gradient(rows), rows)


def conv(x, kernel, *, stride, padding, dilation=1, groups=1):
    """A convolution with a kernel (*window, in, out); each end has another padding."""
    low, high = zip(*padding)
    return mx.conv_general(
        x, mx.moveaxis(kernel, -1, 0), stride, (low, high), dilation, groups=groups
    )


def conv_transpose(x, kernel, *, stride, padding, dilation=1):
    """A transposed convolution with a kernel (*window, out, in); `padding` is of the dilated input."""
    low, high = zip(*padding)
    return mx.conv_general(
        x, mx.moveaxis(kernel, -2, 0), 1, (low, high), dilation, stride, flip=True
    )


def max_pool(x, *, kernel_size, stride, padding):
    """Max pooling, channels last."""
    x = mx.pad(x, [(0, 0), *padding, (0, 0)], constant_values=-mx.inf)
    axes = range(1, 1 + len(kernel_size))
    return mx.max(windows(x, kernel_size, stride), axis=[axis + len(kernel_size) for axis in axes])


def avg_pool(x, *, kernel_size, stride, padding):
    """Average pooling, channels last; the mean includes the padding."""
    x = mx.pad(x, [(0, 0), *padding, (0, 0)])
    axes = range(1, 1 + len(kernel_size))
    return mx.mean(windows(x, kernel_size, stride), axis=[axis + len(kernel_size) for axis in axes])


def windows(x, kernel_size, stride):
    """The windows of an image with the channels last: (n, *sizes, *kernel_size, channels)."""
    for i, (k, s) in enumerate(zip(kernel_size, stride)):
        starts = mx.arange(0, x.shape[1 + i] - k + 1, s)
        x = mx.take(x, starts[:, None] + mx.arange(k), axis=1 + i)
        x = mx.moveaxis(x, 2 + i, -2)
    return x


def batch_norm(x, mean, variance, weight=None, bias=None, *, axis=1, eps=1e-5):
    """Batch normalization with a given mean and variance."""
    shape = [1] * x.ndim
    shape[axis] = -1
    y = (x - mean.reshape(shape)) / mx.sqrt(variance.reshape(shape) + eps)
    y = y if weight is None else y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def layer_norm(x, weight=None, bias=None, *, axis=-1, eps=1e-5):
    """Layer normalization of several axes."""
    mean, variance = x.mean(axis, keepdims=True), x.var(axis, keepdims=True)
    y = (x - mean) / mx.sqrt(variance + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def group_norm(x, weight=None, bias=None, *, num_groups, axis=1, eps=1e-5):
    """Group normalization of the channels along an axis."""
    x = mx.moveaxis(x, axis, 1)
    y = x.reshape(x.shape[0], num_groups, -1)
    y = mx.fast.layer_norm(y, None, None, eps)
    y, shape = y.reshape(x.shape), (-1, *[1] * (x.ndim - 2))
    y = y if weight is None else y * weight.reshape(shape)
    y = y if bias is None else y + bias.reshape(shape)
    return mx.moveaxis(y, 1, axis)


def rms_norm(x, weight=None, *, axis=-1, eps=1e-6):
    """Division by the root mean square of several axes."""
    y = x / mx.sqrt(mx.mean(x**2, axis, keepdims=True) + eps)
    return y if weight is None else y * weight


def scaled_dot_product_attention(query, key, value, mask=None, *, is_causal=False, scale=None):
    """softmax(scale · Q Kᵀ + mask) V."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query * scale @ key.swapaxes(-1, -2)
    if is_causal:
        scores = mx.where(mx.tri(*scores.shape[-2:], dtype=mx.bool_), scores, -mx.inf)
    if mask is not None:
        scores = mx.where(mask, scores, -mx.inf) if mask.dtype == mx.bool_ else scores + mask
    return mx.softmax(scores, axis=-1) @ value


def resize(x, shape, method):
    """An interpolation by half pixels, "nearest" or "linear"."""
    for axis, (old, new) in enumerate(zip(x.shape, shape)):
        if old == new:
            continue
        position = mx.clip((mx.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)
        if method == "nearest":
            x = mx.take(x, mx.floor(position + 0.5).astype(mx.int32), axis)
            continue
        low = mx.floor(position).astype(mx.int32)
        share = (position - low).reshape(-1, *[1] * (x.ndim - 1 - axis))
        high = mx.minimum(low + 1, old - 1)
        x = mx.take(x, low, axis) * (1 - share) + mx.take(x, high, axis) * share
    return x


def hard_sigmoid(x):
    """x / 6 + 1/2, between 0 and 1."""
    return mx.clip(x / 6 + 0.5, 0, 1)


def one_hot(x, num_classes):
    """1 at each index, and 0 elsewhere."""
    return (x[..., None] == mx.arange(num_classes)).astype(mx.float32)


def top_k(x, k):
    """The largest elements of the last axis in order, and their indices."""
    indices = mx.stop_gradient(mx.argsort(-x, axis=-1)[..., :k]).astype(mx.int32)
    return mx.take_along_axis(x, indices, axis=-1), indices


def custom_vjp(forward, backward, args):
    """The result of ``result, residuals = forward(args)``, with a custom pullback."""
    is_tuple = isinstance(args, tuple)

    @mx.custom_function
    def function(*items):
        return forward(items if is_tuple else items[0])[0]

    @function.vjp
    def function_vjp(primals, cotangents, outputs):
        primals = primals if is_tuple or not isinstance(primals, (tuple, list)) else primals[0]
        gradients = backward(forward(primals)[1], cotangents)
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        items = primals if is_tuple else (primals,)
        return tuple(mx.zeros_like(x) if g is None else g for x, g in zip(items, gradients))

    return function(*args) if is_tuple else function(args)
