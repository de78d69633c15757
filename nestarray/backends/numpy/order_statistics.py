"""NumPy: `nestarray.ops.order_statistics`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import refuse_complex
from nestarray.backends.numpy.accumulation import checked_axes


def ptp(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ptp.html"""
    if x.dtype.kind == "c":
        refuse_complex(x)
    if axis is not None:
        axis = checked_axes(x, axis)
    return np.ptp(x, axis=axis, keepdims=keepdims)
