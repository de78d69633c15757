"""NumPy's dtypes and constants; questions about dtypes take arrays of any framework.

Upstream: https://numpy.org/doc/stable/reference/routines.dtype.html
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
from numpy import (
    ScalarType,
    bool,
    bool_,
    byte,
    cdouble,
    character,
    clongdouble,
    complex64,
    complex128,
    complexfloating,
    csingle,
    double,
    dtype,
    e,
    errstate,
    euler_gamma,
    finfo,
    flexible,
    float16,
    float32,
    float64,
    floating,
    generic,
    geterr,
    half,
    iinfo,
    index_exp,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    integer,
    intp,
    isdtype,
    isscalar,
    issubdtype,
    little_endian,
    long,
    longdouble,
    longlong,
    mintypecode,
    nan,
    ndenumerate,
    ndindex,
    newaxis,
    number,
    object_,
    pi,
    promote_types,
    s_,
    sctypeDict,
    seterr,
    short,
    signedinteger,
    single,
    typename,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulong,
    ulonglong,
    unsignedinteger,
    ushort,
)  # fmt: skip

import nestarray as na
from nestarray.frontends.jax.numpy import iterable
from nestarray.frontends.numpy.arrays import is_native, numpy_dtype
from nestarray.frontends.numpy.ndarray import ndarray

__all__ = [
    "ScalarType",
    "bool",
    "bool_",
    "byte",
    "can_cast",
    "cdouble",
    "character",
    "clongdouble",
    "common_type",
    "complex64",
    "complex128",
    "complexfloating",
    "csingle",
    "double",
    "dtype",
    "e",
    "errstate",
    "euler_gamma",
    "finfo",
    "flexible",
    "float16",
    "float32",
    "float64",
    "floating",
    "generic",
    "geterr",
    "half",
    "iinfo",
    "index_exp",
    "inexact",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "intc",
    "integer",
    "intp",
    "iscomplexobj",
    "isdtype",
    "isfortran",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "little_endian",
    "long",
    "longdouble",
    "longlong",
    "min_scalar_type",
    "mintypecode",
    "nan",
    "ndarray",
    "ndenumerate",
    "ndindex",
    "newaxis",
    "number",
    "object_",
    "pi",
    "promote_types",
    "result_type",
    "s_",
    "sctypeDict",
    "seterr",
    "short",
    "signedinteger",
    "single",
    "typename",
    "ubyte",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "unsignedinteger",
    "ushort",
]  # fmt: skip


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype of a result of arrays, dtypes and Python numbers."""
    return np.result_type(*[numpy_dtype(x) if is_native(x) else x for x in arrays_and_dtypes])


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> builtins.bool:
    """Whether a cast from a dtype (or the dtype of an array) is allowed."""
    return np.can_cast(numpy_dtype(from_) if is_native(from_) else from_, to, casting)


def common_type(*arrays: Any) -> Any:
    """The floating dtype for results of arrays, as a type."""
    return np.common_type(*[np.empty(0, numpy_dtype(x)) for x in arrays])


def min_scalar_type(a: Any, /) -> np.dtype[Any]:
    """The smallest dtype of a scalar; the dtype of an array with axes."""
    if is_native(a) and na.shape(a):
        return numpy_dtype(a)
    return np.min_scalar_type(na.to_backend(a, "numpy") if is_native(a) else a)


def iscomplexobj(x: Any) -> builtins.bool:
    """Whether the dtype is complex."""
    return np.iscomplexobj(x) if not is_native(x) else numpy_dtype(x).kind == "c"


def isrealobj(x: Any) -> builtins.bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def isfortran(a: Any) -> builtins.bool:
    """False: arrays of other frameworks have no order that programs could rely on."""
    return isinstance(a, np.ndarray) and np.isfortran(a)
