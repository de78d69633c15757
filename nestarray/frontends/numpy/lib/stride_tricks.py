"""Views of windows.

Upstream: https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray.frontends.numpy.arrays import as_array
from nestarray.typing import Array, Axis

__all__ = ["sliding_window_view"]


def sliding_window_view(
    x: Any,
    window_shape: int | tuple[int, ...],
    axis: Axis = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> Array:
    """All windows of a shape; `subok` and `writeable` have no influence."""
    return na.sliding_window_view(as_array(x), window_shape, axis=axis)
