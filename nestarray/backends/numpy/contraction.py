"""NumPy: `nestarray.ops.contraction`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends.numpy.core import in_dtype
from nestarray.backends.numpy.promotion import cast, promoted, promoting
from nestarray.numerics.axes import check_contracted


def _matmul(x1: Any, x2: Any, /) -> Any:
    found = np.matmul(x1, x2)
    return found if found.dtype is x1.dtype else in_dtype(found, x1.dtype)


matmul = promoting(_matmul)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.tensordot.html"""
    if getattr(x1, "dtype", x1) is not getattr(x2, "dtype", None):
        x1, x2 = promoted((x1, x2))
    check_contracted(axes, "tensordot")
    found = np.tensordot(x1, x2, axes)
    return found if found.dtype is x1.dtype else in_dtype(found, x1.dtype)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.vecdot.html"""
    if x1.dtype is not x2.dtype:
        x1, x2 = promoted((x1, x2))
    found = np.vecdot(x1, x2) if axis == -1 else np.vecdot(x1, x2, axis=axis)
    return found if found.dtype is x1.dtype else in_dtype(found, x1.dtype)


def einsum(subscripts: str, /, *operands: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.einsum.html"""
    operands = tuple(promoted(operands))
    dtype = operands[0].dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":  # np.einsum rounds sums at each step
        operands = tuple(cast(x, dtypes.float32) for x in operands)
    return in_dtype(np.einsum(subscripts, *operands, optimize=True), dtype)
