"""TensorFlow: `nestarray.ops.indexing`."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.backends import portable
from nestarray.backends.checks.positions import check_along, check_masks
from nestarray.backends.precision import is_half
from nestarray.backends.tensorflow import lite, products
from nestarray.backends.tensorflow.manipulation import shape
from nestarray.backends.tensorflow.promotion import cast
from nestarray.numerics.axes import one_axis
from nestarray.numerics.fills import check_fill
from nestarray.numerics.index import (
    check_mode,
    check_rows,
    expanded,
    is_array,
    is_mask,
    is_plain,
    without_ones,
)

_SCATTER = {
    "replace": tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "min": tf.tensor_scatter_nd_min,
    "max": tf.tensor_scatter_nd_max,
}


def getitem(x: Any, index: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/gather_nd"""
    if is_plain(index) and len(x.shape) <= _MOST_SLICED:
        return x[index]
    items = expanded(index, len(x.shape))
    if not any(is_array(item) for item in items):
        return _basic(x, [_as_basic(item) for item in items])
    check_masks("getitem", {"x": x, "index": index})
    basic: list[Any] = []
    arrays: dict[int, Any] = {}  # axis of x[basic] → index
    for item in items:
        if item is None or isinstance(item, slice):
            basic.append(item)
        elif not is_mask(item):
            arrays[len(basic)] = _integers(item)
            basic.append(slice(None))
        else:
            mask = tf.convert_to_tensor(item)
            if not len(mask.shape):  # a bool adds an axis
                mask = tf.reshape(mask, (1,))
                places, new = [tf.where(mask)[:, 0]], [None]
            else:
                places = tf.unstack(tf.where(mask), axis=-1)
                new = [slice(None)] * len(places)
            arrays |= {len(basic) + i: place for i, place in enumerate(places)}
            basic += new
    return _gathered(_basic(x, basic), arrays)


#: https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/kernels/strided_slice_op.cc
_MOST_SLICED = 8


def _basic(x: Any, items: list[Any]) -> Any:
    """``x[items]`` for integers, slices and None, one for each axis."""
    if max(len(x.shape), len(items)) <= _MOST_SLICED:
        return x[tuple(items)]
    axis = 0
    for item in items:
        if item is None:
            x = tf.expand_dims(x, axis)
        elif isinstance(item, slice):
            if item != slice(None):
                x = tf.gather(x, range(*item.indices(x.shape[axis])), axis=axis)
        else:
            x = tf.gather(x, _wrapped(tf.convert_to_tensor(item), x.shape[axis]), axis=axis)
            continue
        axis += 1
    return x


def _as_basic(item: Any) -> Any:
    """Cast an integer tensor of shape () to int32, like Python numbers in the same index."""
    return tf.cast(item, tf.int32) if hasattr(item, "dtype") else item


def _integers(item: Any) -> Any:
    item = tf.convert_to_tensor(item)
    if item.dtype in (tf.int32, tf.int64):
        return item
    if not item.dtype.is_integer:
        raise TypeError("indices are integers")
    return tf.cast(item, tf.int64)


def _wrapped(indices: Any, length: Any) -> Any:
    """`indices` as nonnegative numbers; TensorFlow supports no negative ones."""
    return tf.where(indices < 0, indices + tf.cast(length, indices.dtype), indices)


def _gathered(x: Any, arrays: dict[int, Any]) -> Any:
    """`x` at the broadcast positions `arrays`, with NumPy's order of axes."""
    lengths, axes = shape(x), list(arrays)
    wrapped = {axis: _wrapped(places, lengths[axis]) for axis, places in arrays.items()}
    if len(axes) == 1:
        return tf.gather(x, wrapped[axes[0]], axis=axes[0])
    positions = [tf.cast(places, tf.int64) for places in wrapped.values()]
    nothing = reduce(tf.add, [tf.zeros_like(p) for p in positions])  # zeros of the broadcast shape
    rest = [axis for axis in range(len(lengths)) if axis not in arrays]
    places = tf.stack([p + nothing for p in positions], axis=-1)
    if 0 in [x.shape[axis] for axis in rest]:  # TensorFlow cannot gather from empty axes
        sizes = tf.stack([lengths[axis] for axis in rest])
        gathered = tf.zeros(tf.concat([tf.shape(nothing), sizes], 0), x.dtype)
    else:
        gathered = tf.gather_nd(tf.transpose(x, axes + rest), places)
    first, new = axes[0], len(nothing.shape)
    if axes != list(range(first, first + len(axes))) or first == 0:
        return gathered
    order = list(range(new, new + first)) + list(range(new))
    return tf.transpose(gathered, order + list(range(new + first, len(gathered.shape))))


def setitem(x: Any, index: Any, value: Any, /, *, mode: str = "replace") -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update"""
    check_mode(mode, "setitem")
    lengths = shape(x)
    flat = tf.reshape(x, (-1,))
    places = getitem(tf.reshape(tf.range(tf.size(flat)), tf.shape(x)), index)
    check_fill("setitem", "value", value, x.dtype)
    value = cast(value, x.dtype)  # directly to the dtype, not by float32
    if value.shape[:1] == (1,):
        value = tf.reshape(value, without_ones(shape(value), len(places.shape)))
    updates = tf.reshape(tf.broadcast_to(value, tf.shape(places)), (-1,))
    places = tf.reshape(places, (-1,))
    if mode == "add" and is_half(dtypes.as_dtype(x.dtype)):  # sums are rounded once
        wide = [tf.cast(a, tf.float32) for a in (flat, updates)]
        flat = tf.cast(_SCATTER[mode](wide[0], places[:, None], wide[1]), x.dtype)
    elif mode == "mul":
        flat = products.at(flat, places, updates)
    else:
        if portable.are_wanted() and mode in ("min", "max"):
            combined = lite.scatter_extreme(mode, flat, places, updates)
        else:
            combined = _SCATTER[mode](flat, places[:, None], updates)
        if mode in ("min", "max") and flat.dtype.is_floating:
            combined = tf.where(
                _meets_nan(flat, places, updates), cast(math.nan, flat.dtype), combined
            )
        flat = combined
    return tf.reshape(flat, lengths) if lengths else tf.reshape(flat, tf.shape(x))


def _meets_nan(flat: Any, places: Any, updates: Any) -> Any:
    """Positions with a NaN element or update, which TensorFlow's maximum ignores."""
    is_nan, others = (tf.cast(tf.math.is_nan(x), tf.int32) for x in (flat, updates))
    return tf.maximum(is_nan, tf.math.unsorted_segment_max(others, places, tf.size(flat))) > 0


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/gather"""
    if axis is None:
        x, axis = tf.reshape(x, (-1,)), 0
    axis = one_axis(axis, len(x.shape), "take")
    return tf.gather(x, _wrapped(_integers(indices), shape(x)[axis]), axis=axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/experimental/numpy/take_along_axis"""
    axis = one_axis(axis, len(x.shape), "take_along_axis")
    indices = _integers(indices)
    if len(x.shape) != len(indices.shape):
        check_along("take_along_axis", {"x": x, "indices": indices, "axis": axis})
    indices = _wrapped(indices, shape(x)[axis])
    last = len(x.shape) - 1
    order = [*range(axis), last, *range(axis + 1, last), axis] if axis != last else None
    if order:
        x, indices = tf.transpose(x, order), tf.transpose(indices, order)
    if x.shape[:-1].as_list() != indices.shape[:-1].as_list():
        common = tf.broadcast_dynamic_shape(tf.shape(x)[:-1], tf.shape(indices)[:-1])
        x = tf.broadcast_to(x, tf.concat([common, tf.shape(x)[-1:]], 0))
        indices = tf.broadcast_to(indices, tf.concat([common, tf.shape(indices)[-1:]], 0))
    taken = tf.gather(x, indices, batch_dims=last)
    return tf.transpose(taken, order) if order else taken


def embedding(indices: Any, weight: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/gather"""
    check_rows(weight)
    return tf.gather(weight, _integers(indices))
