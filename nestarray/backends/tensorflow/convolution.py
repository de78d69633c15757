"""TensorFlow: `nestarray.ops.convolution`.

On a CPU TensorFlow convolves channels-last arrays only, has no gradient for dilated kernels, and
no grouped convolution except depthwise. Hence channels are moved to the end and back, dilated
kernels are filled with zeros, groups are convolved one by one, and integers and complex numbers
use the default body.

https://www.tensorflow.org/api_docs/python/tf/nn/convolution
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from nestarray.backends.base import supports
from nestarray.backends.tensorflow.manipulation import shape
from nestarray.numerics import windows


def _channels_last(x: Any, count: int) -> Any:
    return tf.transpose(x, (0, *range(2, 2 + count), 1))


def _channels_first(x: Any, count: int) -> Any:
    return tf.transpose(x, (0, count + 1, *range(1, 1 + count)))


def _filter(weight: Any, dilation: tuple[int, ...]) -> Any:
    """(a, b, *kernel) → (*kernel, b, a), with the zeros of the dilation inserted."""
    count = len(dilation)
    return _spread(tf.transpose(weight, (*range(2, 2 + count), 1, 0)), dilation)


def _spread(weight: Any, dilation: tuple[int, ...]) -> Any:
    """(*kernel, a, b) with the zeros of the dilation inserted."""
    for axis, d in enumerate(dilation):
        if d > 1:
            shape = weight.shape.as_list()
            around = [(0, d - 1) if i == axis + 1 else (0, 0) for i in range(len(shape) + 1)]
            weight = tf.pad(tf.expand_dims(weight, axis + 1), around)
            weight = tf.reshape(weight, [*shape[:axis], shape[axis] * d, *shape[axis + 1 :]])
            weight = weight[(slice(None),) * axis + (slice(0, shape[axis] * d - d + 1),)]
    return weight


def _convolved(x: Any, kernel: Any, bias: Any, at: windows.Windows, groups: int) -> Any:
    """The convolution of (batch, *spatial, in) with (*kernel, in / groups, out).

    The kernel includes the zeros of the dilation.
    """
    if x.shape[0] == 0:  # TensorFlow rejects empty batches: take the shape of one image
        return _convolved(tf.zeros((1, *x.shape[1:]), x.dtype), kernel, bias, at, groups)[:0]
    if len(at.kernel) == 1:
        flat = windows.Windows((1, *at.kernel), at.stride * 2, ((0, 0), *at.padding), (1, 1))
        x, kernel = tf.expand_dims(x, 1), tf.expand_dims(kernel, 0)
        return tf.squeeze(_convolved(x, kernel, bias, flat, groups), 1)
    around = ((0, 0), *at.padding, (0, 0))
    has_steps = set(at.stride) != {1}
    if not windows.is_known(at.padding) or (
        not has_steps and at.padding == _same_padding(kernel.shape[: len(at.kernel)])
    ):
        mode = "SAME"
    elif groups == 1 and not has_steps and len(at.kernel) == 2 and tf.executing_eagerly():
        mode = around  # not in graphs: tf.vectorized_map loses it in the gradient of the kernel
    else:
        mode = "VALID"
        x = tf.pad(x, around) if at.is_padded else x
    x, stride = _without_strides_of_one_window(x, kernel, at.stride)
    strides = (1, *stride, 1)
    native = tf.nn.conv3d if len(at.kernel) == 3 else tf.nn.conv2d
    if groups == 1:
        out = native(x, kernel, strides, mode)
    elif groups == x.shape[-1] and len(at.kernel) == 2 and len(set(stride)) == 1:
        # (height, width, 1, out) → (height, width, in, out / in): the output channels
        # of one input channel are neighbours
        kernel = tf.reshape(kernel, (*kernel.shape[:2], groups, -1))
        out = tf.nn.depthwise_conv2d(x, kernel, strides, mode)
    else:
        parts = zip(tf.split(x, groups, -1), tf.split(kernel, groups, -1))
        out = tf.concat([native(part, each, strides, mode) for part, each in parts], -1)
    return out if bias is None else tf.nn.bias_add(out, bias)


def _same_padding(extents: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """TensorFlow's padding "SAME" of a stride of 1."""
    return tuple([((n - 1) // 2, n // 2) for n in extents])


def _without_strides_of_one_window(
    x: Any, kernel: Any, stride: Sequence[int]
) -> tuple[Any, tuple[int, ...]]:
    """Images and strides for the same result, with the stride 1 along axes with one window.

    TensorFlow's oneDNN kernels mix up images where the last axis has one window and a stride.
    """
    ends, found = list(x.shape[1:-1]), list(stride)
    for i, (size, window, step) in enumerate(zip(x.shape[1:-1], kernel.shape, stride)):
        if size is not None and step > 1 and window <= size < window + step:
            ends[i], found[i] = window, 1
    if found != list(stride):
        x = x[(slice(None), *map(slice, ends))]
    return x, tuple(found)


def _has_kernel(x: Any) -> bool:
    # not integers: some kernels support 32 bits only
    return x.dtype.is_floating


def _is_native(x: Any, weight: Any, bias: Any = None, **_: Any) -> bool:
    return _has_kernel(x)


def _convolution(count: int) -> Callable[..., Any]:
    @supports(_is_native)
    def convolution(
        x: Any,
        weight: Any,
        bias: Any = None,
        *,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        """https://www.tensorflow.org/api_docs/python/tf/nn/convolution"""
        at = windows.convolution(
            f"conv{count}d",
            count,
            shape(x),
            weight.shape,
            bias,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
        )
        if x.shape[1] == 0:  # no kernel
            x, weight = (tf.pad(a, [[0, 0], [0, 1], *[[0, 0]] * count]) for a in (x, weight))
        out = _convolved(_channels_last(x, count), _filter(weight, at.dilation), bias, at, groups)
        return _channels_first(out, count)

    return convolution


conv1d = _convolution(1)
conv2d = _convolution(2)
conv3d = _convolution(3)


def _one_group(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> bool:
    return groups == 1 and _has_kernel(x)


def _spread_out(x: Any, kernel: Any, bias: Any, at: windows.Transposed) -> Any:
    """The transposed convolution of (batch, *spatial, in) with (*kernel, out, in).

    The kernel includes the zeros of the dilation.
    """
    steps = at.windows.stride
    count = len(steps)
    native = tf.nn.conv3d_transpose if count == 3 else tf.nn.conv2d_transpose
    sizes = [(n - 1) * s + e for n, s, e in zip(shape(x)[1:-1], steps, at.windows.extent)]
    full = (tf.shape(x)[0], *sizes, kernel.shape[-2])
    strides = (1, *steps, 1)
    if count == 1:
        x, kernel = tf.expand_dims(x, 1), tf.expand_dims(kernel, 0)
        full, strides = (full[0], 1, *full[1:]), (1, *strides)
    out = native(x, kernel, full, strides, "VALID")
    if count == 1:
        out = tf.squeeze(out, 1)
    kept = (slice(low, n - max(high, 0)) for n, (low, high) in zip(sizes, at.crop))
    out = out[(slice(None), *kept)]
    if any(high < 0 for _, high in at.crop):
        out = tf.pad(out, ((0, 0), *((0, max(-high, 0)) for _, high in at.crop), (0, 0)))
    return out if bias is None else tf.nn.bias_add(out, bias)


def _transposed_convolution(count: int) -> Callable[..., Any]:
    @supports(_one_group)
    def transposed_convolution(
        x: Any,
        weight: Any,
        bias: Any = None,
        *,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        """https://www.tensorflow.org/api_docs/python/tf/nn/conv_transpose"""
        at = windows.transposed_convolution(
            f"conv_transpose{count}d",
            count,
            x.shape,
            weight.shape,
            bias,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            dilation=dilation,
            groups=groups,
        )
        kernel = _filter(weight, at.windows.dilation)
        return _channels_first(_spread_out(_channels_last(x, count), kernel, bias, at), count)

    return transposed_convolution


conv_transpose1d = _transposed_convolution(1)
conv_transpose2d = _transposed_convolution(2)
conv_transpose3d = _transposed_convolution(3)
