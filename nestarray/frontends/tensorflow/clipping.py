"""Bounds of values and norms.

Upstream: https://www.tensorflow.org/api_docs/python/tf/clip_by_value
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray.frontends.tensorflow.conversion import axes_of, floating, tensor
from nestarray.frontends.tensorflow.math.elementwise import maximum, minimum
from nestarray.typing import Array

__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value"]


def clip_by_value(
    t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None
) -> Array:
    """`t` within bounds; values at a bound have the derivative 1."""
    return maximum(minimum(tensor(t), clip_value_max), clip_value_min)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Array:
    """`t`, divided so that its norm along axes is at most `clip_norm`."""
    x = floating("clip_by_norm", t)
    along = axes_of(axes, len(na.shape(x)))
    square = na.sum(na.square(x), axis=along, keepdims=True)
    is_there = na.greater(square, 0)
    root = na.sqrt(na.where(is_there, square, na.ones_like(square)))
    norm = na.where(is_there, root, square)
    return na.divide(na.multiply(x, clip_norm), maximum(norm, clip_norm))


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Array]:
    """Tensors divided by one number so that their common norm is at most `clip_norm`, and the norm before.

    All are NaN if the norm is not finite. None stays None.
    """
    arrays = [None if x is None else tensor(x) for x in t_list]
    if use_norm is None:
        squares = [na.sum(na.square(x)) for x in arrays if x is not None]
        norm = na.sqrt(functools.reduce(na.add, squares))
    else:
        norm = tensor(use_norm)
    factor = na.multiply(minimum(na.reciprocal(norm), 1.0 / clip_norm), clip_norm)
    factor = na.where(na.isfinite(norm), factor, na.full_like(factor, math.nan))
    return [None if x is None else na.multiply(x, factor) for x in arrays], norm
