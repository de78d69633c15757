"""NumPy: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.checks.shapes import check_bitcast
from nestarray.backends.numpy import core
from nestarray.backends.numpy.core import native_dtype


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ndarray.astype.html"""
    cast = np.asarray(x).astype(native_dtype(dtype), copy=copy)
    return cast if device is None else core.to_device(cast, device)


def bitcast(x: Any, dtype: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ndarray.view.html"""
    check_bitcast(x, dtype)
    return np.asarray(x, order="C").view(native_dtype(dtype))


def stop_gradient(x: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/arrays.ndarray.html"""
    return x
