"""NumPy: `nestarray.ops.sets`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.numpy.promotion import promoted


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.isin.html"""
    if getattr(x1, "dtype", x1) is getattr(x2, "dtype", None):
        return np.isin(x1, x2, invert=invert)
    return np.isin(*promoted((x1, x2)), invert=invert)
