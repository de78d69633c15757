"""Keras' dtypes of results: the lattice of JAX with weak Python numbers; int64 and float64 stay.

Functions that convert their arguments to tensors first give Python numbers the dtypes int32 and
float32, as Keras does on TensorFlow: `as_array`. In all others numbers are weak: `operands`.

Upstream: https://keras.io/api/ops/ and `keras.backend.result_type`
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError
from nestarray.frontends.keras import config
from nestarray.typing import Array

#: The dtypes of tensors of Python numbers.
_TENSORS = {
    builtins.bool: dtypes.bool,
    int: dtypes.int32,
    float: dtypes.float32,
    complex: dtypes.complex128,
}
#: The dtypes that results do not have.
_NARROWED = {dtypes.uint64: dtypes.uint32, dtypes.complex128: dtypes.complex64}
#: The dtypes that Python's types name.
_NAMED: dict[Any, DType] = {
    builtins.bool: dtypes.bool,
    int: dtypes.int64,
    float: dtypes.float32,
    complex: dtypes.complex128,
    "int": dtypes.int64,
}


def is_number(x: Any) -> builtins.bool:
    """Whether `x` is a Python number; NumPy's scalars are arrays."""
    return type(x) in _TENSORS


def _is_weak(x: Any) -> builtins.bool:
    return x is int or x is float or type(x) is int or type(x) is float


def as_dtype(dtype: Any) -> DType:
    """A `DType`; `config.floatx()` for None, and int64, float32 and complex128 for Python's types."""
    if dtype is None:
        return config.default_float()
    if isinstance(dtype, (type, str)) and dtype in _NAMED:
        return _NAMED[dtype]
    return dtypes.as_dtype(dtype)


def dtype_of(x: Any) -> DType:
    """The dtype of an array, or of the tensor of a Python number."""
    return _TENSORS[type(x)] if is_number(x) else dtypes.dtype_of(x)


def result_type(*values: Any) -> DType:
    """The dtype of a result of arrays, dtypes, and weak Python numbers and types."""
    strong = [_strong(x) for x in values if not _is_weak(x)]
    found = dtypes.result_type(*strong) if strong else dtypes.bool
    found = _NARROWED.get(found, found)
    if any(dtype.is_inexact for dtype in strong):
        return found
    floating = config.default_float()
    if found.is_inexact:  # integers without a common integer dtype
        return floating
    weak = {x if isinstance(x, type) else type(x) for x in values if _is_weak(x)}
    if float in weak:
        return floating
    if int in weak and found is dtypes.bool:
        return dtypes.as_dtype(f"int{floating.bits}")
    return found


def _strong(x: Any) -> DType:
    if is_number(x):
        return _TENSORS[type(x)]
    is_array = hasattr(x, "dtype") and hasattr(x, "shape")
    return dtypes.dtype_of(x) if is_array else as_dtype(x)


def as_array(x: Any, dtype: Any = None, like: Array | None = None) -> Array:
    """A tensor of an array, a number, or nested lists of them.

    Args:
        x: the data.
        dtype: the dtype of the result; None: the dtype of `x`.
        like: an array of the backend on which tensors of numbers are made.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(x, (list, tuple)):
        leaves = list(_leaves(x))
        if all(map(is_number, leaves)):
            found = dtypes.result_type(*[dtype_of(leaf) for leaf in leaves or [0.0]])
            return na.asarray(x, dtype=wanted or found, like=like)
        return na.stack([as_array(item, wanted, like) for item in x])
    if is_number(x):
        if wanted is not None and wanted.is_integer and type(x) is float:
            x = int(x)
        return na.asarray(x, dtype=wanted or dtype_of(x), like=like)
    return cast(na.asarray(x), wanted)


def _leaves(data: Any) -> Iterable[Any]:
    if not isinstance(data, (list, tuple)):
        yield data
        return
    for item in data:
        yield from _leaves(item)


def as_arrays(*values: Any) -> list[Array]:
    """Tensors on the backend of the first array."""
    like = next((x for x in values if not is_number(x) and not isinstance(x, (list, tuple))), None)
    return [as_array(x, like=like) for x in values]


def cast(x: Array, dtype: Any) -> Array:
    """`x` in `dtype`, if one is given. Complex numbers lose their imaginary part."""
    if dtype is None:
        return x
    source, wanted = dtypes.dtype_of(x), as_dtype(dtype)
    if source is wanted:
        return x
    if source.kind == "complex" and wanted.kind != "complex":
        x = na.not_equal(x, 0) if wanted is dtypes.bool else na.real(x)
    return na.astype(x, wanted)


def operands(*values: Any, also: tuple[Any, ...] = ()) -> list[Any]:
    """Arrays in the dtype of the result, and weak Python numbers unless all are numbers.

    Args:
        *values: arrays, numbers and lists of them.
        also: types and dtypes that count for the result too.
    """
    tensors = [as_array(x) if isinstance(x, (list, tuple)) else x for x in values]
    dtype = result_type(*tensors, *also)
    if all(map(is_number, tensors)):
        return [as_array(x, dtype) for x in tensors]
    return [x if is_number(x) else cast(x, dtype) for x in tensors]


def promote(*values: Any, also: tuple[Any, ...] = ()) -> list[Array]:
    """Arrays of the one dtype of the tensors of all values."""
    tensors = as_arrays(*values)
    dtype = result_type(*tensors, *also)
    return [cast(x, dtype) for x in tensors]


def floating(x: Any) -> Array:
    """`x`, integers as floating numbers."""
    x = as_array(x)
    return cast(x, result_type(x, float))


def floating_exactly(*values: Any) -> list[Array]:
    """Arrays of one dtype, integers as floating numbers, of 64 bits as float64."""
    tensors = promote(*values)
    dtype = dtypes.dtype_of(tensors[0])
    if dtype.is_inexact:
        return tensors
    wanted = dtypes.float64 if dtype is dtypes.int64 else config.default_float()
    return [na.astype(x, wanted) for x in tensors]


def summed_dtype(x: Array) -> DType:
    """The dtype of a sum or product: integers of at least 32 bits."""
    dtype = dtypes.dtype_of(x)
    if dtype is dtypes.bool or (dtype.kind == "int" and dtype.bits < 32):
        return dtypes.int32
    return dtypes.uint32 if dtype.kind == "uint" and dtype.bits < 32 else dtype


def as_index(x: Array) -> Array:
    """Positions, as int32."""
    return na.astype(x, dtypes.int32)


def normal_axis(op: str, axis: int, rank: int) -> int:
    """An axis counted from 0."""
    if not -rank <= axis < rank:
        raise ArgumentError(f"{op}: axis: got {axis} for an array of rank {rank}")
    return axis % rank


def axes_of(op: str, axis: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from 0; all for None."""
    if axis is None:
        return tuple(range(rank))
    listed = axis if isinstance(axis, (tuple, list)) else [axis]
    return tuple([normal_axis(op, a, rank) for a in listed])
