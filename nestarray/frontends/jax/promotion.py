"""JAX's dtypes of results: Python numbers are weakly typed, and new numbers have 32 bits.

Arrays keep 64-bit dtypes where their framework has them. Dtypes that no array determines are those
without ``jax_enable_x64``: int32, float32, complex64.

Source: https://docs.jax.dev/en/latest/type_promotion.html
"""

from __future__ import annotations

import builtins
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError
from nestarray.typing import Array, DTypeLike

_OF_NUMBER = {
    builtins.bool: dtypes.bool,
    int: dtypes.int32,
    float: dtypes.float32,
    complex: dtypes.complex64,
}
_REAL = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def is_number(x: Any) -> builtins.bool:
    """Whether `x` is a Python number; NumPy's scalars are arrays."""
    return type(x) in _OF_NUMBER


def as_dtype(dtype: Any) -> DType:
    """A `DType`; Python's types and dtypes of no set width have 32 bits."""
    return _OF_NUMBER.get(dtype) or dtypes.as_dtype(dtype)


def dtype_of(x: Any) -> DType:
    """The dtype of an array, or the default dtype of a Python number."""
    return _OF_NUMBER[type(x)] if is_number(x) else dtypes.dtype_of(x)


def result_type(*operands: Any) -> DType:
    """The dtype of a result of arrays, dtypes and Python numbers."""
    strong = [as_dtype(x) if _is_dtype(x) else x for x in operands if not is_number(x)]
    if not strong:
        return dtypes.result_type(*[_OF_NUMBER[type(x)] for x in operands])
    found = dtypes.result_type(*strong, *[x for x in operands if is_number(x)])
    if found is dtypes.int64 and dtypes.result_type(*strong) is dtypes.bool:
        return dtypes.int32
    return found


def _is_dtype(x: Any) -> builtins.bool:
    return not (hasattr(x, "dtype") and hasattr(x, "shape"))


def as_array(x: Any) -> Array:
    """An array; of a Python number, with the default dtype."""
    return na.asarray(x, dtype=_OF_NUMBER[type(x)]) if is_number(x) else x


def operands(*values: Any) -> tuple[Any, ...]:
    """Operands of an op of nestarray, which then computes in JAX's dtype.

    The op promotes arrays, and Python numbers next to numeric arrays. Numbers among themselves or
    next to bool arrays become arrays of their default dtypes.
    """
    arrays = [x for x in values if not is_number(x)]
    if len(arrays) == len(values):
        return values
    if not arrays:
        return tuple(map(as_array, values))
    if all(dtypes.dtype_of(x) is not dtypes.bool for x in arrays):
        return values
    dtype, like = result_type(*values), arrays[0]
    return tuple([na.full((), x, dtype=dtype, like=like) if is_number(x) else x for x in values])


def promote(*values: Any) -> tuple[Array, ...]:
    """Arrays of the one dtype of their result."""
    return cast_all(result_type(*values), *values)


def promote_inexact(*values: Any) -> tuple[Array, ...]:
    """Arrays of the one floating or complex dtype of their result."""
    return cast_all(inexact_dtype(*values), *values)


def inexact_dtype(*values: Any) -> DType:
    """The floating or complex dtype of a result; float32 for integers."""
    found = result_type(*values)
    return found if found.is_inexact else dtypes.float32


def cast_all(dtype: DTypeLike, *values: Any) -> tuple[Array, ...]:
    """Arrays of `dtype`, from arrays and Python numbers."""
    like = next((x for x in values if not is_number(x)), None)
    return tuple(
        [na.full((), x, dtype=dtype, like=like) if is_number(x) else cast(x, dtype) for x in values]
    )


def inexact(x: Any) -> Array:
    """`x`, integers as float32."""
    x = as_array(x)
    return x if dtypes.dtype_of(x).is_inexact else na.astype(x, dtypes.float32)


def real_dtype(dtype: DType) -> DType:
    """The dtype of the parts of a complex number."""
    return _REAL.get(dtype, dtype)


def cast(x: Any, dtype: DTypeLike | None) -> Array:
    """`x` in `dtype`, if one is given. Complex numbers lose their imaginary part."""
    x = as_array(x)
    if dtype is None:
        return x
    source, wanted = dtypes.dtype_of(x), as_dtype(dtype)
    if source is wanted:
        return x
    if source.kind == "complex" and wanted.kind != "complex":
        x = na.not_equal(x, 0) if wanted is dtypes.bool else na.real(x)
    return na.astype(x, wanted)


def as_index(x: Array) -> Array:
    """Positions, in JAX's dtype for them."""
    return na.astype(x, dtypes.int32)


def summed_dtype(x: Array) -> DType:
    """The dtype of a sum or product: integers of at least 32 bits."""
    dtype = dtypes.dtype_of(x)
    if dtype is dtypes.bool:
        return dtypes.int32
    if dtype.is_integer and dtype.bits < 32:
        return dtypes.as_dtype(f"{dtype.kind}32")
    return dtype


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from 0."""
    if not -rank <= axis < rank:
        raise ArgumentError(f"axis: got {axis} for an array of rank {rank}")
    return axis % rank


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from 0; all for None."""
    if axis is None:
        return tuple(range(rank))
    return tuple(
        [normal_axis(a, rank) for a in (axis if isinstance(axis, (tuple, list)) else [axis])]
    )
