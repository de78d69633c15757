"""NumPy: `nestarray.ops.searching`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray.backends.base import refuse_complex, supports
from nestarray.backends.numpy.promotion import cast, has_weak_numbers, promoted
from nestarray.backends.numpy.sorting import _comparable
from nestarray.backends.promotion import choosing
from nestarray.numerics.axes import one_axis


def _placed(search: Callable[..., Any], x: Any, axis: Any, keepdims: bool) -> Any:
    if axis is not None and not x.ndim:
        one_axis(axis, 0, "axis")  # NumPy accepts axes 0 and -1 of a 0-d array
    return search(x, axis, keepdims=keepdims)


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.argmax.html"""
    if x.dtype.kind == "c":
        refuse_complex(x)
    if keepdims is False and x.ndim:
        return x.argmax(axis)
    return _placed(np.argmax, x, axis, keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.argmin.html"""
    if x.dtype.kind == "c":
        refuse_complex(x)
    if keepdims is False and x.ndim:
        return x.argmin(axis)
    return _placed(np.argmin, x, axis, keepdims)


@supports(lambda *_, size=None, **_settings: size is None)
def nonzero(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> tuple[Any, ...]:
    """https://numpy.org/doc/stable/reference/generated/numpy.nonzero.html"""
    return x.nonzero()


where = choosing(np.where, cast, boolean=np.dtype(bool), scalar_ok=has_weak_numbers)


def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.searchsorted.html"""
    if x1.dtype is not getattr(x2, "dtype", None):
        x1, x2 = promoted((x1, x2))
    if x1.dtype.kind in "cV":
        x1, x2 = _comparable(x1), _comparable(x2)
    return x1.searchsorted(x2, side, sorter)
