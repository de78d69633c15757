"""Views by strides, of arrays whose elements lie in row-major order.

Arrays have no strides here. A stride counts elements of the flattened array: upstream's meaning
for a contiguous tensor at the start of its storage. Upstream:
https://docs.pytorch.org/docs/stable/generated/torch.as_strided.html
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.torch.creation import zeros
from nestarray.frontends.torch.dims import numel_of, shape_of
from nestarray.frontends.torch.promotion import cast
from nestarray.typing import Array, DTypeLike

__all__ = [
    "as_strided", "as_strided_copy", "as_strided_scatter", "empty_permuted", "empty_strided",
]  # fmt: skip


def as_strided(
    input: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Array:
    """The elements at offset + Σ iₖ strideₖ of the flattened input, for all indices of `size`.

    Raises:
        ShapeError: a place lies outside of the array.
    """
    places = _places("as_strided", input, size, stride, storage_offset)
    flat = na.reshape(input, (-1,))
    index = na.asarray(places.ravel(), dtype=dtypes.int64, like=input)
    return na.reshape(na.take(flat, index, axis=0), places.shape)


def as_strided_scatter(
    input: Array,
    src: Array,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Array:
    """input with the elements of the view `as_strided` replaced by `src`."""
    places = _places("as_strided_scatter", input, size, stride, storage_offset)
    if places.shape != shape_of(src):
        raise ShapeError(
            f"as_strided_scatter: src: got the shape {shape_of(src)}, expected {places.shape}"
        )
    flat = na.reshape(input, (-1,))
    index = na.asarray(places.ravel(), dtype=dtypes.int64, like=input)
    values = na.reshape(cast(src, dtypes.dtype_of(input)), (-1,))
    return na.reshape(na.setitem(flat, index, values), shape_of(input))


def _places(
    name: str, x: Array, size: Sequence[int], stride: Sequence[int], offset: int | None
) -> np.ndarray:
    if len(size) != len(stride):
        raise ArgumentError(
            f"{name}: stride: got {len(stride)} numbers, expected {len(size)} as in size"
        )
    if any(n < 0 for n in (*size, *stride)):
        raise ArgumentError(f"{name}: got negative sizes or strides, expected 0 or more")
    places = np.full(tuple(size), offset or 0, dtype=np.int64)
    for axis, step in enumerate(stride):
        shape = [1] * len(size)
        shape[axis] = -1
        places += np.arange(size[axis]).reshape(shape) * step
    if places.size and places.max() >= numel_of(x):
        raise ShapeError(
            f"{name}: got a place at element {places.max()} of an array of {numel_of(x)}; "
            "strides count elements of the contiguous array"
        )
    return places


def empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: DTypeLike | None = None
) -> Array:
    """An array with undefined elements; zeros here, in row-major order."""
    return zeros(*size, dtype=dtype)


def empty_permuted(
    size: Sequence[int], physical_layout: Sequence[int], *, dtype: DTypeLike | None = None
) -> Array:
    """An array with undefined elements; zeros here, in row-major order."""
    if sorted(physical_layout) != list(range(len(size))):
        raise ArgumentError(
            f"empty_permuted: physical_layout: got {tuple(physical_layout)}, expected each of "
            f"{len(size)} dimensions once"
        )
    return zeros(*size, dtype=dtype)


as_strided_copy = as_strided
