"""NumPy: functions of neural networks, which NumPy lacks."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def sigmoid(x):
    """1 / (1 + exp(−x))."""
    return 0.5 * (1 + np.tanh(0.5 * x))


def silu(x):
    """x · sigmoid(x)."""
    return x * sigmoid(x)


def gelu(x, *, approximate=False):
    """x · Φ(x), with Φ the distribution function of the normal distribution."""
    if approximate:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    erf = np.vectorize(math.erf, otypes=[x.dtype])
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def softmax(x, *, axis=-1):
    """exp(x) / Σ exp(x)."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def log_softmax(x, *, axis=-1):
    """The logarithm of softmax."""
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def linear(x, weight, bias=None):
    """x Wᵀ + b."""
    y = x @ weight.T
    return y if bias is None else y + bias


def per_channel(x, like):
    """A number for each channel, to broadcast with (batch, channels, *spatial)."""
    return x.reshape(-1, *[1] * (like.ndim - 2))


def conv(x, weight, bias=None, *, stride, padding, dilation=None, groups=1):
    """A convolution, channels first."""
    out, channels, *kernel = weight.shape
    dilation = dilation or (1,) * len(kernel)
    x = np.pad(x, [(0, 0), (0, 0), *padding])
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    patches = sliding_window_view(x, extent, tuple(range(2, x.ndim)))
    patches = patches[(..., *(slice(None, None, d) for d in dilation))]
    patches = patches[(slice(None), slice(None), *(slice(None, None, s) for s in stride))]
    sizes = patches.shape[2 : x.ndim]
    # (batch, channels, *sizes, *kernel) → (batch, group, positions, elements of a window)
    patches = patches.reshape(len(x), groups, channels, math.prod(sizes), -1).swapaxes(2, 3)
    patches = patches.reshape(*patches.shape[:3], -1)
    y = patches @ weight.reshape(groups, out // groups, -1).swapaxes(1, 2)
    y = y.swapaxes(2, 3).reshape(len(x), out, *sizes)
    return y if bias is None else y + per_channel(bias, y)


def conv_transpose(x, weight, bias=None, *, stride, padding):
    """A transposed convolution, channels first; `padding` is cut from the result."""
    _, out, *kernel = weight.shape
    more = [max(-high, 0) for _, high in padding]
    sizes = [(n - 1) * s + k + i for n, s, k, i in zip(x.shape[2:], stride, kernel, more)]
    y = np.zeros((len(x), out, *sizes), x.dtype)
    for at in product(*map(range, kernel)):
        place = [slice(i, i + (n - 1) * s + 1, s) for i, n, s in zip(at, x.shape[2:], stride)]
        y[(..., *place)] += np.moveaxis(np.tensordot(x, weight[(..., *at)], (1, 0)), -1, 1)
    y = y[(..., *(slice(low, n - max(high, 0)) for n, (low, high) in zip(sizes, padding)))]
    return y if bias is None else y + per_channel(bias, y)


def batch_norm(x, mean, variance, weight=None, bias=None, *, axis=1, eps=1e-5):
    """Batch normalization with a given mean and variance."""
    shape = [1] * x.ndim
    shape[axis] = -1
    y = (x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + eps)
    y = y if weight is None else y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def running_batch_norm(
    x,
    mean,
    variance,
    train,
    weight=None,
    bias=None,
    *,
    momentum,
    axis=1,
    eps=1e-5,
    is_unbiased=True,
):
    """Batch normalization, with the new running mean and variance."""
    if not train:
        return batch_norm(x, mean, variance, weight, bias, axis=axis, eps=eps), mean, variance
    axes = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    own, varied = x.mean(axes), x.var(axes)
    y = batch_norm(x, own, varied, weight, bias, axis=axis, eps=eps)
    count = x.size // x.shape[axis]
    varied = varied * count / (count - 1) if is_unbiased else varied
    return y, mean + momentum * (own - mean), variance + momentum * (varied - variance)


def dropout(x, rng, train, *, rate, shared=()):
    """Dropout; without a generator, nothing is dropped."""
    if not train or rng is None:
        return x
    shape = [1 if i in shared else n for i, n in enumerate(x.shape)]
    return np.where(rng.random(shape) < 1 - rate, x / x.dtype.type(1 - rate), 0)


def layer_norm(x, weight=None, bias=None, *, axis=-1, eps=1e-5):
    """Layer normalization."""
    y = (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def group_norm(x, weight=None, bias=None, *, num_groups, eps=1e-5):
    """Group normalization, channels first."""
    y = layer_norm(x.reshape(len(x), num_groups, -1), eps=eps).reshape(x.shape)
    y = y if weight is None else y * per_channel(weight, x)
    return y if bias is None else y + per_channel(bias, x)


def scaled_dot_product_attention(query, key, value, mask=None, *, is_causal=False, scale=None):
    """softmax(scale · Q Kᵀ + mask) V."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query * scale @ key.swapaxes(-1, -2)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    seen = scores > -np.inf
    weights = softmax(np.where(seen, scores, np.finfo(scores.dtype).min))
    return np.where(seen, weights, 0) @ value


def pad_same(x, *, window, stride, value=0.0):
    """Images with a border for ceil(size / stride) windows along each axis, channels first."""
    total = [max(-n % s + k - s, 0) for n, k, s in zip(x.shape[2:], window, stride)]
    border = [(n // 2, n - n // 2) for n in total]
    return np.pad(x, [(0, 0), (0, 0), *border], constant_values=value)


def pool_windows(x, kernel_size, stride, padding, fill):
    """(batch, channels, *sizes, elements of a window)."""
    x = np.pad(x, [(0, 0), (0, 0), *padding], constant_values=fill)
    windows = sliding_window_view(x, kernel_size, tuple(range(2, x.ndim)))
    windows = windows[(slice(None), slice(None), *(slice(None, None, s) for s in stride))]
    return windows.reshape(*windows.shape[: x.ndim], -1)


def max_pool(x, *, kernel_size, stride, padding):
    """Max pooling, channels first."""
    return pool_windows(x, kernel_size, stride, padding, -np.inf).max(-1)


def avg_pool(x, *, kernel_size, stride, padding):
    """Average pooling, channels first; the mean includes the padding."""
    return pool_windows(x, kernel_size, stride, padding, 0.0).mean(-1)


def resize(x, *, size, method):
    """Resample the spatial axes, by the nearest element or linearly; channels first."""
    for axis, n in enumerate(size, start=2):
        old = x.shape[axis]
        position = np.clip((np.arange(n) + 0.5) * old / n - 0.5, 0, old - 1)
        if method == "nearest":
            x = np.take(x, np.floor(position + 0.5).astype(int), axis)
            continue
        low = np.floor(position).astype(int)
        part = (position - low).astype(x.dtype).reshape(-1, *[1] * (x.ndim - 1 - axis))
        high = np.minimum(low + 1, old - 1)
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x
