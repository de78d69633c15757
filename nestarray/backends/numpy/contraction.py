"""NumPy: `nestarray.ops.contraction`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import promoted, promoting
from nestarray.backends.numpy.elementwise import _cast

matmul = promoting(np.matmul, _cast)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.tensordot.html"""
    return np.tensordot(*promoted((x1, x2), _cast), axes=axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.vecdot.html"""
    return np.vecdot(*promoted((x1, x2), _cast), axis=axis)


def einsum(subscripts: str, /, *operands: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.einsum.html"""
    return np.einsum(subscripts, *promoted(operands, _cast), optimize=True)
