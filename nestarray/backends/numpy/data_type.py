"""NumPy: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.numpy.core import native_dtype


def astype(x: Any, dtype: Any, *, copy: bool = True) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ndarray.astype.html"""
    return np.asarray(x).astype(native_dtype(dtype), copy=copy)


def stop_gradient(x: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/arrays.ndarray.html"""
    return x
