"""NumPy: `nestarray.ops.sorting`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import refuse_complex, supports
from nestarray.numerics.axes import has_place, one_axis


def _comparable(x: Any) -> Any:
    """`x` for sorting: complex numbers raise, bfloat16 becomes float32.

    NumPy sorts NaN of ml_dtypes' bfloat16 as a number.
    """
    kind = x.dtype.kind
    if kind == "V":
        return x.astype(np.float32)
    if kind == "c":
        refuse_complex(x)
    return x


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.sort.html"""
    ordered = np.sort(_comparable(x), axis=axis, stable=stable).astype(x.dtype, copy=False)
    return np.flip(ordered, axis) if descending else ordered


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.argsort.html"""
    x = _comparable(x)
    if not x.ndim:
        one_axis(axis, 0, "argsort")
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    # Reverse, sort, reverse: equal elements keep their order.
    mirrored = np.argsort(np.flip(x, axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(mirrored, axis)


@supports(has_place)
def argpartition(x: Any, kth: int, /, *, axis: int = -1) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.argpartition.html"""
    return np.argpartition(_comparable(x), kth, axis)
