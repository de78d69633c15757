"""Order along an axis."""

from __future__ import annotations

from nestarray.dispatch import primitive
from nestarray.typing import Array

__all__ = ["argsort", "sort"]


@primitive
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements of `x` in order along an axis; NaN counts as the greatest.

    Args:
        x: real or bool, of at least one dimension.
        axis: the axis to sort along.
        descending: from the greatest to the least.
        stable: equal elements keep their order, which matters to gradients only. The
            backends that know one algorithm use it either way.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sort(np.asarray([3, 1, 2]), descending=True)
        array([3, 2, 1])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sort.html
    """


@primitive
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The positions that put `x` in order along an axis; NaN counts as the greatest.

    Args:
        x: real or bool, of at least one dimension.
        axis: the axis to sort along.
        descending: from the greatest to the least.
        stable: equal elements keep their order, also when `descending`.

    Returns:
        integers of the shape of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.argsort(np.asarray([3, 1, 2, 1]))
        array([1, 3, 2, 0])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.argsort.html
    """
