"""NumPy: `nestarray.ops.order_statistics`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import lenient, refuse_complex
from nestarray.backends.fast_paths import at_defaults
from nestarray.backends.numpy.core import ORDERED  # noqa: F401  # in conditions given as text


@at_defaults("np.ptp(x, axis)", where="x.dtype in ORDERED")
@lenient
def ptp(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ptp.html"""
    if x.dtype.kind == "c":
        refuse_complex(x)
    return np.ptp(x, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)
