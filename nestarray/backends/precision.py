"""Computation in single precision, rounded to half precision at the end.

LAPACK factors matrices of float32, float64, complex64 and complex128 only. Half precision is
computed in float32 and cast back; integers and bools become float32, as in all floating functions.
Sums and squares of half precision are also computed in float32: a sum of ones in bfloat16 stops at
256, and squares of numbers above 255 overflow float16.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from nestarray import dtypes
from nestarray.backends import xp
from nestarray.backends.base import F
from nestarray.dtypes import dtype_of

#: The dtypes of LAPACK.
PRECISE = frozenset((dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128))
_PRECISE_OR_INTEGERS = frozenset(d for d in dtypes.ALL if d.bits > 16 or not d.is_inexact)


def in_single_precision(
    cast: Callable[[Any, Any], Any], *, arrays: tuple[int, ...] = (0,), integers: bool = False
) -> Callable[[F], F]:
    """Extend a function of matrices to every real dtype.

    Args:
        cast: ``cast(x, dtype)`` converts an array to `dtype`.
        arrays: the positions of the array arguments that promote.
        integers: the function supports integers.

    Returns:
        a decorator.
    """
    taken = _PRECISE_OR_INTEGERS if integers else PRECISE

    def decorate(native: F) -> F:
        def widened(*args: Any, **kwargs: Any) -> Any:
            own = dtypes.result_dtype(*(args[i] for i in arrays))
            wide = own if own in taken else dtypes.float32
            given = [cast(a, wide) if i in arrays else a for i, a in enumerate(args)]
            result = native(*given, **kwargs)
            return _narrowed(result, own, cast) if own.is_inexact and wide is not own else result

        known: set[Any] = set()  # native dtypes that `native` supports

        @wraps(native)
        def call(*args: Any, **kwargs: Any) -> Any:
            for i in arrays:
                if getattr(args[i], "dtype", None) not in known:
                    break
            else:
                return native(*args, **kwargs)
            if any(dtype_of(args[i]) not in taken for i in arrays):
                return widened(*args, **kwargs)
            known.update(args[i].dtype for i in arrays if hasattr(args[i], "dtype"))
            return native(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def _narrowed(result: Any, own: dtypes.DType, cast: Callable[[Any, Any], Any]) -> Any:
    """The real floating arrays of `result`, cast to the half precision of the arguments."""
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(_narrowed(part, own, cast) for part in result))
    return cast(result, own) if dtype_of(result) is dtypes.float32 else result


def is_half(dtype: dtypes.DType) -> bool:
    """Whether it is float16 or bfloat16."""
    return dtype.is_floating and dtype.bits == 16


def rounded_once(body: F) -> F:
    """An op's body that computes in float32 if its first array has half precision."""

    @wraps(body)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        own = dtype_of(x)
        if not is_half(own):
            return body(x, *args, **kwargs)

        def cast(value: Any, old: dtypes.DType, new: dtypes.DType) -> Any:
            is_old = hasattr(value, "dtype") and dtype_of(value) is old
            return xp.astype(value, new) if is_old else value

        wide = [cast(value, own, dtypes.float32) for value in (x, *args)]
        named = {name: cast(value, own, dtypes.float32) for name, value in kwargs.items()}
        result = body(*wide, **named)
        if isinstance(result, tuple):
            return tuple([cast(part, dtypes.float32, own) for part in result])
        return cast(result, dtypes.float32, own)

    return call  # type: ignore[return-value]
