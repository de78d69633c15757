"""Interpolation on grids.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.scipy.interpolate.RegularGridInterpolator.html
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax.promotion import inexact
from nestarray.typing import Array

__all__ = ["RegularGridInterpolator"]


class RegularGridInterpolator:
    """A function through values on a grid.

    Args:
        points: ascending coordinates of each of the d axes.
        values: `(*grid, …)`.
        method: "linear" or "nearest".
        bounds_error: False, as upstream requires.
        fill_value: the value outside of the grid; None to extrapolate.
    """

    def __init__(
        self,
        points: Sequence[Array],
        values: Array,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = math.nan,
    ) -> None:
        _expect_method(method)
        if bounds_error:
            raise UnsupportedError(
                "RegularGridInterpolator: bounds_error: got True, expected False; outside of the "
                "grid values are fill_value"
            )
        lengths, shape = [na.shape(p)[0] for p in points], na.shape(values)
        if len(lengths) > len(shape) or lengths != list(shape[: len(lengths)]):
            raise ArgumentError(
                f"RegularGridInterpolator: points: got {lengths} coordinates for values of shape "
                f"{tuple(shape)}"
            )
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        self.grid, self.values = tuple([inexact(p) for p in points]), inexact(values)

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """The values at positions: `(…, d)`, or a tuple of the coordinates."""
        method = self.method if method is None else method
        _expect_method(method)
        count = len(self.grid)
        if isinstance(xi, tuple):
            xi = na.stack(list(na.broadcast_arrays(*[inexact(x) for x in xi])), axis=-1)
        xi = inexact(xi)
        if na.shape(xi)[-1] != count:
            raise ArgumentError(
                f"RegularGridInterpolator: xi: got {na.shape(xi)[-1]} coordinates, expected {count}"
            )
        batch = na.shape(xi)[:-1]
        flat = na.reshape(xi, (-1, count))
        places, shares = [], []
        outside = na.zeros((na.shape(flat)[0],), dtype=dtypes.bool, like=flat)
        for i, grid in enumerate(self.grid):
            x = na.getitem(flat, (slice(None), i))
            place = na.subtract(na.searchsorted(grid, x, side="left"), 1)
            place = na.clip(place, 0, na.shape(grid)[0] - 2)
            low, high = na.take(grid, place, axis=0), na.take(grid, na.add(place, 1), axis=0)
            places.append(place)
            shares.append((x - low) / (high - low))
            ends = na.getitem(grid, 0), na.getitem(grid, -1)
            outside = na.logical_or(
                outside, na.logical_or(na.less(x, ends[0]), na.greater(x, ends[1]))
            )
        found = (
            self._linear(places, shares) if method == "linear" else self._nearest(places, shares)
        )
        rest = na.shape(found)[1:]
        if self.fill_value is not None:
            mask = na.reshape(outside, (-1, *[1] * len(rest)))
            found = na.where(mask, self.fill_value, found)
        return na.reshape(found, (*batch, *rest))

    def _linear(self, places: list[Array], shares: list[Array]) -> Array:
        rest = len(na.shape(self.values)) - len(places)
        total = None
        for corner in itertools.product((0, 1), repeat=len(places)):
            weight: Any = 1.0
            for bit, share in zip(corner, shares, strict=True):
                weight = weight * (share if bit else 1.0 - share)
            index = tuple([na.add(p, bit) for p, bit in zip(places, corner, strict=True)])
            part = na.getitem(self.values, index) * na.reshape(weight, (-1, *[1] * rest))
            total = part if total is None else total + part
        return total

    def _nearest(self, places: list[Array], shares: list[Array]) -> Array:
        pairs = zip(places, shares, strict=True)
        index = [na.where(na.less_equal(share, 0.5), p, na.add(p, 1)) for p, share in pairs]
        return na.getitem(self.values, tuple(index))


def _expect_method(method: str) -> None:
    if method not in ("linear", "nearest"):
        raise ArgumentError(
            f"RegularGridInterpolator: method: got {method!r}, expected 'linear' or 'nearest'"
        )
