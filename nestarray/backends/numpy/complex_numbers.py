"""NumPy: `nestarray.ops.complex_numbers`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import parts_dtype
from nestarray.backends.numpy.core import native_dtype


def complex(real: Any, imag: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.real.html"""
    part = native_dtype(parts_dtype("complex", real=real, imag=imag))
    shape = np.broadcast_shapes(np.shape(real), np.shape(imag))
    # real + 1j * imag would give NaN for ∞ and lose the sign of zeros
    result = np.empty(shape, np.result_type(part, np.complex64))
    result.real, result.imag = real, imag
    return result
