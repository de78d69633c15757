"""NumPy: `nestarray.ops.searching`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import choosing, promoted, supports
from nestarray.backends.numpy.elementwise import _cast, _has_weak_numbers

argmax = np.argmax
argmin = np.argmin


@supports("size is None")
def nonzero(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> tuple[Any, ...]:
    """https://numpy.org/doc/stable/reference/generated/numpy.nonzero.html"""
    return x.nonzero()


where = choosing(np.where, _cast, boolean=np.dtype(bool), scalar_ok=_has_weak_numbers)


def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.searchsorted.html"""
    if x1.dtype is not getattr(x2, "dtype", None):
        x1, x2 = promoted((x1, x2), _cast)
    return x1.searchsorted(x2, side, sorter)
