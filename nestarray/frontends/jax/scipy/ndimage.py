"""Images of any number of axes.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.ndimage
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.jax.promotion import cast, inexact
from nestarray.typing import Array

__all__ = ["map_coordinates"]


def map_coordinates(
    input: Array, coordinates: Sequence[Array], order: int, mode: str = "constant", cval: Any = 0.0
) -> Array:
    """Values between the elements: the nearest one (order 0), or linear interpolation (1)."""
    is_list = isinstance(coordinates, (list, tuple))
    places = na.stack([inexact(x) for x in coordinates]) if is_list else inexact(coordinates)
    dtype = na.dtype_of(input)
    found = na.map_coordinates(inexact(input), places, order=order, mode=mode, cval=cval)
    if dtype.is_inexact:
        return cast(found, dtype)
    return na.astype(na.round(found), dtype if dtype is not dtypes.bool else dtypes.int32)
