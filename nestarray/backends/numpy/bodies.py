"""NumPy: default bodies of ops on bfloat16 (computed in float32) and on integers.

NumPy's bfloat16 comes from ml_dtypes: Python numbers are not weak with it, and many functions
convert it to float32. Results are rounded once.
Unlike other frameworks, NumPy promotes integers with a Python float or a float32 array to float64;
without 64-bit arguments the result is cast to 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends.numpy.core import in_dtype, native_dtype
from nestarray.dtypes import dtype_of
from nestarray.errors import DtypeError

#: Chapters whose ops copy elements or handle half precision themselves.
_AS_THEY_ARE = (
    "conversion",
    "creation",
    "data_type",
    "indexing",
    "manipulation",
    "random",
    "rejection",
    "sets",
    "signal",
)

#: Ops that draw numbers in the dtype of an argument: other numbers than in float32.
_DRAWING = ("gumbel_softmax", "rrelu")

_SEQUENCES = (list, tuple)

#: NumPy's dtype of integers with a Python number → the dtype of the other frameworks.
_DOUBLE = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}


def adapted(body: Callable[..., Any], promoted: Sequence[str]) -> Callable[..., Any]:
    """`body`, for arguments of every dtype.

    Args:
        body: of an op.
        promoted: the arguments that determine the dtype of the result; empty: all.
    """
    if body.__module__.rpartition(".")[2] in _AS_THEY_ARE or body.__name__ in _DRAWING:
        return body

    def deciding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not promoted:
            return args, kwargs
        given = dict(zip(signature(body).parameters, args)) | kwargs
        return [given.get(name) for name in promoted]

    @wraps(body)
    def call(*args: Any, **kwargs: Any) -> Any:
        is_ordinary = not _holds_other_than_floats(args)
        if is_ordinary and not (kwargs and _holds_other_than_floats(kwargs.values())):
            return body(*args, **kwargs)
        found = {x.dtype for x in _arrays((args, kwargs))}
        is_guest = any(dtype.kind == "V" for dtype in found)
        result = _in_single_precision(body, args, kwargs) if is_guest else body(*args, **kwargs)
        if kwargs.get("dtype") is not None:
            return result
        if is_guest and _are_narrow(deciding(args, kwargs)):
            return _cast(result, np.dtype(np.float32), native_dtype(dtypes.bfloat16))
        is_as_it_is = is_guest or not found.isdisjoint(_DOUBLE)
        return result if is_as_it_is else _without_doubles(result)

    return call


def _holds_other_than_floats(values: Iterable[Any]) -> bool:
    """Whether an argument is not an array of NumPy's own floats."""
    for x in values:
        dtype = getattr(x, "dtype", None)
        if dtype is None:
            if x.__class__ in _SEQUENCES and _holds_other_than_floats(x):
                return True
        elif dtype.kind in "Viub":
            return True
    return False


def _in_single_precision(
    body: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`body` of the arguments with bfloat16 cast to float32."""
    cast_args, cast_kwargs = _cast(
        (args, kwargs), native_dtype(dtypes.bfloat16), np.dtype(np.float32)
    )
    try:
        return body(*cast_args, **cast_kwargs)
    except DtypeError:
        body(*args, **kwargs)  # its error names the original dtype
        raise


def _are_narrow(nest: Any) -> bool:
    """Whether the floating arrays of a nest are bfloat16."""
    floating = [d for x in _arrays(nest) if (d := dtype_of(x)).is_inexact]
    return all(d is dtypes.bfloat16 for d in floating)


def _without_doubles(result: Any) -> Any:
    for wide, single in _DOUBLE.items():
        result = _cast(result, wide, single)
    return result


def _arrays(nest: Any) -> Iterator[Any]:
    if isinstance(nest, (np.ndarray, np.generic)):
        yield nest
    elif isinstance(nest, (list, tuple)):
        for item in nest:
            yield from _arrays(item)
    elif isinstance(nest, dict):
        yield from _arrays(list(nest.values()))


def _cast(nest: Any, old: Any, new: Any) -> Any:
    """The nest with arrays of dtype `old` cast to `new`."""
    if isinstance(nest, (np.ndarray, np.generic)):
        return in_dtype(nest, new) if nest.dtype == old else nest
    if isinstance(nest, (list, tuple)):
        items = [_cast(item, old, new) for item in nest]
        return type(nest)(*items) if hasattr(nest, "_fields") else type(nest)(items)
    if isinstance(nest, dict):
        return {key: _cast(item, old, new) for key, item in nest.items()}
    return nest
