"""ATen's operations for unique elements, which always return all results.

``torch.unique`` and ``torch.unique_consecutive`` omit results that the caller did not request.
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch import uniqueness
from nestarray.typing import Array

__all__ = ["_unique", "_unique2", "unique_consecutive", "unique_dim", "unique_dim_consecutive"]

Parts = tuple[Array, Array, Array]


def _unique(input: Array, sorted: bool = True, return_inverse: bool = False) -> tuple[Array, Array]:
    """The unique elements, and the inverse indices."""
    return _unique2(input, sorted, return_inverse)[:2]


def _unique2(
    input: Array, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> Parts:
    """The unique elements, the inverse indices, and the counts."""
    found = uniqueness.unique(input, sorted, True, True)
    return _asked(found, return_inverse, return_counts)


def unique_dim(
    input: Array,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Parts:
    """The different slices along a dimension."""
    return uniqueness.unique(input, sorted, True, True, dim)


def unique_consecutive(
    input: Array, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Parts:
    """The first of equal neighbours."""
    found = uniqueness.unique_consecutive(input, True, True, dim)
    return found if dim is not None else _asked(found, return_inverse, return_counts)


def unique_dim_consecutive(
    input: Array, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> Parts:
    """The first of each run of equal slices along a dimension."""
    return uniqueness.unique_consecutive(input, True, True, dim)


def _asked(parts: Parts, has_inverse: bool, has_counts: bool) -> Parts:
    """Return results that were not requested as empty arrays, as upstream's CPU kernels do."""
    values, inverse, counts = parts
    nothing = na.zeros((0,), dtype=dtypes.int64, like=values)
    return values, inverse if has_inverse else nothing, counts if has_counts else nothing
