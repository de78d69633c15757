"""TensorFlow: `nestarray.exporters.source.recording.forms`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from nestarray.backends.base import supports
from nestarray.backends.tensorflow.core import native_dtype
from nestarray.dtypes import as_dtype, dtype_of
from nestarray.exporters.source.recording.forms import layers
from nestarray.exporters.source.recording.observation import Observed, current, natives

abs = tf.abs
square = tf.square


def asarray(obj: Any, *, dtype: Any = None, **_: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor"""
    dtype = native_dtype(dtype_of(obj) if dtype is None else dtype)
    if isinstance(obj, np.ndarray):  # a variable of the source, which only a cast converts
        obj = obj.astype(dtype.as_numpy_dtype)
    return tf.convert_to_tensor(obj, dtype)


def _is_full(item: Any) -> bool:
    return isinstance(item, slice) and item == slice(None)


def _axis_of_array(index: Any) -> int | None:
    """The axis of the one array among full slices; None for other indices."""
    items = index if isinstance(index, tuple) else (index,)
    places = [i for i, item in enumerate(items) if not _is_full(item)]
    is_one = len(places) == 1 and hasattr(items[places[0]], "dtype")
    return places[0] if is_one and dtype_of(items[places[0]]).kind in ("int", "uint") else None


@supports(lambda x, index: _axis_of_array(index) is not None)
def getitem(x: Any, index: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/gather"""
    axis = _axis_of_array(index)
    assert axis is not None
    places = index[axis] if isinstance(index, tuple) else index
    is_fixed = isinstance(places, Observed) and current().noted(places).source == "constants"
    if is_fixed and natives(places).numpy().min(initial=0) < 0:
        places = places % x.shape[axis]
    return tf.gather(x, places, axis=axis)


@supports(layers.has_indices)
def embedding(indices: Any, weight: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/gather"""
    return tf.gather(weight, indices)


selu = supports(layers.is_single)(lambda x: tf.nn.selu(x))


def _is_plain_softplus(x: Any, *, beta: float = 1.0, threshold: float | None = None) -> bool:
    return beta == 1 and (threshold is None or threshold >= 20) and layers.is_single(x)


@supports(_is_plain_softplus)
def softplus(x: Any, **_: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/softplus"""
    return tf.math.softplus(x)


def _is_between_numbers(x: Any, min: Any = None, max: Any = None) -> bool:
    return layers.is_single(x) and all(isinstance(end, (int, float)) for end in (min, max))


@supports(_is_between_numbers)
def clip(x: Any, min: float, max: float) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/clip_by_value"""
    return tf.clip_by_value(x, min, max)


@supports(lambda x, *, correction=0.0, **_: correction == 0 and layers.is_single(x))
def var(x: Any, *, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/reduce_variance"""
    return tf.math.reduce_variance(x, axis, keepdims)


@supports(layers.has_indices)
def one_hot(indices: Any, num_classes: int, *, axis: int = -1, dtype: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/one_hot"""
    kind = native_dtype(as_dtype("float32" if dtype is None else dtype))
    if kind == tf.bool:  # the default values are numbers
        return tf.one_hot(indices, num_classes, on_value=True, off_value=False, axis=axis)
    return tf.one_hot(indices, num_classes, axis=axis, dtype=kind)


def _is_over_one_axis(x: Any, *, axis: int | tuple[int, ...] | None = -1) -> bool:
    is_one = isinstance(axis, int) or (axis is not None and len(axis) == 1)
    return is_one and layers.is_single(x)


@supports(_is_over_one_axis)
def softmax(x: Any, *, axis: int | tuple[int, ...] = -1) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/softmax"""
    return tf.nn.softmax(x, axis=axis if isinstance(axis, int) else axis[0])


@supports(_is_over_one_axis)
def log_softmax(x: Any, *, axis: int | tuple[int, ...] = -1) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/log_softmax"""
    return tf.nn.log_softmax(x, axis=axis if isinstance(axis, int) else axis[0])


def _is_over_last_axis(x: Any, *arrays: Any, axis: int = 1, **_: Any) -> bool:
    is_one = all(array is None or dtype_of(array) == dtype_of(x) for array in arrays)
    return axis in (-1, len(x.shape) - 1) and is_one and layers.is_single(x)


@supports(_is_over_last_axis)
def batch_norm(
    x: Any, mean: Any, variance: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5,
    **_: Any,
) -> Any:  # fmt: skip
    """https://www.tensorflow.org/api_docs/python/tf/nn/batch_normalization"""
    return tf.nn.batch_normalization(x, mean, variance, bias, weight, eps)


def _is_convolution(
    x: Any, weight: Any, *arrays: Any, stride: Any = 1, dilation: Any = 1, **settings: Any
) -> bool:
    """Whether a function has both the stride and the dilation."""
    has_both = np.max(stride) > 1 and np.max(dilation) > 1
    is_known = not has_both or len(x.shape) == 4
    return is_known and layers.is_last(x, weight, *arrays, dilation=dilation, **settings)


@supports(_is_convolution)
def conv(x: Any, weight: Any, bias: Any = None, *, groups: int = 1, **settings: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/conv2d"""
    at, border = layers.windows_last(x, weight.shape[:-2], **{"stride": 1, **settings})
    gaps = None if set(at.dilation) == {1} else at.dilation
    if not isinstance(border, str):
        border = ((0, 0), *border, (0, 0))
        if len(at.kernel) != 2 or gaps is not None or groups > 1:  # which have no gradient then
            x, border = tf.pad(x, border), "VALID"
    function: Any = tf.nn.conv2d if len(at.kernel) == 2 else tf.nn.convolution
    y = function(x, weight, strides=at.stride, padding=border, dilations=gaps)
    return y if bias is None else y + bias


@supports(layers.is_last)
def max_pool(x: Any, *, kernel_size: Any, **settings: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/max_pool"""
    at, border = layers.windows_last(x, kernel_size, **settings)
    if not isinstance(border, str):
        x, border = tf.pad(x, ((0, 0), *border, (0, 0)), constant_values=-math.inf), "VALID"
    return tf.nn.max_pool(x, at.kernel, at.stride, border)


@supports(
    lambda x, *, padding=0, **settings: (
        padding in (0, "valid", "same") and layers.is_mean_last(x, **settings)
    )
)
def avg_pool(
    x: Any, *, kernel_size: Any, stride: Any = None, padding: Any = 0, count_include_pad: bool = True,
    **_: Any,
) -> Any:  # fmt: skip
    """https://www.tensorflow.org/api_docs/python/tf/nn/avg_pool"""
    at, border = layers.windows_last(x, kernel_size, stride=stride, padding=padding)
    if count_include_pad and border != "VALID":
        x, border = layers.padded_as_same(x, window=at.kernel, stride=at.stride), "VALID"
    return tf.nn.avg_pool(x, at.kernel, at.stride, border)


def _is_resized_image(x: Any, *, data_format: str = "channels_first", **settings: Any) -> bool:
    is_image = data_format == "channels_last" and len(x.shape) == 4
    return is_image and layers.resized(x, data_format=data_format, **settings) is not None


@supports(_is_resized_image)
def interpolate(x: Any, **settings: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/image/resize"""
    options = layers.resized(x, **settings)
    assert options is not None
    method = {"linear": "bilinear"}.get(options["method"], options["method"])
    return tf.image.resize(x, options["size"], method)


@supports(
    lambda x, indices, *, axis: (
        axis in (-1, len(x.shape) - 1) and x.shape[:-1] == indices.shape[:-1]
    )
)
def gather(x: Any, indices: Any, *, axis: int) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/gather"""
    return tf.gather(x, indices, batch_dims=len(x.shape) - 1)
