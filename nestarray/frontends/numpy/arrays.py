"""Arguments and results of NumPy's functions, as arrays of any framework.

NumPy's functions take arrays, numbers and nested lists. The first native array of a call determines
the framework of the result. Numbers and lists have NumPy's dtypes, 64 bits wide; a framework
without a dtype (JAX without ``jax_enable_x64``) computes in the next narrower one.

Source: https://numpy.org/doc/stable/reference/arrays.promotion.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends, dtypes
from nestarray.dtypes import DType
from nestarray.dynamo import ContextVariable
from nestarray.errors import DtypeError, IndexingError, ShapeError, UnsupportedError
from nestarray.typing import NUMBERS, Array

#: Writes of code that is being recorded: takes (out, value) and returns whether `out` was its own.
recorded_write: ContextVariable[Callable[[Any, Any], bool] | None] = ContextVariable(
    "nestarray_numpy_write", default=None
)

_NARROWER = {
    dtypes.float64: dtypes.float32,
    dtypes.complex128: dtypes.complex64,
    dtypes.int64: dtypes.int32,
    dtypes.uint64: dtypes.uint32,
}


def is_number(x: Any) -> bool:
    """Whether `x` is a Python number, which promotion takes as weak."""
    return x.__class__ in NUMBERS  # also of a size that a recorder leaves open


def is_native(x: Any) -> bool:
    """Whether `x` is an array of a framework; NumPy's scalars count as numbers."""
    return backends.backend_of_value(x) is not None and not isinstance(x, np.generic)


def first_array(values: Iterable[Any]) -> Array | None:
    """The array among values, and in their lists, whose framework computes the call.

    It is the first array of a framework other than NumPy, to which NumPy arrays are moved, such as
    constants that the program makes; else the first NumPy array; None without an array.
    """
    found = None
    for x in values:
        if isinstance(x, (list, tuple)):
            x = first_array(x)
        if x is not None and is_native(x):
            if not isinstance(x, np.ndarray):
                return x
            found = x if found is None else found
    return found


def numpy_dtype(x: Any) -> np.dtype[Any]:
    """NumPy's dtype of an array or of a dtype of any framework."""
    dtype = x if isinstance(x, DType) else dtypes.dtype_of(x)
    return backends.core("numpy").native_dtype(dtype)


def available(dtype: Any, like: Array | None) -> DType:
    """The dtype, or the widest narrower one that the framework of `like` has."""
    wanted = dtypes.as_dtype(np.dtype(dtype) if isinstance(dtype, type) else dtype)
    name = "numpy" if like is None else backends.backend_of_value(like)
    while name is not None and wanted in _NARROWER:
        try:
            backends.core(name).native_dtype(wanted)
        except DtypeError:
            wanted = _NARROWER[wanted]
        else:
            break
    return wanted


def cast(x: Array, dtype: Any) -> Array:
    """`x` in a dtype that its framework has."""
    wanted = available(dtype, x)
    if dtypes.dtype_of(x) is wanted:
        return x
    if dtypes.dtype_of(x).kind == "complex" and wanted.kind != "complex":
        x = na.not_equal(x, 0) if wanted is dtypes.bool else na.real(x)
    return na.astype(x, wanted)


def as_array(x: Any, like: Array | None = None, dtype: Any = None) -> Array:
    """`x` as an array of the framework of `like`; lists may contain native arrays."""
    if is_native(x):
        x = moved(x, like)
        return x if dtype is None else cast(x, dtype)
    inner = first_array([x]) if isinstance(x, (list, tuple)) else None
    if inner is not None:
        rows = [as_array(row, inner) for row in x]
        wanted = np.result_type(*map(numpy_dtype, rows)) if dtype is None else dtype
        return na.stack([cast(row, wanted) for row in rows])
    if is_number(x) and type(x) is not x.__class__:
        number: Any = x  # an open size
        wanted = np.dtype(x.__class__) if dtype is None else dtype
        return na.full((), number, dtype=available(wanted, like), like=like)
    values = np.asarray(x, dtype)
    wanted = available(values.dtype, like)
    return na.asarray(values.astype(numpy_dtype(wanted), copy=False), like=like)


def moved(x: Any, like: Array | None) -> Any:
    """A NumPy array (or those in a tuple) on the framework of `like`; other values unchanged."""
    if isinstance(x, tuple):
        return tuple([moved(item, like) for item in x])
    if like is None or not isinstance(x, np.ndarray) or isinstance(like, np.ndarray):
        return x
    wanted = available(x.dtype, like)
    return na.asarray(x.astype(numpy_dtype(wanted), copy=False), like=like)


def positions_on(index: Any, like: Array) -> Any:
    """An index whose lists and NumPy arrays are on the framework of `like`."""
    if isinstance(index, tuple):
        return tuple([positions_on(i, like) for i in index])
    if isinstance(index, list):
        return as_array(index, like, None if index else np.int64)
    return moved(index, like)


def known_values(x: Any) -> np.ndarray | None:
    """The elements on the host; None for an array that is being traced."""
    if hasattr(x, "native"):
        x = x.native
    backend = backends.backend_of_type(type(x))
    if backend is None and hasattr(x, "__traced_backend__"):
        return None
    if backend is not None:
        core = backends.core(backend)
        if core.is_traced(x) or core.is_abstract(x):
            return None
        x = core.to_numpy(x if isinstance(x, np.ndarray) else na.stop_gradient(x))
    elif isinstance(x, (list, tuple)) and first_array(x) is not None:
        rows = [known_values(row) for row in x]
        return None if any(row is None for row in rows) else np.asarray(rows)
    return np.asarray(x)


def check_positions(name: str, positions: Any, size: int) -> None:
    """Raise an IndexError for positions outside of −size … size − 1, if their values are known.

    A mask has no positions.
    """
    values = known_values(positions)
    if values is None or values.dtype == np.bool_:
        return
    outside = values[(values < -size) | (values >= size)]
    if outside.size:
        raise IndexingError(f"{name}: index {outside[0]} is out of bounds for size {size}")


def write(out: Array, value: Array, where: Any = True, casting: Any = "same_kind") -> Array:
    """Write `value` into the memory of `out`, where a mask is true.

    Raises:
        UnsupportedError: the framework's arrays cannot be changed.
        ShapeError: the shapes differ.
        DtypeError: the cast is not allowed by the rule `casting`.
    """
    try:
        own, new = na.shape(out), na.shape(value)
        fits = own == new or np.broadcast_shapes(new, own) == tuple(own)
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"out: got shape {na.shape(out)}, expected {na.shape(value)}")
    source, target = numpy_dtype(value), numpy_dtype(out)
    if not np.can_cast(source, target, casting):
        raise DtypeError(f"out: got an array of {target}, expected one for results of {source}")
    value = cast(value, target)
    if where is not True:
        value = na.where(where, value, out)
    if hasattr(out, "_assign"):  # an `ndarray` of the frontend
        out._assign(value)
        return out
    recorded = recorded_write.get()
    if recorded is not None and recorded(out, value):
        return out
    core = backends.core(str(backends.backend_of_value(out)))
    reason = core.why_constant(out)
    if reason is not None:
        raise UnsupportedError(f"out: got {reason}; use the result of the call")
    core.write(out, value)
    return out
