"""Sums and products of half precision, which NumPy rounds at each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import accumulation_dtype
from nestarray.backends.numpy.core import native_dtype
from nestarray.backends.precision import is_half
from nestarray.numerics.axes import many_axes


def accumulated(total: Any, x: Any, axis: Any, dtype: Any, *settings: Any) -> Any:
    """A sum or a product of `x` in `dtype`; None: the op's dtype.

    NumPy rounds half precision at most steps, so it is computed in float32.
    """
    wanted = accumulation_dtype(x, dtype)
    own = native_dtype(wanted)
    if not is_half(wanted):
        return total(x, axis, own, *settings)
    return total(x.astype(own, copy=False), axis, np.float32, *settings).astype(own)


def checked_axes(x: Any, axis: Any) -> Any:
    """`axis` after a check: NumPy accepts axes 0 and -1 of a 0-d array."""
    if not x.ndim:
        many_axes(axis, 0, "axis")
    return tuple(axis) if axis.__class__ is list else axis
