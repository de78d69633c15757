"""NumPy: `nestarray.ops.arrangement`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import lenient, supports
from nestarray.backends.fast_paths import at_defaults
from nestarray.numerics.axes import are_plane  # noqa: F401  # in a condition given as text


@at_defaults("np.rot90(x, k)", where="x.ndim > 1")
@supports("(axes == (0, 1) and x.ndim > 1) or are_plane(x, axes)")
@lenient
def rot90(x: Any, /, *, k: int = 1, axes: Any = (0, 1)) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.rot90.html"""
    return np.rot90(x, k, axes)
