"""TensorFlow: layers that take several public functions.

On a CPU TensorFlow convolves and pools arrays with the channels last only.
"""

# pyright: reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import math

import tensorflow as tf


def channels_last(x):
    """(batch, channels, *spatial) → (batch, *spatial, channels)."""
    return tf.transpose(x, [0, *range(2, len(x.shape)), 1])


def channels_first(x):
    """(batch, *spatial, channels) → (batch, channels, *spatial)."""
    return tf.transpose(x, [0, len(x.shape) - 1, *range(1, len(x.shape) - 1)])


def sizes_of(x):
    """The sizes of an array; tensors of those that a `tf.function` does not know."""
    return [tf.shape(x)[i] if n is None else n for i, n in enumerate(x.shape)]


def per_channel(x, like, axis=1):
    """A number for each channel, to broadcast with an array that has the channels along an axis."""
    shape = [1] * len(like.shape)
    shape[axis] = -1
    return tf.reshape(x, shape)


def linear(x, weight, bias=None):
    """x Wᵀ + b."""
    y = tf.tensordot(x, weight, [[-1], [-1]])
    return y if bias is None else y + bias


def embedding(indices, weight, *, padding_idx):
    """The rows of a table; no gradient reaches the row `padding_idx`."""
    rows, is_padding = tf.gather(weight, indices), (indices == padding_idx)[..., None]
    return tf.where(is_padding, tf.stop_gradient(rows), rows)


def conv(x, weight, bias=None, *, stride, padding):
    """A convolution, channels first."""
    x = channels_last(tf.pad(x, [(0, 0), (0, 0), *padding]))
    kernel = tf.transpose(weight, [*range(2, len(x.shape)), 1, 0])
    y = channels_first(tf.nn.convolution(x, kernel, stride, "VALID"))
    return y if bias is None else y + per_channel(bias, y)


def conv_transpose(x, weight, bias=None, *, stride, padding):
    """A transposed convolution, channels first; `padding` is cut from the result."""
    kernel = tf.transpose(weight, [*range(2, len(x.shape)), 1, 0])
    more = [max(-high, 0) for _, high in padding]
    batch, _, *image = sizes_of(x)
    sizes = [(n - 1) * s + k + i for n, s, k, i in zip(image, stride, kernel.shape, more)]
    shape = [batch, *sizes, weight.shape[1]]
    y = channels_first(tf.nn.conv_transpose(channels_last(x), kernel, shape, stride, "VALID"))
    y = y[(..., *(slice(low, n - max(high, 0)) for n, (low, high) in zip(sizes, padding)))]
    return y if bias is None else y + per_channel(bias, y)


def batch_norm(x, mean, variance, weight=None, bias=None, *, axis=1, eps=1e-5):
    """Batch normalization with a given mean and variance."""
    mean, variance, bias, weight = [
        None if value is None else per_channel(value, x, axis)
        for value in (mean, variance, bias, weight)
    ]
    return tf.nn.batch_normalization(x, mean, variance, bias, weight, eps)


def running_batch_norm(
    x,
    mean,
    variance,
    training,
    weight=None,
    bias=None,
    *,
    momentum,
    axis=1,
    eps=1e-5,
    is_unbiased=True,
):
    """Batch normalization, with the new running mean and variance."""
    mean, variance = tf.convert_to_tensor(mean), tf.convert_to_tensor(variance)
    if not training:
        return batch_norm(x, mean, variance, weight, bias, axis=axis, eps=eps), mean, variance
    own, varied = tf.nn.moments(x, [i for i in range(len(x.shape)) if i != axis % len(x.shape)])
    y = batch_norm(x, own, varied, weight, bias, axis=axis, eps=eps)
    count = tf.cast(tf.size(x) // tf.shape(x)[axis], x.dtype)
    varied = varied * count / (count - 1) if is_unbiased else varied
    return y, mean + momentum * (own - mean), variance + momentum * (varied - variance)


def dropout(x, training, *, rate, shared=()):
    """Dropout, by the random numbers of TensorFlow."""
    if not training:
        return x
    sizes = tf.shape(x)
    shape = [1 if i in shared else sizes[i] for i in range(len(x.shape))]
    return tf.nn.dropout(x, rate, shape)


def layer_norm(x, weight=None, bias=None, *, axis=-1, eps=1e-5):
    """Layer normalization."""
    mean, variance = tf.nn.moments(x, axis, keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, bias, weight, eps)


def group_norm(x, weight=None, bias=None, *, num_groups, axis=1, eps=1e-5):
    """Group normalization of the channels along an axis."""
    order = [i for i in range(len(x.shape)) if i != axis % len(x.shape)]
    order.insert(1, axis % len(x.shape))
    first = tf.transpose(x, order)
    y = layer_norm(tf.reshape(first, [sizes_of(x)[0], num_groups, -1]), eps=eps)
    y = tf.transpose(tf.reshape(y, sizes_of(first)), [order.index(i) for i in range(len(order))])
    y = y if weight is None else y * per_channel(weight, y, axis)
    return y if bias is None else y + per_channel(bias, y, axis)


def rms_norm(x, weight=None, *, axis=-1, eps=1e-6):
    """Division by the root mean square."""
    y = x / tf.sqrt(tf.reduce_mean(x**2, axis, keepdims=True) + eps)
    return y if weight is None else y * weight


def scaled_dot_product_attention(query, key, value, mask=None, *, is_causal=False, scale=None):
    """softmax(scale · Q Kᵀ + mask) V."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = tf.matmul(query * scale, key, transpose_b=True)
    if is_causal:
        earlier = tf.linalg.band_part(tf.ones(sizes_of(scores)[-2:], tf.bool), -1, 0)
        scores = tf.where(earlier, scores, -math.inf)
    if mask is not None:
        scores = tf.where(mask, scores, -math.inf) if mask.dtype == tf.bool else scores + mask
    seen = scores > -math.inf
    weights = tf.nn.softmax(tf.where(seen, scores, scores.dtype.min))
    return tf.where(seen, weights, 0.0) @ value


def pad_same(x, *, window, stride, value=0.0):
    """Images with a border for ceil(size / stride) windows along each axis, channels last."""
    total = [tf.maximum(-n % s + k - s, 0) for n, k, s in zip(sizes_of(x)[1:-1], window, stride)]
    border = [(n // 2, n - n // 2) for n in total]
    return tf.pad(x, [(0, 0), *border, (0, 0)], constant_values=value)


def max_pool(x, *, kernel_size, stride, padding):
    """Max pooling, channels first."""
    x = tf.pad(x, [(0, 0), (0, 0), *padding], constant_values=x.dtype.min)
    return channels_first(tf.nn.max_pool(channels_last(x), kernel_size, stride, "VALID"))


def avg_pool(x, *, kernel_size, stride, padding):
    """Average pooling, channels first; the mean includes the padding."""
    x = tf.pad(x, [(0, 0), (0, 0), *padding])
    return channels_first(tf.nn.avg_pool(channels_last(x), kernel_size, stride, "VALID"))


def resize(x, *, size, method):
    """Images of another size, channels first; the axes of other arrays one by one."""
    method = "bilinear" if method == "linear" else method
    if len(size) == 2:
        return channels_first(tf.image.resize(channels_last(x), size, method))
    for axis, n in enumerate(size, 2):
        _, *sizes = sizes_of(x)
        before, (own, *after) = sizes[: axis - 1], sizes[axis - 1 :]
        width = math.prod(after)
        rows = tf.reshape(x, [-1, own, width, 1])
        x = tf.reshape(tf.image.resize(rows, (n, width), method), [-1, *before, n, *after])
    return x


def while_loop(test, body, carry, *, max_steps=None):
    """Apply `body` as long as `test` holds."""
    return tf.while_loop(
        test, lambda carry: (body(carry),), (carry,), maximum_iterations=max_steps
    )[0]


def fori_loop(lower, upper, body, carry):
    """Apply ``body(i, carry)`` for each integer in a range."""
    start = tf.constant(lower, tf.int64), carry
    return tf.while_loop(lambda i, _: i < upper, lambda i, carry: (i + 1, body(i, carry)), start)[1]


def scan(step, carry, xs=None, *, length=None, reverse=False):
    """Fold ``step(carry, x) -> (carry, y)`` over the first axis; the last carry, and the ys stacked."""
    xs = tf.range(length) if xs is None else xs
    y = step(carry, tf.nest.map_structure(lambda x: x[0], xs))[1]

    def zero_for_none(nest):
        return tf.nest.map_structure(lambda x: 0 if x is None else x, nest)

    def body(state, x):
        return zero_for_none(step(state[0], x))

    carries, ys = tf.scan(body, xs, zero_for_none((carry, y)), reverse=reverse)
    return tf.nest.map_structure(lambda x: x[0 if reverse else -1], carries), ys


def custom_vjp(forward, backward, args):
    """The result of ``result, residuals = forward(args)``, with a pullback of its own."""
    arrays = args if isinstance(args, tuple) else (args,)

    @tf.custom_gradient
    def function(*args):
        result, residuals = forward(one_or_all(args))
        return result, lambda *gradients: backward(residuals, one_or_all(gradients))

    return function(*map(tf.convert_to_tensor, arrays))


def one_or_all(items):
    """The item of a tuple of one, or the tuple."""
    return items[0] if len(items) == 1 else items
