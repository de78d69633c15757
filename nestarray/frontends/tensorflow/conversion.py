"""TensorFlow's conversion of arguments: numbers take the dtype of a tensor, and tensors promote nothing.

Source: https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError
from nestarray.typing import Array, DTypeLike, is_unknown_size

__all__ = ["convert_to_tensor"]

#: Python's type → the dtype of new tensors.
_DEFAULT = {
    builtins.bool: dtypes.bool,
    int: dtypes.int32,
    float: dtypes.float32,
    complex: dtypes.complex128,
}


def is_tensor(x: Any) -> builtins.bool:
    """Whether `x` is an array, or represents one in a program that is recorded or differentiated."""
    return hasattr(x, "dtype") and hasattr(x, "shape")


def default_dtype(x: Any) -> DType:
    """The dtype of a tensor of Python numbers in nested sequences."""
    found = {*_types(x)} or {float}
    return _DEFAULT[max(found, key=[*_DEFAULT].index)]


def _types(x: Any) -> list[type]:
    if isinstance(x, (list, tuple, range)):
        return [t for item in x for t in _types(item)]
    if type(x) not in _DEFAULT:
        raise ArgumentError(
            f"convert_to_tensor: got {type(x).__name__}, expected an array, a number, or a nested "
            "sequence of these"
        )
    return [type(x)]


def tensor(
    x: Any, dtype: DTypeLike | None = None, like: Array | None = None, name: str = "tensor"
) -> Array:
    """`x` as an array: arrays unchanged, numbers and nested sequences as new arrays.

    Args:
        x: an array, a number, or a nested sequence of these.
        dtype: the dtype of the array; None keeps or infers it.
        like: an array of the backend of new arrays.
        name: the function, for the error.

    Raises:
        DtypeError: `x` is an array of another dtype.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if is_tensor(x):
        if wanted is not None and dtypes.dtype_of(x) is not wanted:
            raise _mismatch(name, dtypes.dtype_of(x), wanted)
        return x
    if isinstance(x, (list, tuple)) and _first_tensor(x) is not None:
        first = _first_tensor(x)
        dtype = dtypes.dtype_of(first) if wanted is None else wanted
        return na.stack([tensor(item, dtype, first, name) for item in x])
    found = default_dtype(x)
    if wanted is not None and _rank(found) > _rank(wanted):
        raise DtypeError(f"{name}: got {found} numbers, expected {wanted}; cast them first")
    return na.asarray(list(x) if isinstance(x, range) else x, dtype=wanted or found, like=like)


def _first_tensor(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return next((t for t in map(_first_tensor, x) if t is not None), None)
    return x if is_tensor(x) else None


def _rank(dtype: DType) -> int:
    return {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}[dtype.kind]


def _mismatch(name: str, found: DType, wanted: DType) -> DtypeError:
    return DtypeError(
        f"{name}: got a tensor of {found}, expected {wanted}: TensorFlow does not promote dtypes; "
        f"use tf.cast(x, tf.{wanted})"
    )


def tensors(name: str, *values: Any) -> tuple[Array, ...]:
    """Arrays in the dtype of the first array.

    Args:
        name: the function, for the error.
        values: arrays, numbers and nested sequences.

    Raises:
        DtypeError: the dtypes of arrays differ, or a number does not fit the dtype.
    """
    first = next((x for x in map(_first_tensor, values) if x is not None), None)
    dtype = default_dtype([*values]) if first is None else dtypes.dtype_of(first)
    return tuple([tensor(x, dtype, first, name) for x in values])


def operands(name: str, *values: Any) -> tuple[Any, ...]:
    """Operands of an op of nestarray: as `tensors`, but single numbers next to arrays remain numbers."""
    first = next((x for x in values if is_tensor(x)), None)
    if first is None:
        return tensors(name, *values)
    dtype = dtypes.dtype_of(first)
    return tuple([_operand(name, x, dtype, first) for x in values])


def _operand(name: str, x: Any, dtype: DType, like: Array) -> Any:
    if type(x) in _DEFAULT and _rank(_DEFAULT[type(x)]) <= _rank(dtype) and dtype.kind != "uint":
        return x
    return tensor(x, dtype, like, name)


def of_kind(name: str, x: Any, *kinds: str) -> Array:
    """`x` as an array whose dtype is of one of the kinds.

    Args:
        name: the function, for the error.
        x: an array, a number, or a nested sequence.
        kinds: kinds of dtypes: ``"float"``, ``"complex"``, ``"int"``, ``"uint"``, ``"bool"``.

    Raises:
        DtypeError: the dtype is of another kind.
    """
    x = tensor(x)
    dtype = dtypes.dtype_of(x)
    if dtype.kind not in kinds:
        raise DtypeError(
            f"{name}: got a tensor of {dtype}, expected a dtype of kind {' or '.join(kinds)}; "
            "use tf.cast(x, ...)"
        )
    return x


def floating(name: str, x: Any) -> Array:
    """`x` as an array of a floating dtype."""
    return of_kind(name, x, "float")


def inexact(name: str, x: Any) -> Array:
    """`x` as an array of a floating or complex dtype."""
    return of_kind(name, x, "float", "complex")


def integers(x: Any) -> Any:
    """Integers that determine shapes: a number, or a tuple from an array or a sequence.

    Those that only a run knows stay tensors.
    """
    if is_tensor(x):
        if not len(na.shape(x)):
            return x if is_unknown_size(x) else int(x)
        return tuple([integers(na.getitem(x, i)) for i in builtins.range(na.shape(x)[0])])
    if isinstance(x, (list, tuple)):
        return tuple([integers(item) for item in x])
    return x


def number(x: Any) -> Any:
    """A number, also of a tensor; integers that only a run knows stay tensors."""
    if is_tensor(x) and dtypes.dtype_of(x).is_floating:
        return float(x)
    return integers(x)


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from 0; all for None.

    Raises:
        ArgumentError: the array has no such axis.
    """
    if axis is None:
        return tuple(builtins.range(rank))
    axis = integers(axis)
    return tuple([normal_axis(a, rank) for a in (axis if isinstance(axis, Sequence) else [axis])])


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from 0.

    Raises:
        ArgumentError: the array has no such axis.
    """
    if not -rank <= axis < rank:
        raise ArgumentError(f"axis: got {axis}, expected {-rank} to {rank - 1}")
    return axis % rank


def convert_to_tensor(
    value: Any, dtype: DTypeLike | None = None, dtype_hint: Any = None, name: str | None = None
) -> Array:
    """`value` as an array; of numbers, on the default backend."""
    return tensor(value, dtype, name="convert_to_tensor")
