"""Helpers shared by the chapters of several backends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from nestarray import dtypes
from nestarray.errors import DtypeError
from nestarray.typing import is_unknown_size

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


def supports(predicate: Callable[..., bool]) -> Callable[[F], F]:
    """Mark a backend function that covers only the calls for which `predicate` returns True.

    `predicate` takes the arguments of the op. The op's default body computes the other calls.
    """

    def mark(native: F) -> F:
        native.supports = predicate  # type: ignore[attr-defined]
        return native

    return mark


def have_one_dtype(*arrays: Any) -> bool:
    """Whether arrays have one floating dtype; Python numbers after the first are weakly typed."""
    dtype = getattr(arrays[0], "dtype", None)
    if dtype is None or not dtypes.as_dtype(dtype).is_floating:
        return False
    return all(x.__class__ is float or getattr(x, "dtype", None) == dtype for x in arrays[1:])


def lengths(shape: Any) -> Any:
    """`shape` if it contains no bool; for frameworks that read True as 1.

    Raises:
        TypeError: it contains a bool; the op converts this to an `ArgumentError`.
    """
    if shape.__class__ is bool or (shape.__class__ in (tuple, list) and bool in map(type, shape)):
        raise TypeError(f"got {shape!r}, expected lengths")
    return shape


def whole_range(start: Any, stop: Any = None, step: Any = 1, **settings: Any) -> bool:
    """Whether a range has integer ends and step; for these all frameworks agree."""
    ends = (start, 0 if stop is None else stop)
    return type(step) is int and all(_is_size(x) for x in ends)


def _is_size(x: Any) -> bool:
    if type(x) is int or is_unknown_size(x):
        return True
    is_symbol = hasattr(x, "__index__") and not hasattr(x, "dtype")  # `torch.SymInt`
    return is_symbol and not isinstance(x, bool)


def accumulation_dtype(x: Any, dtype: Any) -> dtypes.DType:
    """The dtype of a sum or product of `x`: `dtype`, or the widest integer of its kind."""
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    own = dtypes.dtype_of(x)
    if own.is_inexact:
        return own
    return dtypes.uint64 if own.kind == "uint" else dtypes.int64


def mean_dtype(x: Any) -> dtypes.DType:
    """The dtype of a mean of `x`: its own, or float32 for integers and bools."""
    own = dtypes.dtype_of(x)
    return own if own.is_inexact else dtypes.float32


def refuse_complex(x: Any) -> None:
    """Raise NotImplementedError for complex numbers, as frameworks do for a missing kernel.

    Raises:
        NotImplementedError: `x` is complex; the op converts this to a `DtypeError`.
    """
    if dtypes.dtype_of(x).kind == "complex":
        raise NotImplementedError("not implemented for complex numbers")


def refuse_integers(x: Any) -> None:
    """Like `refuse_complex`, for integers and bools in functions of floats.

    Raises:
        NotImplementedError: `x` is neither real nor complex floating.
    """
    if not dtypes.dtype_of(x).is_inexact:
        raise NotImplementedError("not implemented for 'integers'")


def has_freedom(
    x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False
) -> bool:
    """Whether a variance has more elements than `correction`; the standard has NaN elsewhere."""
    if not correction:
        return True
    axes = (
        axis if isinstance(axis, (tuple, list)) else range(len(x.shape)) if axis is None else [axis]
    )
    return math.prod([x.shape[a] for a in axes]) > correction


def clip_dtype(x: Any, *bounds: Any) -> dtypes.DType:
    """The dtype of `x` after clipping: its own, or the promoted one if a bound has a higher kind.

    Raises:
        NotImplementedError: one is complex; see `refuse_complex`.
    """
    own = dtypes.dtype_of(x)
    promoted = dtypes.result_dtype(x, *(b for b in bounds if b is not None))
    if promoted.kind == "complex":
        raise NotImplementedError("not implemented for complex numbers")
    return promoted if promoted.is_inexact and not own.is_inexact else own


def parts_dtype(op: str, **parts: Any) -> dtypes.DType:
    """The common dtype of real and imaginary parts: float32 or float64.

    Raises:
        DtypeError: a part is complex.
    """
    for name, part in parts.items():
        if dtypes.dtype_of(part).kind == "complex":
            raise DtypeError(f"{op}: {name}: got {dtypes.dtype_of(part)}, expected a real dtype")
    wide = dtypes.result_dtype(*parts.values()) is dtypes.float64
    return dtypes.float64 if wide else dtypes.float32
