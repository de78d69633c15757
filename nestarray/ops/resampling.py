"""Interpolation of arrays at arbitrary coordinates."""

from __future__ import annotations

import itertools
import math

from nestarray import dtypes, ops
from nestarray.dispatch import floating_op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array

__all__ = ["map_coordinates"]

_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


@floating_op
def map_coordinates(
    x: Array,
    coordinates: Array,
    /,
    *,
    order: int = 1,
    mode: str = "constant",
    cval: float = 0.0,
) -> Array:
    """Interpolate an array at fractional coordinates, in units of elements.

    Args:
        x: `(n₁, …, nᵣ)`, any number.
        coordinates: `(r, *out)`, real: along each axis of `x`, 0 at the first element.
        order: 1 interpolates linearly, 0 takes the nearest element.
        mode: the values outside: ``"constant"`` is `cval`; ``"nearest"`` the nearest element;
            ``"wrap"`` the array again; ``"mirror"`` its mirror image about the centres of the
            last elements, ``"reflect"`` about their outer edges.
        cval: the value outside in mode ``"constant"``; it takes part in interpolation at the border.

    Returns:
        `(*out,)`, floating.

    Raises:
        ArgumentError: `order` or `mode` is unknown.
        ShapeError: `coordinates` does not have one row per axis of `x`, or `x` is empty.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[0.0, 1.0], [2.0, 3.0]])
        >>> na.map_coordinates(x, np.asarray([[0.5, 0.0], [0.5, 1.0]]))
        array([1.5, 1. ])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.scipy.ndimage.map_coordinates.html
    """
    if order not in (0, 1):
        raise ArgumentError(f"map_coordinates: order: got {order!r}, expected 0 or 1")
    if mode not in _MODES:
        raise ArgumentError(
            f"map_coordinates: mode: got {mode!r}, expected one of {', '.join(_MODES)}"
        )
    shape = tuple(x.shape)
    if len(coordinates.shape) == 0 or coordinates.shape[0] != len(shape) or 0 in shape:
        raise ShapeError(
            f"map_coordinates: got x of the shape {shape} and coordinates of "
            f"{tuple(coordinates.shape)}, expected elements and (number of axes, *out)"
        )
    if not shape:
        raise ShapeError(
            "map_coordinates: x: got an array without dimensions, expected at least one"
        )
    taps = [_taps(ops.getitem(coordinates, i), order) for i in range(len(shape))]
    total = None
    for chosen in itertools.product(*taps):
        places = [
            _inside(place, size, mode) for (place, _), size in zip(chosen, shape, strict=True)
        ]
        part = ops.getitem(x, tuple(ops.astype(p, dtypes.int64) for p in places))
        if mode == "constant":
            for (place, _), size in zip(chosen, shape, strict=True):
                is_inside = ops.logical_and(place >= 0, place < size)
                part = ops.where(is_inside, part, cval)
        for _, weight in chosen:
            part = ops.multiply(part, weight)
        total = part if total is None else ops.add(total, part)
    assert total is not None
    return total


def _taps(position: Array, order: int) -> list[tuple[Array, Array]]:
    """The elements that are read along one axis, and their weights; NaN at nonfinite positions."""
    is_finite = ops.isfinite(position)
    finite = ops.where(is_finite, position, 0.0)
    if order == 0:
        return [(ops.floor(finite + 0.5), ops.where(is_finite, 1.0, math.nan))]
    first = ops.floor(finite)
    share = position - first
    return [(first, 1 - share), (first + 1, share)]


def _inside(place: Array, size: int, mode: str) -> Array:
    """Whole positions moved inside as the mode says."""
    if mode == "wrap":
        return ops.remainder(place, size)
    if mode == "mirror" and size > 1:
        there_and_back = ops.remainder(place, 2 * size - 2)
        return ops.minimum(there_and_back, 2 * size - 2 - there_and_back)
    if mode == "reflect":
        there_and_back = ops.remainder(place, 2 * size)
        return ops.minimum(there_and_back, 2 * size - 1 - there_and_back)
    return ops.clip(place, 0, size - 1)
