"""TensorFlow: `nestarray.ops.creation`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.backends.base import lengths, supports, whole_range
from nestarray.backends.tensorflow.core import native_dtype, on_device
from nestarray.numerics.fills import check_fill


def _dtype(dtype: Any, default: Any = dtypes.float32) -> Any:
    return native_dtype(default if dtype is None else dtype)


def _place(device: Any, like: Any) -> Any:
    """A context on `device`, or on the device of `like`."""
    if device is None and like is not None:
        return tf.device(like.device or None)
    return on_device(device)


def _size(shape: Any) -> Any:
    return (shape,) if isinstance(lengths(shape), int) else shape


def _value(name: str, fill_value: Any, dtype: Any) -> Any:
    if tf.is_tensor(fill_value):
        return tf.cast(fill_value, dtype)
    check_fill(name, "fill_value", fill_value, dtype)
    # By default TensorFlow converts a Python number to float32 first, and loses half of its
    # digits.
    wide = {float: tf.float64, int: tf.int64, complex: tf.complex128}.get(type(fill_value))
    if wide is tf.int64 and fill_value >= 2**63:
        wide = tf.uint64
    return tf.cast(tf.constant(fill_value, wide), dtype)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/zeros"""
    with _place(device, like):
        return tf.zeros(_size(shape), _dtype(dtype))


def ones(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/ones"""
    with _place(device, like):
        return tf.ones(_size(shape), _dtype(dtype))


def empty(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/zeros"""
    return zeros(shape, dtype=dtype, device=device, like=like)


def full(
    shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, like: Any = None
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/fill"""
    found = _dtype(dtype, None if dtype is not None else dtypes.dtype_of(fill_value))
    with _place(device, like):
        return tf.fill(_size(shape), _value("full", fill_value, found))


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/zeros_like"""
    with _place(device, x):
        return tf.zeros_like(x, _dtype(dtype, x.dtype))


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/ones_like"""
    with _place(device, x):
        return tf.ones_like(x, _dtype(dtype, x.dtype))


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/zeros_like"""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/fill"""
    with _place(device, x):
        return tf.fill(tf.shape(x), _value("full_like", fill_value, _dtype(dtype, x.dtype)))


def _end(first: Any, end: Any, step: int) -> Any:
    """The end of a range; its start if the range is empty, which TensorFlow rejects."""
    if isinstance(first, int) and isinstance(end, int):
        return end if (end - first) * step > 0 else first
    first, end = tf.cast(first, tf.int64), tf.cast(end, tf.int64)  # unknown sizes
    return tf.maximum(first, end) if step > 0 else tf.minimum(first, end)


@supports(whole_range)
def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    like: Any = None,
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/range"""
    first, end = (0, start) if stop is None else (start, stop)
    end = _end(first, end, step)
    with _place(device, like):
        return tf.cast(tf.range(first, end, step, tf.int64), _dtype(dtype, dtypes.int64))


@supports(lambda *sizes, k=0, **settings: k == 0)
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Any = None,
    batch_shape: Any = (),
    like: Any = None,
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/eye"""
    with _place(device, like):
        return tf.eye(n_rows, n_cols, list(lengths(batch_shape)) or None, _dtype(dtype))


def _reach(k: int, size: int | None) -> int:
    """`k`, at most the length of the axis if known."""
    return k if size is None else min(k, size)


@supports(lambda x, k=0: isinstance(k, int) and k >= 0)
def tril(x: Any, /, *, k: int = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/band_part"""
    return tf.linalg.band_part(x, -1, _reach(k, x.shape[-1]))


@supports(lambda x, k=0: isinstance(k, int) and k <= 0)
def triu(x: Any, /, *, k: int = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/band_part"""
    return tf.linalg.band_part(x, _reach(-k, x.shape[-2]), -1)
