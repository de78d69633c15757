"""NumPy: `nestarray.ops.sorting`."""

from __future__ import annotations

from typing import Any

import numpy as np


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.sort.html"""
    ordered = np.sort(x, axis=axis, stable=stable)
    return np.flip(ordered, axis) if descending else ordered


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.argsort.html"""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    # The mirror image of the order of the mirror image: equal elements keep their order.
    mirrored = np.argsort(np.flip(x, axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(mirrored, axis)
