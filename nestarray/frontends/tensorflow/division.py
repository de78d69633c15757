"""Division with other rounding than `tf.math`'s.

Upstream: https://www.tensorflow.org/api_docs/python/tf/truncatediv
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow.conversion import inexact, tensors
from nestarray.typing import Array

__all__ = ["realdiv", "truncatediv", "truncatemod"]


def realdiv(x: Any, y: Any, name: str | None = None) -> Array:
    """x / y of floating or complex tensors."""
    x, y = tensors("realdiv", x, y)
    return na.divide(inexact("realdiv", x), y)


def truncatediv(x: Any, y: Any, name: str | None = None) -> Array:
    """x / y, rounded towards zero."""
    x, y = tensors("truncatediv", x, y)
    if not dtypes.dtype_of(x).is_integer:
        return na.trunc(na.divide(x, y))
    return na.floor_divide(na.subtract(x, na.fmod(x, y)), y)


def truncatemod(x: Any, y: Any, name: str | None = None) -> Array:
    """x − y · truncatediv(x, y), with the sign of x."""
    return na.fmod(*tensors("truncatemod", x, y))
