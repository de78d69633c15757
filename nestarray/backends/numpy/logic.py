"""NumPy: `nestarray.ops.logic`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.numpy.promotion import ordering, promoting

_BOOL = np.dtype(bool)

isfinite = np.isfinite
isinf = np.isinf
isneginf = np.isneginf
isposinf = np.isposinf
isnan = np.isnan
logical_not = np.logical_not
signbit = np.signbit
bitwise_invert = np.bitwise_invert

equal = promoting(np.equal, compares=True)
not_equal = promoting(np.not_equal, compares=True)
less = ordering(np.less, compares=True)
less_equal = ordering(np.less_equal, compares=True)
greater = ordering(np.greater, compares=True)
greater_equal = ordering(np.greater_equal, compares=True)
bitwise_and = promoting(np.bitwise_and)
bitwise_or = promoting(np.bitwise_or)
bitwise_xor = promoting(np.bitwise_xor)
bitwise_left_shift = promoting(np.left_shift, declined=_BOOL)
bitwise_right_shift = promoting(np.right_shift, declined=_BOOL)

logical_and = np.logical_and
logical_or = np.logical_or
logical_xor = np.logical_xor


def isclose(
    x1: Any, x2: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.isclose.html"""
    return np.isclose(x1, x2, rtol, atol, equal_nan)
