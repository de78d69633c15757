"""TensorFlow: `nestarray.ops.pooling`.

On a CPU TensorFlow pools channels-last arrays only, so channels are moved to the end and back. The
default body computes dilated and adaptive pooling, and dtypes other than float32 over three axes.

https://www.tensorflow.org/api_docs/python/tf/nn/max_pool
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray.backends import portable
from nestarray.backends.base import supports
from nestarray.backends.tensorflow.manipulation import shape
from nestarray.backends.tensorflow.padding import padded
from nestarray.numerics import windows


def _native(name: str, count: int) -> Callable[..., Any]:
    """The pooling of `count` axes, (x, kernel, stride, padding)."""
    if count == 3 and portable.are_wanted():
        return _of_volumes(getattr(tf.nn, f"{name}_pool2d"))
    return getattr(tf.nn, f"{name}_pool{count}d")


def _of_volumes(native: Callable[..., Any]) -> Callable[..., Any]:
    """Pooling of three axes by pooling of two, which TFLite has: of images, then of depths."""

    def pool(x: Any, kernel: Any, stride: Any, padding: str) -> Any:
        batch, depth, *image, channels = shape(x)
        flat = tf.reshape(x, (batch * depth, *image, channels))
        flat = native(flat, kernel[1:], stride[1:], padding)
        _, height, width, _ = shape(flat)
        rows = tf.reshape(flat, (batch, depth, height * width, channels))
        found = native(rows, (kernel[0], 1), (stride[0], 1), padding)
        return tf.reshape(found, (batch, shape(found)[1], height, width, channels))

    return pool


def _max_pooled(x: Any, at: windows.Windows) -> Any:
    """The maxima of (batch, *spatial, channels); NaN is ignored."""
    native = _native("max", len(at.kernel))
    if windows.is_known(at.padding):
        maxima = _pool(native, x, at, -math.inf)
    else:
        maxima = native(x, at.kernel, at.stride, "SAME")
    # of −∞ alone, TensorFlow's kernel gives the least finite number
    return tf.where(tf.equal(maxima, x.dtype.min), x.dtype.as_numpy_dtype(-math.inf), maxima)


def _avg_pooled(
    x: Any, at: windows.Windows, *, count_include_pad: bool, divisor_override: int | None
) -> Any:
    """The means of (batch, *spatial, channels)."""
    size = math.prod(at.kernel)
    native, is_known = _native("avg", len(at.kernel)), windows.is_known(at.padding)
    if not is_known and not count_include_pad and divisor_override is None:
        return native(x, at.kernel, at.stride, "SAME")
    out = _pool(native, x, at, 0.0)
    if divisor_override is not None:
        return out * (size / divisor_override)
    numbers = windows.counts(at, x.shape[1:-1], count_include_pad=count_include_pad)
    if numbers is None:
        numbers = _open_counts(at, shape(x)[1:-1])
    elif all(set(along) == {k} for along, k in zip(numbers, at.kernel)):
        return out
    for axis, (along, k) in enumerate(zip(numbers, at.kernel)):
        factors = k / tf.cast(along, x.dtype)
        out = out * tf.reshape(factors, (-1,) + (1,) * (len(at.kernel) - axis))
    return out


def _open_counts(at: windows.Windows, sizes: tuple[Any, ...]) -> list[Any]:
    """`windows.counts` without the padding, of open sizes."""
    found = []
    for n, (low, _), k, s, count in zip(sizes, at.padding, at.kernel, at.stride, at.output(sizes)):
        starts = tf.range(count) * s
        own = tf.minimum(starts + k, low + n) - tf.maximum(starts, low)
        found.append(tf.maximum(own, 1))
    return found


def _pool(native: Callable[..., Any], x: Any, at: windows.Windows, fill: float) -> Any:
    if at.is_padded:
        x = padded(x, ((0, 0), *at.padding, (0, 0)), fill)
    return native(x, at.kernel, at.stride, "VALID")


def _channels_last(x: Any) -> Any:
    return tf.transpose(x, (0, *range(2, len(x.shape)), 1))


def _channels_first(x: Any) -> Any:
    return tf.transpose(x, (0, len(x.shape) - 1, *range(1, len(x.shape) - 1)))


def _has_kernel(x: Any, count: int) -> bool:
    # https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/kernels/pooling_ops_3d.cc
    return x.dtype == tf.float32 or (count < 3 and x.dtype.is_floating)


def _max_pool(count: int) -> Callable[..., Any]:
    def is_native(
        x: Any, /, *, kernel_size: Any, padding: Any = 0, dilation: Any = 1, **_: Any
    ) -> bool:
        # for windows of padding only TensorFlow returns the smallest number instead of -inf
        is_plain = windows.is_dense(dilation, count) and _has_kernel(x, count)
        return is_plain and windows.is_less_than_kernel(padding, kernel_size)

    @supports(is_native)
    def max_pool(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        """https://www.tensorflow.org/api_docs/python/tf/nn/max_pool2d"""
        at = windows.pooling(
            f"max_pool{count}d",
            count,
            shape(x),
            kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
        )
        return _channels_first(_max_pooled(_channels_last(x), at))

    return max_pool


max_pool1d = _max_pool(1)
max_pool2d = _max_pool(2)
max_pool3d = _max_pool(3)


def _avg_pool(count: int) -> Callable[..., Any]:
    @supports(lambda x, **_: _has_kernel(x, count))
    def avg_pool(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        """https://www.tensorflow.org/api_docs/python/tf/nn/avg_pool2d"""
        at = windows.pooling(
            f"avg_pool{count}d",
            count,
            shape(x),
            kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
            divisor=divisor_override,
        )
        wide = tf.float32 if x.dtype.size == 2 else x.dtype  # the kernel adds in its dtype
        out = _avg_pooled(
            _channels_last(tf.cast(x, wide)),
            at,
            count_include_pad=count_include_pad,
            divisor_override=divisor_override,
        )
        return tf.cast(_channels_first(out), x.dtype)

    return avg_pool


avg_pool1d = _avg_pool(1)
avg_pool2d = _avg_pool(2)
avg_pool3d = _avg_pool(3)
