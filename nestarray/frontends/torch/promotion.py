"""Which dtype a result has, as torch decides it.

Operands fall in three classes: arrays with dimensions, 0-d arrays, Python numbers. A
lower class decides the dtype only if it is of a higher category (bool < integer <
floating < complex); within a class the usual table holds. So ``float32[3] + float64[]``
is float32 in torch, where NumPy and the Array API give float64.

Source: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

from __future__ import annotations

import builtins
import math
from typing import Any, NamedTuple

import nestarray as na
from nestarray import backends, dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError
from nestarray.frontends.torch.dims import ndim_of
from nestarray.typing import Array, DTypeLike

__all__ = [
    "can_cast", "finfo", "iinfo", "is_complex", "is_floating_point", "is_tensor", "promote_types",
    "result_type",
]  # fmt: skip

Number = (builtins.bool, int, float, complex)
_CATEGORY = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}
#: What torch computes in float32 and rounds once.
HALF = (dtypes.float16, dtypes.bfloat16)
_COMPLEX_OF = {
    dtypes.float16: dtypes.complex64,
    dtypes.bfloat16: dtypes.complex64,
    dtypes.float32: dtypes.complex64,
    dtypes.float64: dtypes.complex128,
}


def is_number(x: Any) -> bool:
    """Whether `x` is a Python number and not an array (NumPy's scalars are 0-d arrays)."""
    return isinstance(x, Number) and not hasattr(x, "dtype")


def promote_types(type1: DTypeLike, type2: DTypeLike) -> DType:
    """torch.promote_types."""
    return dtypes.promote_types(dtypes.as_dtype(type1), dtypes.as_dtype(type2))


def _combine(higher: DType | None, lower: DType | None) -> DType | None:
    """The dtype of two classes of operands, of which `higher` has priority."""
    if higher is None or lower is None:
        return higher if lower is None else lower
    if _CATEGORY[lower.kind] <= _CATEGORY[higher.kind]:
        return higher
    if lower.kind == "complex":
        return _COMPLEX_OF.get(higher, lower)
    return dtypes.promote_types(higher, lower)


def result_type(*operands: Any) -> DType:
    """torch.result_type, of any number of arrays and Python numbers."""
    classes: list[DType | None] = [None, None, None]
    for x in operands:
        rank = 2 if is_number(x) else 1 if ndim_of(x) == 0 else 0
        dtype = dtypes.dtype_of(x)
        before = classes[rank]
        classes[rank] = dtype if before is None else dtypes.promote_types(before, dtype)
    result = _combine(_combine(classes[0], classes[1]), classes[2])
    if result is None:
        raise ArgumentError("got no arrays, expected at least one")
    return result


def cast(x: Array, dtype: DTypeLike) -> Array:
    """`x` as `dtype`; unchanged if it has this dtype. Complex numbers lose their imaginary part."""
    source, wanted = dtypes.dtype_of(x), dtypes.as_dtype(dtype)
    if source is wanted:
        return x
    if source.kind == "complex" and wanted.kind != "complex":
        x = na.not_equal(x, 0) if wanted is dtypes.bool else na.real(x)
    return na.astype(x, dtype)


def to_array(x: Any, dtype: DTypeLike, like: Array) -> Array:
    """An array of `dtype`, from an array or from a Python number next to the array `like`."""
    if not is_number(x):
        return cast(x, dtype)
    return na.full((), _held(x, dtypes.as_dtype(dtype)), dtype=dtype, like=like)


def fill_number(name: str, x: Any, dtype: DTypeLike) -> Any:
    """Check a Python number as a fill value for `dtype`; negative numbers wrap in unsigned dtypes.

    Raises:
        ArgumentError: the dtype is too small for the integer.
    """
    wanted = dtypes.as_dtype(dtype)
    if type(x) is not int or not wanted.is_integer:
        return x
    info = na.iinfo(wanted)
    if not (-info.max if wanted.kind == "uint" else info.min) <= x <= info.max:
        raise ArgumentError(
            f"{name}: got {x} for elements of {wanted}, expected a number from {info.min} to "
            f"{info.max}; cast the array to a wider dtype first"
        )
    return _held(x, wanted)


def _held(x: Any, dtype: DType) -> Any:
    """A Python number in `dtype`: integers wrap modulo 2 to the number of bits."""
    if type(x) is not int or 0 <= x < 128 or not dtype.is_integer:
        return x
    x &= (1 << dtype.bits) - 1
    return x if dtype.kind == "uint" or not x >> (dtype.bits - 1) else x - (1 << dtype.bits)


def promote(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands for an op of `nestarray`, such that it computes in torch's dtype.

    Python numbers are unchanged: torch and nestarray both treat them as weakly typed.
    """
    if is_number(y):
        if is_number(x):
            expect_array(x, y)
        return x, _held(y, dtypes.dtype_of(x))
    if is_number(x):
        return _held(x, dtypes.dtype_of(y)), y
    first, second = dtypes.dtype_of(x), dtypes.dtype_of(y)
    if first is second:
        return x, y
    dtype = result_type(x, y)
    return cast(x, dtype), cast(y, dtype)


def expect_array(*operands: Any) -> None:
    """An error unless one of the operands is an array.

    Raises:
        ArgumentError: all are Python numbers.
    """
    if all(is_number(x) for x in operands):
        raise ArgumentError(
            f"got {' and '.join(map(repr, operands))}, expected at least one array; "
            "torch.tensor makes one of a number"
        )


def expect_one_dtype(name: str, input: Array, **others: Array | None) -> None:
    """An error unless the other arrays of a function that does not promote have `input`'s dtype.

    In ``torch.autocast``, PyTorch casts its tensors.

    Raises:
        DtypeError: names the function, the argument and both dtypes.
    """
    dtype = dtypes.dtype_of(input)
    for argument, x in others.items():
        if x is not None and dtypes.dtype_of(x) is not dtype and not _is_cast(input):
            raise DtypeError(
                f"{name}: {argument}: got {dtypes.dtype_of(x).name}, expected {dtype.name} as input has"
            )


def _is_cast(x: Array) -> bool:
    return na.backend_of(x) == "torch" and backends.chapter("torch", "autocast").casts(x)


def promote_arrays(*operands: Any) -> tuple[Array, ...]:
    """Operands, at least one an array, all as arrays of their `result_type`."""
    dtype = result_type(*operands)
    expect_array(*operands)
    like = next(x for x in operands if not is_number(x))
    return tuple(to_array(x, dtype, like) for x in operands)


def floating(x: Array) -> Array:
    """`x`, integers and booleans as float32: torch's rule for functions with real values."""
    return x if dtypes.dtype_of(x).is_inexact else na.astype(x, dtypes.float32)


def accumulating(x: Array, dtype: DTypeLike | None = None) -> Array:
    """`x` as `dtype`; without one, integers and booleans as int64: torch's rule for sums."""
    if dtype is not None:
        return cast(x, dtype)
    return x if dtypes.dtype_of(x).is_inexact else na.astype(x, dtypes.int64)


class FloatInfo(NamedTuple):
    """torch.finfo: limits of a floating dtype, or of the parts of a complex dtype."""

    bits: int
    max: float
    min: float
    eps: float
    tiny: float
    smallest_normal: float
    resolution: float
    dtype: str


def finfo(type: DTypeLike = dtypes.float32) -> FloatInfo:
    """torch.finfo."""
    info = na.finfo(type)
    digits = int(-math.log10(info.eps))
    tiny = info.smallest_normal
    name = info.dtype.name
    return FloatInfo(info.bits, info.max, info.min, info.eps, tiny, tiny, 10.0**-digits, name)


def iinfo(type: DTypeLike) -> dtypes.IntegerInfo:
    """torch.iinfo: the limits of an integer dtype."""
    return na.iinfo(type)


def is_tensor(obj: Any) -> builtins.bool:
    """torch.is_tensor: whether `obj` is an array of one of the frameworks."""
    return backends.is_array(obj)


def is_floating_point(input: Array) -> builtins.bool:
    """torch.is_floating_point."""
    return dtypes.dtype_of(input).is_floating


def is_complex(input: Array) -> builtins.bool:
    """torch.is_complex."""
    return dtypes.dtype_of(input).kind == "complex"


def can_cast(from_: DTypeLike, to: DTypeLike) -> builtins.bool:
    """torch.can_cast: bool, integer, floating, complex, and never back."""
    source, target = dtypes.as_dtype(from_), dtypes.as_dtype(to)
    return _CATEGORY[source.kind] <= _CATEGORY[target.kind]
