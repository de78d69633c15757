"""Segment reductions: reductions over slices with equal segment ids, in any order."""

from __future__ import annotations

import numpy as np

from nestarray import ops
from nestarray.backends.base import mean_dtype
from nestarray.backends.precision import rounded_once
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import op
from nestarray.dtypes import dtype_of
from nestarray.errors import DtypeError, ShapeError
from nestarray.typing import Array

__all__ = ["segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum"]


@op
@through_numbers
@rounded_once
def segment_sum(x: Array, segment_ids: Array, /, *, num_segments: int | None = None) -> Array:
    """The sum of the slices of each segment, Σ x[i] over segment_ids[i] = s.

    Args:
        x: `(n, *rest)`, any number.
        segment_ids: `(n,)`, integers from 0, in any order.
        num_segments: the length of the result; None takes the largest id + 1, which depends on
            values and is not available in compiled code.

    Returns:
        `(num_segments, *rest)`; 0 for an empty segment.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.segment_sum(np.asarray([1.0, 2.0, 3.0]), np.asarray([0, 1, 0]))
        array([4., 2.])
    """
    shape = (_segments("segment_sum", x, segment_ids, num_segments), *x.shape[1:])
    return ops.index_add(ops.zeros(shape, dtype=x.dtype, like=x), segment_ids, x)


@op
def segment_max(x: Array, segment_ids: Array, /, *, num_segments: int | None = None) -> Array:
    """The maximum of the slices of each segment.

    Args:
        x: `(n, *rest)`, real.
        segment_ids: `(n,)`, integers from 0, in any order.
        num_segments: the length of the result; None takes the largest id + 1, which depends on
            values and is not available in compiled code.

    Returns:
        `(num_segments, *rest)`; −∞ or the smallest integer for an empty segment.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.segment_max(np.asarray([1.0, 2.0, 3.0]), np.asarray([0, 1, 0]))
        array([3., 2.])
    """
    dtype = dtype_of(x)
    least = -float("inf") if dtype.is_floating else int(np.iinfo(dtype.name).min)
    shape = (_segments("segment_max", x, segment_ids, num_segments), *x.shape[1:])
    start = ops.full(shape, least, dtype=x.dtype, like=x)
    return ops.setitem(start, segment_ids, x, mode="max")


@op
def segment_min(x: Array, segment_ids: Array, /, *, num_segments: int | None = None) -> Array:
    """The minimum of the slices of each segment.

    Args:
        x: `(n, *rest)`, real.
        segment_ids: `(n,)`, integers from 0, in any order.
        num_segments: the length of the result; None takes the largest id + 1, which depends on
            values and is not available in compiled code.

    Returns:
        `(num_segments, *rest)`; ∞ or the largest integer for an empty segment.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.segment_min(np.asarray([1.0, 2.0, 3.0]), np.asarray([0, 1, 0]))
        array([1., 2.])
    """
    dtype = dtype_of(x)
    greatest = float("inf") if dtype.is_floating else int(np.iinfo(dtype.name).max)
    shape = (_segments("segment_min", x, segment_ids, num_segments), *x.shape[1:])
    start = ops.full(shape, greatest, dtype=x.dtype, like=x)
    return ops.setitem(start, segment_ids, x, mode="min")


@op
@through_numbers
@rounded_once
def segment_prod(x: Array, segment_ids: Array, /, *, num_segments: int | None = None) -> Array:
    """The product of the slices of each segment, Π x[i] over segment_ids[i] = s.

    Args:
        x: `(n, *rest)`, any number.
        segment_ids: `(n,)`, integers from 0, in any order.
        num_segments: the length of the result; None takes the largest id + 1, which depends on
            values and is not available in compiled code.

    Returns:
        `(num_segments, *rest)`; 1 for an empty segment.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.segment_prod(np.asarray([1.0, 2.0, 3.0]), np.asarray([0, 1, 0]))
        array([3., 2.])
    """
    shape = (_segments("segment_prod", x, segment_ids, num_segments), *x.shape[1:])
    start = ops.ones(shape, dtype=x.dtype, like=x)
    return ops.setitem(start, segment_ids, x, mode="mul")


@op
@rounded_once
def segment_mean(x: Array, segment_ids: Array, /, *, num_segments: int | None = None) -> Array:
    """The mean of the slices of each segment.

    Args:
        x: `(n, *rest)`, any number.
        segment_ids: `(n,)`, integers from 0, in any order.
        num_segments: the length of the result; None takes the largest id + 1, which depends on
            values and is not available in compiled code.

    Returns:
        `(num_segments, *rest)`, of the dtype of `x`, float32 for integers; 0 for an empty segment.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.segment_mean(np.asarray([1.0, 2.0, 3.0]), np.asarray([0, 1, 0]))
        array([2., 2.])
    """
    x = ops.astype(x, mean_dtype(x), copy=False)
    count = _segments("segment_mean", x, segment_ids, num_segments)
    total = ops.segment_sum(x, segment_ids, num_segments=count)
    ones = ops.ones((x.shape[0],), dtype="float32", like=x)  # counts may exceed float16
    counts = ops.segment_sum(ones, segment_ids, num_segments=count)
    counts = ops.astype(ops.maximum(counts, 1.0), x.dtype)
    return ops.divide(total, ops.reshape(counts, (count,) + (1,) * (len(x.shape) - 1)))


def _segments(name: str, x: Array, segment_ids: Array, num_segments: int | None) -> int:
    """The number of segments."""
    of_x, of_ids = tuple(x.shape), tuple(segment_ids.shape)
    if len(of_ids) != 1 or not of_x or (of_ids[0] != of_x[0] and None not in (of_ids[0], of_x[0])):
        raise ShapeError(
            f"{name}: segment_ids: got shape {of_ids} for x of shape {of_x}, expected one number for "
            "each of its rows"
        )
    if not dtype_of(segment_ids).is_integer:
        raise DtypeError(
            f"{name}: segment_ids: got {dtype_of(segment_ids).name}, expected integers; cast with "
            "na.astype"
        )
    if num_segments is not None:
        return num_segments
    return int(ops.max(segment_ids)) + 1 if segment_ids.shape[0] else 0
