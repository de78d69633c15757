"""NumPy: `nestarray.ops.arrangement`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import supports
from nestarray.numerics.axes import are_plane  # in a condition given as text


@supports(lambda x, axes=(0, 1), **_: (axes == (0, 1) and x.ndim > 1) or are_plane(x, axes))
def rot90(x: Any, /, *, k: int = 1, axes: Any = (0, 1)) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.rot90.html"""
    return np.rot90(x, k, axes)
