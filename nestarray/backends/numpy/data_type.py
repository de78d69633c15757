"""NumPy: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.numpy import core
from nestarray.backends.numpy.core import native_dtype


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ndarray.astype.html"""
    cast = np.asarray(x).astype(native_dtype(dtype), copy=copy)
    return cast if device is None else core.to_device(cast, device)


def stop_gradient(x: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/arrays.ndarray.html"""
    return x
