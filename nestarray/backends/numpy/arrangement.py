"""NumPy: `nestarray.ops.arrangement`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import lenient, supports
from nestarray.backends.fast_paths import at_defaults


def _is_plane(x: Any, axes: Any) -> bool:
    """Whether `axes` are two different axes of `x`; the body has words for others."""
    if len(axes) != 2 or not all(-x.ndim <= a < x.ndim for a in axes):
        return False
    return (axes[0] - axes[1]) % x.ndim != 0


@at_defaults("np.rot90(x)", where="x.ndim > 1")
@supports("(axes == (0, 1) and x.ndim > 1) or _is_plane(x, axes)")
@lenient
def rot90(x: Any, /, *, k: int = 1, axes: Any = (0, 1)) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.rot90.html"""
    return np.rot90(x, k, axes)
