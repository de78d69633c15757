"""Dtypes: names, limits and promotion.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import (
    DType,
    bfloat16,
    bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from nestarray.frontends.jax import arrays, promotion
from nestarray.frontends.jax.promotion import as_array, as_dtype, dtype_of, is_number
from nestarray.typing import Array, DTypeLike

__all__ = [
    "ComplexWarning",
    "astype",
    "bfloat16",
    "bool",
    "bool_",
    "can_cast",
    "cdouble",
    "character",
    "complex64",
    "complex128",
    "complex_",
    "complexfloating",
    "csingle",
    "double",
    "dtype",
    "e",
    "euler_gamma",
    "finfo",
    "flexible",
    "float16",
    "float32",
    "float64",
    "float_",
    "floating",
    "generic",
    "iinfo",
    "inexact",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "integer",
    "iscomplexobj",
    "isdtype",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "nan",
    "ndarray",
    "ndim",
    "newaxis",
    "number",
    "object_",
    "pi",
    "promote_types",
    "result_type",
    "shape",
    "signedinteger",
    "single",
    "size",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unsignedinteger",
]  # fmt: skip

e, euler_gamma, inf, nan, newaxis, pi = (
    math.e,
    0.5772156649015329,
    math.inf,
    math.nan,
    None,
    math.pi,
)
#: Upstream's names of its default dtypes, which have 32 bits here, and of NumPy's.
bool_, int_, uint, float_, complex_ = bool, int32, uint32, float32, complex64
single, double, csingle, cdouble = float32, float64, complex64, complex128
dtype = DType
ndarray = arrays.Array
ComplexWarning = np.exceptions.ComplexWarning

#: Abstract dtypes, for `issubdtype` → the kinds that belong to them.
generic, number, inexact, integer = "generic", "number", "inexact", "integer"
signedinteger, unsignedinteger = "signedinteger", "unsignedinteger"
floating, complexfloating = "floating", "complexfloating"
character, flexible, object_ = "character", "flexible", "object_"  # arrays have none of these
_KINDS = {
    generic: ("bool", "int", "uint", "float", "complex", "character", "void", "object"),
    object_: ("object",),
    flexible: ("character", "void"),
    character: ("character",),
    number: ("int", "uint", "float", "complex"),
    integer: ("int", "uint"),
    signedinteger: ("int",),
    unsignedinteger: ("uint",),
    inexact: ("float", "complex"),
    floating: ("float",),
    complexfloating: ("complex",),
}


def issubdtype(arg1: Any, arg2: Any) -> builtins.bool:
    """Whether a dtype is another one, or belongs to an abstract one such as ``jnp.floating``."""
    kind = _abstract(arg1)
    if kind is not None:
        other = _abstract(arg2)
        return other is not None and set(_KINDS[kind]) <= set(_KINDS[other])
    kinds = _KINDS.get(_abstract(arg2) or "")
    return as_dtype(arg1) is as_dtype(arg2) if kinds is None else as_dtype(arg1).kind in kinds


def _abstract(x: Any) -> str | None:
    """The name of an abstract dtype, of this module or of NumPy; None for others."""
    name = x if isinstance(x, str) else getattr(x, "__name__", "")
    return name if name in _KINDS else None


def result_type(*args: Any) -> DType:
    """The dtype of a result of arrays, dtypes and Python numbers."""
    return promotion.result_type(*args)


def promote_types(a: DTypeLike, b: DTypeLike) -> DType:
    """The dtype of a result of two dtypes; Python's types are weak."""
    weak = [x(1) for x in (a, b) if x in (builtins.bool, int, float, complex)]
    strong = [as_dtype(x) for x in (a, b) if x not in (builtins.bool, int, float, complex)]
    return promotion.result_type(*strong, *weak)


def can_cast(from_: Any, to: Any, casting: str = "safe") -> builtins.bool:
    """Whether a cast keeps all values ("safe"), the kind ("same_kind"), or anything ("unsafe")."""
    source = dtype_of(from_) if hasattr(from_, "shape") or is_number(from_) else as_dtype(from_)
    target = as_dtype(to)
    if casting in ("no", "equiv"):
        return source is target
    order = ("bool", "uint", "int", "float", "complex")
    if casting == "unsafe" or (
        casting == "same_kind" and order.index(source.kind) <= order.index(target.kind)
    ):
        return True
    return source is target or _holds(source, target)


def _holds(source: DType, target: DType) -> builtins.bool:
    """Whether each number of `source` is one of `target`."""
    if target.kind == "bool" or source.kind == "complex" > target.kind:
        return False
    if source.kind == "bool":
        return True
    if source.is_integer and target.is_integer:
        ours, theirs = dtypes.iinfo(source), dtypes.iinfo(target)
        return theirs.min <= ours.min and ours.max <= theirs.max
    if not target.is_inexact or (source.kind == "complex" and target.kind != "complex"):
        return False
    if source.is_integer:
        return (
            source.bits <= {16: 8, 32: 16, 64: 64}[_part(target).bits] or _part(target).bits == 64
        )
    return _part(source).bits < _part(target).bits or _part(source) is _part(target)


def _part(dtype: DType) -> DType:
    return promotion.real_dtype(dtype)


def astype(x: Array, dtype: DTypeLike, /, *, copy: builtins.bool = False) -> Array:
    """`x` in another dtype; complex numbers lose their imaginary part."""
    return promotion.cast(x, dtype)


def finfo(dtype: DTypeLike) -> dtypes.FloatInfo:
    """The limits of a floating dtype."""
    return dtypes.finfo(dtype)


def iinfo(int_type: DTypeLike) -> dtypes.IntegerInfo:
    """The limits of an integer dtype."""
    return dtypes.iinfo(int_type)


def iscomplexobj(x: Any) -> builtins.bool:
    """Whether the dtype is complex."""
    return dtype_of(x).kind == "complex"


def isrealobj(x: Any) -> builtins.bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> builtins.bool:
    """Whether `element` is a number or an array of rank 0."""
    return is_number(element) or (hasattr(element, "dtype") and len(na.shape(element)) == 0)


def iterable(y: Any) -> builtins.bool:
    """Whether `y` can be iterated."""
    if hasattr(y, "shape"):
        return len(na.shape(y)) > 0
    return hasattr(y, "__iter__")


def shape(a: Any) -> tuple[int, ...]:
    """The sizes of the axes."""
    return na.shape(as_array(a))


def ndim(a: Any) -> int:
    """The number of axes."""
    return len(shape(a))


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, or their number along axes."""
    sizes = shape(a)
    return math.prod([sizes[i] for i in promotion.axes_of(axis, len(sizes))])
