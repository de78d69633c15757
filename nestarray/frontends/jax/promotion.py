"""JAX's dtypes of results: Python numbers are weakly typed, and new numbers have 32 bits.

Arrays keep 64-bit dtypes where their framework has them. Dtypes that no array determines are int32,
float32 and complex64, or have 64 bits under `enable_x64`. JAX's own configuration, which arrays
of other frameworks do not have, plays no role.

Source: https://docs.jax.dev/en/latest/type_promotion.html
"""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Iterator
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.dynamo import ContextVariable
from nestarray.errors import ArgumentError, IndexingError
from nestarray.typing import Array, DTypeLike

_NARROW = {
    builtins.bool: dtypes.bool,
    int: dtypes.int32,
    float: dtypes.float32,
    complex: dtypes.complex64,
}
_WIDE = {
    builtins.bool: dtypes.bool,
    int: dtypes.int64,
    float: dtypes.float64,
    complex: dtypes.complex128,
}
_REAL = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}

_override: ContextVariable[builtins.bool | None] = ContextVariable(
    "nestarray_jax_x64", default=None
)
_is_x64 = False


def is_x64() -> builtins.bool:
    """Whether new numbers have 64 bits."""
    found = _override.get()
    return _is_x64 if found is None else found


def set_x64(is_wide: builtins.bool) -> None:
    """Set whether new numbers have 64 bits, for the process."""
    global _is_x64
    _is_x64 = builtins.bool(is_wide)


@contextlib.contextmanager
def enable_x64(new_val: builtins.bool = True) -> Iterator[None]:
    """Inside of a ``with`` block, new numbers have 64 bits: for this thread or task only."""
    with _override.being(builtins.bool(new_val)):
        yield


def default_dtype(kind: type) -> DType:
    """The dtype of new numbers of a Python type."""
    return (_WIDE if is_x64() else _NARROW)[kind]


def is_number(x: Any) -> builtins.bool:
    """Whether `x` is a Python number; NumPy's scalars are arrays."""
    return type(x) in _NARROW


def as_dtype(dtype: Any) -> DType:
    """A `DType`; Python's types and dtypes of no set width have 32 bits."""
    return (
        default_dtype(dtype)
        if isinstance(dtype, type) and dtype in _NARROW
        else dtypes.as_dtype(dtype)
    )


def dtype_of(x: Any) -> DType:
    """The dtype of an array, or the default dtype of a Python number."""
    return default_dtype(type(x)) if is_number(x) else dtypes.dtype_of(x)


def result_type(*operands: Any) -> DType:
    """The dtype of a result of arrays, dtypes and Python numbers."""
    strong = [as_dtype(x) if _is_dtype(x) else x for x in operands if not is_number(x)]
    if not strong:
        return dtypes.result_type(*[default_dtype(type(x)) for x in operands])
    numbers = [x for x in operands if is_number(x)]
    found, of_arrays = dtypes.result_type(*strong, *numbers), dtypes.result_type(*strong)
    if found.is_inexact and not of_arrays.is_inexact:
        return default_dtype(complex if found.kind == "complex" else float)
    if found is dtypes.int64 and of_arrays is dtypes.bool:
        return default_dtype(int)
    return found


def _is_dtype(x: Any) -> builtins.bool:
    return not (hasattr(x, "dtype") and hasattr(x, "shape"))


def as_array(x: Any) -> Array:
    """An array; of a Python number, with the default dtype."""
    return na.asarray(x, dtype=default_dtype(type(x))) if is_number(x) else x


def operands(*values: Any) -> tuple[Any, ...]:
    """Operands of an op of nestarray, which then computes in JAX's dtype.

    The op promotes arrays, and Python numbers next to numeric arrays. Numbers among themselves or
    next to bool arrays become arrays of their default dtypes; under `enable_x64` also next to
    integers.
    """
    arrays = [x for x in values if not is_number(x)]
    if len(arrays) == len(values):
        return values
    if not arrays:
        return tuple(map(as_array, values))
    found = [dtypes.dtype_of(x) for x in arrays]
    are_integers = all(dtype.is_integer for dtype in found)
    if dtypes.bool not in found and not (is_x64() and are_integers):
        return _within_range(values, found) if are_integers else values
    dtype, like = result_type(*values), arrays[0]
    return tuple([_full(x, dtype, like) if is_number(x) else x for x in values])


def _within_range(values: tuple[Any, ...], found: list[DType]) -> tuple[Any, ...]:
    """Operands of integer arrays of these dtypes, with Python integers of the dtype of the result."""
    if any(type(x) in (float, complex) for x in values):
        return values
    dtype = found[0] if len(found) == 1 else dtypes.result_type(*found)
    return tuple([_wrapped(x, dtype) if type(x) is int else x for x in values])


def promote(*values: Any) -> tuple[Array, ...]:
    """Arrays of the one dtype of their result."""
    return cast_all(result_type(*values), *values)


def promote_inexact(*values: Any) -> tuple[Array, ...]:
    """Arrays of the one floating or complex dtype of their result."""
    return cast_all(inexact_dtype(*values), *values)


def inexact_dtype(*values: Any) -> DType:
    """The floating or complex dtype of a result; float32 for most integers."""
    found = result_type(*values)
    return found if found.is_inexact else _inexact_of(found)


def _inexact_of(dtype: DType) -> DType:
    """The floating dtype for integers: as wide as the widest ones under `enable_x64`."""
    return dtypes.float64 if is_x64() and dtype.bits == 64 else dtypes.float32


def cast_all(dtype: DTypeLike, *values: Any) -> tuple[Array, ...]:
    """Arrays of `dtype`, from arrays and Python numbers."""
    like = next((x for x in values if not is_number(x)), None)
    return tuple([_full(x, dtype, like) if is_number(x) else cast(x, dtype) for x in values])


def _full(number: Any, dtype: DTypeLike, like: Array | None) -> Array:
    """A number as an array; an integer modulo 2ⁿ, as JAX casts."""
    dtype = dtypes.as_dtype(dtype)
    number = _wrapped(number, dtype) if type(number) is int and dtype.is_integer else number
    return na.full((), number, dtype=dtype, like=like)


def _wrapped(number: int, dtype: DType) -> int:
    """The integer of `dtype` with the low bits of `number`."""
    low = dtypes.iinfo(dtype).min
    return (number - low) % (1 << dtype.bits) + low


def inexact(x: Any) -> Array:
    """`x`, integers as floating numbers."""
    x = as_array(x)
    dtype = dtypes.dtype_of(x)
    return x if dtype.is_inexact else na.astype(x, _inexact_of(dtype))


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
    return saturated(x, wanted)


def saturated(x: Array, dtype: DType) -> Array:
    """`x` in `dtype`; floating numbers beyond an integer dtype of 8 or 16 bits become its limits.

    Infinities and numbers beyond 32 bits are not looked for: upstream leaves them undefined.
    """
    if dtype.is_integer and dtype.bits <= 16:
        source, limits = dtypes.dtype_of(x), dtypes.iinfo(dtype)
        if source.kind == "float":
            exact = x if source.bits >= 32 else na.astype(x, dtypes.float32)
            x = na.clip(exact, limits.min, limits.max)
    return na.astype(x, dtype)


def as_index(x: Array) -> Array:
    """Positions, in JAX's dtype for them."""
    return na.astype(x, default_dtype(int))


def summed_dtype(x: Array) -> DType:
    """The dtype of a sum or product: integers of at least the default width."""
    dtype, wide = dtypes.dtype_of(x), default_dtype(int)
    if dtype is dtypes.bool:
        return wide
    if dtype.is_integer and dtype.bits < wide.bits:
        return dtypes.as_dtype(f"{dtype.kind}{wide.bits}")
    return dtype


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from 0."""
    if not -rank <= axis < rank:
        raise IndexingError(f"axis: got {axis} for an array of rank {rank}")
    return axis % rank


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from 0; all for None."""
    if axis is None:
        return tuple(range(rank))
    several = axis if isinstance(axis, (tuple, list)) else [axis]
    found = tuple([normal_axis(a, rank) for a in several])
    if len({*found}) < len(found):
        raise ArgumentError(f"axis: got {axis}, expected different axes")
    return found
