"""New tensors, on the default backend unless an argument is an array.

Upstream: https://www.tensorflow.org/api_docs/python/tf/constant
"""

from __future__ import annotations

import builtins
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import (
    default_dtype,
    integers,
    is_tensor,
    number,
    tensor,
    tensors,
)
from nestarray.frontends.tensorflow.data_type import cast
from nestarray.typing import Array, DTypeLike

__all__ = [
    "constant", "eye", "fill", "linspace", "meshgrid", "one_hot", "ones", "ones_like", "range",
    "sequence_mask", "zeros", "zeros_like",
]  # fmt: skip


def _shape(shape: Any) -> tuple[Any, ...]:
    found = integers(shape)
    return tuple(found) if isinstance(found, (list, tuple)) else (found,)


def constant(
    value: Any, dtype: DTypeLike | None = None, shape: Any = None, name: str = "Const"
) -> Array:
    """`value` as a tensor, in another dtype, and reshaped or, if it is a number, repeated."""
    if dtype is not None and is_tensor(value):
        x = cast(value, dtype)
    else:
        x = tensor(value, dtype, name="constant")
    if shape is None:
        return x
    sizes = _shape(shape)
    return na.reshape(x, sizes) if len(na.shape(x)) else na.broadcast_to(x, sizes)


def zeros(
    shape: Any, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout: Any = None
) -> Array:
    """Zeros."""
    return na.zeros(_shape(shape), dtype=dtype)


def ones(
    shape: Any, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout: Any = None
) -> Array:
    """Ones."""
    return na.ones(_shape(shape), dtype=dtype)


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Array:
    """A tensor of one number."""
    return na.broadcast_to(tensor(value), _shape(dims))


def zeros_like(
    input: Any, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None
) -> Array:
    """Zeros of the shape and dtype of `input`."""
    return na.zeros_like(tensor(input), dtype=dtype)


def ones_like(
    input: Any, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None
) -> Array:
    """Ones of the shape and dtype of `input`."""
    return na.ones_like(tensor(input), dtype=dtype)


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Array:
    """The identity matrix, or a batch of them."""
    batch = () if batch_shape is None else _shape(batch_shape)
    return na.eye(integers(num_rows), integers(num_columns), dtype=dtype, batch_shape=batch)


def range(
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: DTypeLike | None = None,
    name: str = "range",
) -> Array:
    """Numbers from `start` to below `limit`; with one argument from 0."""
    if limit is None:
        start, limit = 0, start
    values = [start, limit, delta]
    found = [dtypes.dtype_of(x) if is_tensor(x) else default_dtype(x) for x in values]
    order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
    for x in found:
        if x not in order:
            raise ArgumentError(
                f"range: got {x}, expected int32, int64, float32 or float64; use tf.cast(x, ...)"
            )
    wanted = max(found, key=order.index) if dtype is None else dtypes.as_dtype(dtype)
    like = next((x for x in values if is_tensor(x)), None)
    numbers = [number(x) for x in values]
    return na.arange(numbers[0], numbers[1], numbers[2], dtype=wanted, like=like)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Array:
    """`num` numbers at equal distances from `start` to `stop`, which may be arrays."""
    start, stop = tensors("linspace", start, stop)
    dtype = dtypes.dtype_of(start)
    count = integers(num)
    if not dtype.is_floating:  # upstream: rounded down
        wide = na.linspace(
            na.astype(start, dtypes.float32), na.astype(stop, dtypes.float32), count, axis=axis
        )
        return na.astype(wide, dtype)
    return na.linspace(start, stop, count, axis=axis, dtype=dtype)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Array:
    """`on_value` at each index, by default 1, among `off_value`, by default 0; without derivatives."""
    index = tensor(indices)
    given = next((x for x in (on_value, off_value) if x is not None), None)
    if dtype is None:
        dtype = dtypes.float32 if given is None else dtypes.dtype_of(tensor(given))
    rank = len(na.shape(index)) + 1
    axis = -1 if axis is None else axis
    sizes = [1] * rank
    sizes[axis] = count = integers(depth)
    classes = na.reshape(na.arange(count, dtype=na.dtype_of(index), like=index), sizes)
    is_on = na.equal(na.expand_dims(index, axis % rank), classes)
    if given is None:
        return na.astype(is_on, dtype)
    on = tensor(1 if on_value is None else on_value, dtype, index)
    off = tensor(0 if off_value is None else off_value, dtype, index)
    return na.where(is_on, na.stop_gradient(on), na.stop_gradient(off))


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: DTypeLike = dtypes.bool, name: str | None = None
) -> Array:
    """Whether each position, up to `maxlen`, is before the length; by default of the longest."""
    x = tensor(lengths)
    if maxlen is None:
        maxlen = 0 if 0 in na.shape(x) else int(na.max(x))
    position = na.arange(integers(maxlen), dtype=na.dtype_of(x), like=x)
    is_inside = na.less(position, na.expand_dims(x, -1))
    return is_inside if dtypes.as_dtype(dtype) is dtypes.bool else na.astype(is_inside, dtype)


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Array]:
    """The coordinates of a grid."""
    arrays = [na.reshape(tensor(x), (-1,)) for x in args]
    return builtins.list(na.meshgrid(*arrays, indexing=indexing))
