"""TensorFlow: `nestarray.exporters.source.forms`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.base import supports
from nestarray.backends.tensorflow.core import native_dtype
from nestarray.dtypes import dtype_of

abs = tf.abs
square = tf.square


def asarray(obj: Any, *, dtype: Any = None, **_: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor"""
    return tf.convert_to_tensor(obj, native_dtype(dtype_of(obj) if dtype is None else dtype))


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
    return tf.gather(x, index[axis] if isinstance(index, tuple) else index, axis=axis)


@supports(lambda indices, weight: dtype_of(indices).kind in ("int", "uint"))
def embedding(indices: Any, weight: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/gather"""
    return tf.gather(weight, indices)


@supports(
    lambda x, indices, *, axis: (
        axis in (-1, len(x.shape) - 1) and x.shape[:-1] == indices.shape[:-1]
    )
)
def gather(x: Any, indices: Any, *, axis: int) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/gather"""
    return tf.gather(x, indices, batch_dims=len(x.shape) - 1)
