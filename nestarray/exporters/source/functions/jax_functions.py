"""JAX: layers that take several public functions."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax


def linear(x, weight, bias=None):
    """x Wᵀ + b."""
    y = x @ weight.T
    return y if bias is None else y + bias


def embedding(indices, weight, *, padding_idx):
    """The rows of a table; no gradient reaches the row `padding_idx`."""
    rows, is_padding = weight[indices], (indices == padding_idx)[..., None]
    return jnp.where(is_padding, lax.stop_gradient(rows), rows)


def conv(x, weight, bias=None, *, stride, padding, dilation=None, groups=1):
    """A convolution, channels first."""
    y = lax.conv_general_dilated(
        x, weight, stride, padding, rhs_dilation=dilation, feature_group_count=groups
    )
    return y if bias is None else y + bias.reshape(-1, *[1] * (x.ndim - 2))


def conv_transpose(x, weight, bias=None, *, stride, padding, dilation=None, groups=1):
    """A transposed convolution, channels first; `padding` is cut from the result."""
    channels, out, *kernel = weight.shape
    ends = [(k - 1) * d for k, d in zip(kernel, dilation or [1] * len(kernel))]
    around = [(end - low, end - high) for end, (low, high) in zip(ends, padding)]
    weight = jnp.flip(weight, range(2, x.ndim)).reshape(groups, channels // groups, out, *kernel)
    weight = weight.swapaxes(1, 2).reshape(groups * out, channels // groups, *kernel)
    if math.prod(x.shape[2:]) <= math.prod(kernel):  # XLA would swap them, and may abort
        x = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, s - 1) for s in (1, 1, *stride)])
        stride = (1,) * len(kernel)
    y = lax.conv_general_dilated(
        x, weight, [1] * len(kernel), around, lhs_dilation=stride, rhs_dilation=dilation,
        feature_group_count=groups,
    )  # fmt: skip
    return y if bias is None else y + bias.reshape(-1, *[1] * len(kernel))


def batch_norm(x, mean, variance, weight=None, bias=None, *, axis=1, eps=1e-5):
    """Batch normalization with a given mean and variance."""
    shape = [1] * x.ndim
    shape[axis] = -1
    y = (x - mean.reshape(shape)) / jnp.sqrt(variance.reshape(shape) + eps)
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
    axes = [i for i in range(x.ndim) if i != axis % x.ndim]
    moments = x.mean(axes), x.var(axes)
    y = batch_norm(x, *moments, weight, bias, axis=axis, eps=eps)
    count = x.size // x.shape[axis]
    own, varied = lax.stop_gradient(moments)
    varied = varied * count / (count - 1) if is_unbiased else varied
    return y, mean + momentum * (own - mean), variance + momentum * (varied - variance)


def dropout(x, key, train, *, rate, shared=()):
    """Dropout, with the next key; without a key, nothing is dropped."""
    if not train or key is None:
        return x, key
    key, own = jax.random.split(key)
    shape = [1 if i in shared else n for i, n in enumerate(x.shape)]
    return jnp.where(jax.random.bernoulli(own, 1 - rate, shape), x / (1 - rate), 0), key


def layer_norm(x, weight=None, bias=None, *, axis=-1, eps=1e-5):
    """Layer normalization."""
    mean, variance = x.mean(axis, keepdims=True), x.var(axis, keepdims=True)
    y = (x - mean) / jnp.sqrt(variance + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def group_norm(x, weight=None, bias=None, *, num_groups, axis=1, eps=1e-5):
    """Group normalization of the channels along an axis."""
    x = jnp.moveaxis(x, axis, 1)
    y = x.reshape(x.shape[0], num_groups, -1)
    y = (y - y.mean(-1, keepdims=True)) / jnp.sqrt(y.var(-1, keepdims=True) + eps)
    y, shape = y.reshape(x.shape), (-1, *[1] * (x.ndim - 2))
    y = y if weight is None else y * weight.reshape(shape)
    y = y if bias is None else y + bias.reshape(shape)
    return jnp.moveaxis(y, 1, axis)


def rms_norm(x, weight=None, *, axis=-1, eps=1e-6):
    """Division by the root mean square."""
    y = x / jnp.sqrt(jnp.mean(x**2, axis, keepdims=True) + eps)
    return y if weight is None else y * weight


def scaled_dot_product_attention(query, key, value, mask=None, *, is_causal=False, scale=None):
    """softmax(scale · Q Kᵀ + mask) V."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query * scale @ key.swapaxes(-1, -2)
    if is_causal:
        scores = jnp.where(jnp.tri(*scores.shape[-2:], dtype=bool), scores, -jnp.inf)
    if mask is not None:
        scores = jnp.where(mask, scores, -jnp.inf) if mask.dtype == bool else scores + mask
    return jax.nn.softmax(scores, axis=-1, where=scores > -jnp.inf) @ value


def max_pool(x, *, kernel_size, stride, padding):
    """Max pooling, channels first."""
    padding = (0, 0), (0, 0), *padding
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, *kernel_size), (1, 1, *stride), padding)


def avg_pool(x, *, kernel_size, stride, padding):
    """Average pooling, channels first; the mean includes the padding."""
    padding = (0, 0), (0, 0), *padding
    total = lax.reduce_window(x, 0.0, lax.add, (1, 1, *kernel_size), (1, 1, *stride), padding)
    return total / math.prod(kernel_size)


def while_loop(test, body, carry, *, max_steps):
    """Apply `body` as long as `test` holds, at most `max_steps` times; it has a derivative."""

    def step(carry, _):
        return lax.cond(test(carry), body, lambda carry: carry, carry), None

    return lax.scan(step, carry, length=max_steps)[0]


def custom_vjp(forward, backward, args):
    """The result of ``result, residuals = forward(args)``, with a pullback of its own."""
    function = jax.custom_vjp(lambda args: forward(args)[0])
    function.defvjp(forward, lambda residuals, gradients: (backward(residuals, gradients),))
    return function(args)


def custom_jvp(function, tangent, args):
    """``function(args)``, with a directional derivative of its own."""
    custom = jax.custom_jvp(function)
    custom.defjvp(lambda x, dx: (custom(*x), tangent(*x, *dx)))
    return custom(args)
