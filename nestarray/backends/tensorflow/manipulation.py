"""TensorFlow: `nestarray.ops.manipulation`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from nestarray.backends import portable
from nestarray.backends.base import lengths, supports
from nestarray.backends.tensorflow import lite
from nestarray.backends.tensorflow.integers import by_bits
from nestarray.backends.tensorflow.padding import padded
from nestarray.backends.tensorflow.promotion import promoted
from nestarray.numerics.axes import (
    check_order,
    check_repeats,
    expanded_shape,
    many_axes,
    one_axis,
    pad_widths,
    part_sizes,
    rolled_axes,
    squeezed_axes,
)
from nestarray.numerics.fills import check_fill


def shape(x: Any, /) -> tuple[Any, ...]:
    """https://www.tensorflow.org/api_docs/python/tf/shape"""
    static = x.shape.as_list()
    if None not in static:
        return tuple(static)
    dynamic = tf.unstack(tf.shape(x))
    return tuple(d if s is None else s for s, d in zip(static, dynamic))


def reshape(x: Any, /, shape: Any, *, order: str = "C", copy: bool | None = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/reshape"""
    check_order(order)
    if isinstance(shape, int):
        shape = (shape,)
    if order == "F":
        return tf.transpose(tf.reshape(tf.transpose(x), _lengths(shape[::-1])))
    return tf.reshape(x, _lengths(shape))


def _lengths(shape: Any) -> Any:
    # TensorFlow converts an empty list to float32.
    return lengths(shape) if len(shape) else tf.zeros(0, tf.int32)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/transpose"""
    return tf.transpose(x, many_axes(tuple(axes), len(x.shape), "permute_dims", "axes"))


def expand_dims(x: Any, /, axis: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/expand_dims"""
    if isinstance(axis, int):
        return tf.expand_dims(x, axis)
    return tf.reshape(x, _lengths(expanded_shape(shape(x), axis, "expand_dims")))


def squeeze(x: Any, /, axis: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/squeeze"""
    axes = squeezed_axes(shape(x), axis, "squeeze")
    # from the end: TFLite fails for the squeeze of a transpose of open sizes with other axes
    axes = [axis - len(x.shape) for axis in axes]
    return tf.squeeze(x, axes) if axes else tf.identity(x)  # tf.squeeze reads () as all axes


def concat(arrays: Any, /, *, axis: Any = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/concat"""
    arrays = promoted(arrays)
    if axis is None:
        return tf.concat([tf.reshape(x, (-1,)) for x in arrays], 0)
    rank = arrays[0].shape.rank
    if len(arrays) == 1 and rank is not None:
        one_axis(axis, rank, "concat")  # TensorFlow does not read the axis for one tensor
    return tf.concat(arrays, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/stack"""
    return tf.stack(promoted(arrays), axis)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """https://www.tensorflow.org/api_docs/python/tf/unstack"""
    if portable.are_wanted():
        return tuple(lite.unstack(x, axis))
    return tuple(tf.unstack(x, axis=axis))


def split(x: Any, /, sizes: Any, *, axis: int = 0) -> tuple[Any, ...]:
    """https://www.tensorflow.org/api_docs/python/tf/split"""
    return tuple(tf.split(x, part_sizes(sizes, x.shape[axis], "split"), axis))


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/broadcast_to"""
    return tf.broadcast_to(x, _lengths((shape,) if isinstance(shape, int) else shape))


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/reverse"""
    axes = many_axes(axis, len(x.shape), "flip")
    return tf.reverse(x, axes) if axes else tf.identity(x)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/roll"""
    if axis is None:
        total = sum(shift) if isinstance(shift, Sequence) else shift
        return tf.reshape(tf.roll(tf.reshape(x, (-1,)), total, 0), tf.shape(x))
    shifts, axes = rolled_axes(shift, axis, len(x.shape))
    if portable.are_wanted():
        return portable.roll(x, shifts, axes)
    return tf.roll(x, shifts, axes) if axes else tf.identity(x)


def tile(x: Any, repetitions: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/tile"""
    lengths, counts = shape(x), tuple(repetitions)
    rank = max(len(lengths), len(counts))
    x = tf.reshape(x, _lengths((1,) * (rank - len(lengths)) + lengths))
    times = _lengths((1,) * (rank - len(counts)) + counts)
    return _tile(x, times)


_tile = by_bits(tf.tile)


@supports(lambda *_, total_repeat_length=None, **_settings: total_repeat_length is None)
def repeat(
    x: Any, repeats: Any, /, *, axis: Any = None, total_repeat_length: int | None = None
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/repeat"""
    if axis is not None and x.shape.rank is not None:
        one_axis(axis, x.shape.rank, "repeat")  # TensorFlow accepts axis 0 of a 0-d tensor
    check_repeats(repeats)
    if hasattr(repeats, "dtype") and repeats.dtype != tf.int64:
        repeats = tf.cast(repeats, tf.int32)
    if axis is None:
        x, axis = tf.reshape(x, (-1,)), 0
    # of positions, because tf.repeat fails for tensors without elements
    return tf.gather(x, tf.repeat(tf.range(tf.shape(x)[axis]), repeats), axis=axis)


def _has_mode(
    x: Any, /, pad_width: Any, *, mode: str = "constant", constant_values: complex = 0
) -> bool:
    if mode == "constant":
        return True
    if mode not in ("reflect", "symmetric"):
        return False
    # TensorFlow reflects once, NumPy repeatedly.
    reach = 1 if mode == "reflect" else 0
    widths = pad_widths(pad_width, len(x.shape), "pad")
    return all(
        length is not None and max(pair) <= length - reach for pair, length in zip(widths, x.shape)
    )


@supports(_has_mode)
def pad(x: Any, /, pad_width: Any, *, mode: str = "constant", constant_values: complex = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/pad"""
    check_fill("pad", "constant_values", constant_values, x.dtype)
    widths = pad_widths(pad_width, len(x.shape), "pad")
    if not widths:
        return tf.identity(x)
    if mode != "constant":
        return tf.pad(x, widths, mode.upper())
    return padded(x, widths, constant_values)
