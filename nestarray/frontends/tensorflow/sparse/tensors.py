"""The type of sparse tensors, its construction and dense forms.

Upstream: https://www.tensorflow.org/api_docs/python/tf/sparse/SparseTensor
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.frontends.tensorflow.conversion import tensor as _tensor
from nestarray.typing import Array, DTypeLike

__all__ = ["SparseTensor", "eye", "from_dense", "map_values", "mask", "to_dense", "to_indicator"]


class _Parts(NamedTuple):
    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor(_Parts):
    """A tensor by its elements that are not zero; immutable, and a nest.

    Compiled functions take the arrays and make the tensor inside, since its shape has to be known.

    Args:
        indices: `(n, rank)`, int64: the place of each element.
        values: `(n,)`.
        dense_shape: the size of each axis, a sequence or an array of integers; results have a tuple.

    Example:
        >>> import numpy as np
        >>> from nestarray.frontends import tensorflow as tf
        >>> x = tf.SparseTensor([[0, 1], [1, 2]], np.asarray([3.0, 4.0]), [2, 3])
        >>> tf.sparse.to_dense(x)
        array([[0., 3., 0.],
               [0., 0., 4.]])
        >>> tf.sparse.reduce_sum(x * 2.0, axis=1)
        array([6., 8.])
    """

    __slots__ = ()

    def __new__(cls, indices: Any, values: Any, dense_shape: Any) -> SparseTensor:
        """Sequences of indices and values as arrays."""
        if isinstance(values, (list, tuple)):
            values = _tensor(values)
        if isinstance(indices, (list, tuple)):
            indices = na.asarray(indices, dtype=dtypes.int64, like=values)
        if isinstance(dense_shape, list):
            dense_shape = tuple(dense_shape)
        return super().__new__(cls, indices, values, dense_shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dense form."""
        return integers(self.dense_shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return dtypes.dtype_of(self.values)

    def with_values(self, new_values: Array) -> SparseTensor:
        """Other values at the same places."""
        return SparseTensor(self.indices, new_values, self.dense_shape)

    def __add__(self, other: Any) -> Any:
        """An error, as upstream; a tuple would append items."""
        raise ArgumentError("SparseTensor: x + y is not defined, use tf.sparse.add(x, y)")

    def __rmul__(self, other: Any) -> Any:
        """An error, as upstream; a tuple would repeat its items."""
        raise ArgumentError("SparseTensor: y * x is not defined for a dense y, use x * y")

    def __mul__(self, other: Any) -> SparseTensor:  # type: ignore[override]
        """The product with a dense tensor that broadcasts."""
        return self.with_values(na.multiply(self.values, dense_elements(self, other)))

    def __truediv__(self, other: Any) -> SparseTensor:
        """The quotient by a dense tensor that broadcasts."""
        return self.with_values(na.divide(self.values, dense_elements(self, other)))


def dense_elements(x: SparseTensor, dense: Any) -> Array:
    """The elements of a dense tensor, broadcast, at the places of a sparse one."""
    dense = _tensor(dense, x.dtype, x.values, "SparseTensor")
    return na.gather_nd(na.broadcast_to(dense, x.shape), x.indices)


def flat_indices(indices: Array, shape: tuple[int, ...]) -> Array:
    """The place of each element in row-major order."""
    if not shape:
        return na.zeros((na.shape(indices)[0],), dtype=dtypes.dtype_of(indices), like=indices)
    return na.ravel_multi_index(na.unstack(indices, axis=1), shape)


def full_indices(flat: Array, shape: tuple[int, ...]) -> Array:
    """The indices, `(n, rank)`, of places in row-major order."""
    if not shape:
        return na.zeros((na.shape(flat)[0], 0), dtype=dtypes.int64, like=flat)
    return na.astype(na.stack(na.unravel_index(flat, shape), axis=1), dtypes.int64)


def shape_array(sizes: Any, like: Array) -> Array:
    """Sizes as an array, int64."""
    return na.asarray(list(sizes), dtype=dtypes.int64, like=like)


def parts(x: SparseTensor) -> tuple[Array, Array, Array]:
    """The indices, the values and the shape as arrays."""
    return x.indices, x.values, shape_array(x.shape, x.values)


def chosen(is_chosen: Array) -> Array:
    """The places, `(n,)`, where a mask is true."""
    return na.reshape(na.argwhere(is_chosen), (-1,))


def padded_rows(indices: Array, values: Array, lead: tuple[int, ...]) -> tuple[Array, Array]:
    """The elements along the last axis in order, padded with zeros, and their numbers, int32.

    `lead` is the shape without the last axis, or a larger one.
    """
    rows, count = flat_indices(indices[:, :-1], lead), math.prod(lead)
    sizes = na.segment_sum(na.ones_like(rows, dtype=dtypes.int32), rows, num_segments=count)
    starts = na.subtract(na.cumulative_sum(sizes, dtype=dtypes.int32), sizes)
    number = na.arange(na.shape(rows)[0], dtype=dtypes.int32, like=rows)
    places = na.subtract(number, na.take(starts, rows, axis=0))
    longest = max(int(na.max(sizes)), 1) if count else 1
    index = na.stack([na.astype(rows, dtypes.int32), places], axis=1)
    start = na.zeros((count, longest), dtype=dtypes.dtype_of(values), like=values)
    return na.scatter_nd(start, index, values), sizes


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements that are not zero, in row-major order."""
    x = _tensor(tensor)
    indices = na.astype(na.argwhere(na.not_equal(x, na.zeros_like(x))), dtypes.int64)
    return SparseTensor(indices, na.gather_nd(x, indices), tuple(na.shape(x)))


def to_dense(
    sp_input: SparseTensor,
    default_value: Any = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Array:
    """The dense form, with `default_value`, or zero, elsewhere."""
    values, shape = sp_input.values, sp_input.shape
    if default_value is None:
        start = na.zeros(shape, dtype=sp_input.dtype, like=values)
    else:
        start = na.broadcast_to(_tensor(default_value, sp_input.dtype, values), shape)
    return na.scatter_nd(start, sp_input.indices, values)


def to_indicator(sp_input: SparseTensor, vocab_size: Any, name: str | None = None) -> Array:
    """Whether each row of integers contains each number below `vocab_size`, bool."""
    rows = na.getitem(sp_input.indices, (slice(None), slice(-1)))
    numbers = na.expand_dims(na.astype(sp_input.values, dtypes.int64), 1)
    places = na.concat([rows, numbers], axis=1)
    shape = (*sp_input.shape[:-1], integers(vocab_size))
    found = na.zeros(shape, dtype=dtypes.bool, like=places)
    return na.scatter_nd(found, places, na.ones_like(sp_input.values, dtype=dtypes.bool))


def eye(
    num_rows: Any,
    num_columns: Any = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:
    """The identity matrix, on the default backend."""
    rows = integers(num_rows)
    columns = rows if num_columns is None else integers(num_columns)
    places = na.arange(min(rows, columns), dtype=dtypes.int64)
    values = na.ones((min(rows, columns),), dtype=dtype)
    return SparseTensor(na.stack([places, places], axis=1), values, [rows, columns])


def mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """`tf.IndexedSlices` without the slices of these indices."""
    kept = chosen(na.isin(a.indices, _tensor(mask_indices, like=a.indices), invert=True))
    rows = na.take(a.values, kept, axis=0)
    return a._replace(values=rows, indices=na.take(a.indices, kept, axis=0))


def map_values(op: Callable[..., Array], *args: Any, **kwargs: Any) -> SparseTensor:
    """`op` of the values of sparse arguments, which have the same indices.

    Raises:
        ArgumentError: no argument is sparse, or the numbers of their elements differ.
    """
    sparse = [x for x in (*args, *kwargs.values()) if isinstance(x, SparseTensor)]
    counts = {na.shape(x.values)[0] for x in sparse}
    if len(counts) != 1:
        raise ArgumentError(
            f"map_values: args: got sparse tensors of {sorted(counts)} elements, expected at least "
            "one, all with the same indices"
        )
    values = [x.values if isinstance(x, SparseTensor) else x for x in args]
    named = {k: x.values if isinstance(x, SparseTensor) else x for k, x in kwargs.items()}
    return sparse[0].with_values(op(*values, **named))
