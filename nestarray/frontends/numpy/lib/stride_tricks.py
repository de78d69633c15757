"""Arrays of windows, which are copies.

Upstream: https://numpy.org/doc/stable/reference/routines.lib.html
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.numpy.arrays import as_array, numpy_dtype
from nestarray.typing import Array, Axis

__all__ = ["as_strided", "sliding_window_view"]


def as_strided(
    x: Any,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    subok: bool = False,
    writeable: bool = True,
) -> Array:
    """The elements at steps of `strides` bytes from the first, if `x` is stored row by row."""
    x = as_array(x)
    sizes = tuple(na.shape(x) if shape is None else shape)
    width = numpy_dtype(x).itemsize
    own = [width * math.prod(na.shape(x)[i + 1 :]) for i in range(len(na.shape(x)))]
    steps = list(own if strides is None else strides)
    if len(steps) != len(sizes) or any(step % width for step in steps):
        raise ArgumentError(
            f"as_strided: strides: got {tuple(steps)}, expected multiples of {width} for {sizes}"
        )
    positions = np.zeros(sizes, "int64")
    for axis, step in enumerate(steps):
        along = np.arange(sizes[axis]) * (step // width)
        positions += along.reshape([-1] + [1] * (len(sizes) - axis - 1))
    count = math.prod(na.shape(x))
    if positions.size and not 0 <= positions.min() <= positions.max() < count:
        raise ArgumentError(
            f"as_strided: the steps leave the {count} elements of x; got shape {sizes} and strides {tuple(steps)}"
        )
    return na.reshape(x, (-1,))[na.asarray(positions, like=x)]


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
