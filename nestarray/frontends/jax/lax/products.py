"""Products of groups of rows, and of scaled factors.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.lax.ragged_dot_general.html and
https://docs.jax.dev/en/latest/_autosummary/jax.lax.scaled_dot.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax.lax.contraction import dot_general
from nestarray.frontends.jax.lax.settings import (
    DotDimensionNumbers,
    PrecisionLike,
    RaggedDotDimensionNumbers,
)
from nestarray.typing import Array

__all__ = ["ragged_dot", "ragged_dot_general", "scaled_dot"]

_ROWS = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


def ragged_dot(
    lhs: Array,
    rhs: Array,
    group_sizes: Array,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    group_offset: Array | None = None,
) -> Array:
    """The product of each group of rows of `lhs` with its matrix of `rhs`.

    Args:
        lhs: `(m, k)`.
        rhs: `(groups, k, n)`.
        group_sizes: `(groups,)`, the numbers of rows; rows after the last group give zeros.
        precision: not used.
        preferred_element_type: dtype of the result.
        group_offset: None.
    """
    return ragged_dot_general(
        lhs, rhs, group_sizes, _ROWS, precision, preferred_element_type, group_offset
    )


def ragged_dot_general(
    lhs: Array,
    rhs: Array,
    group_sizes: Array,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    group_offset: Array | None = None,
) -> Array:
    """`dot_general` with an axis of `lhs` that is divided into groups.

    Args:
        lhs, rhs: the factors.
        group_sizes: `(groups,)`, or with the axes of `lhs` before the divided one: of the batch,
            and of its kind.
        ragged_dot_dimension_numbers: the axes of `dot_general`; the divided axis; the axis of `rhs`
            for the groups, if the divided axis is neither contracted nor of the batch.
        precision: not used.
        preferred_element_type: dtype of the result.
        group_offset: None.

    Returns:
        the product of `dot_general`. If the divided axis is contracted, one for each group, along
        a new first axis.
    """
    if group_offset is not None:
        raise UnsupportedError("ragged_dot_general: group_offset: got an array, expected None")
    numbers, (ragged,), groups = ragged_axes(ragged_dot_dimension_numbers)
    (over_l, over_r), (batch_l, batch_r) = numbers
    rank = len(na.shape(lhs))
    free = [i for i in range(rank) if i not in (*over_l, *batch_l)]
    is_batch = ragged in batch_l
    before = batch_l if is_batch else (over_l if ragged in over_l else free)
    outer = list(before[: list(before).index(ragged)])
    axes = outer if is_batch else [*batch_l, *outer]
    members = _members(group_sizes, na.shape(lhs), axes, ragged)
    zero = na.zeros_like(lhs)
    if is_batch:
        kept = na.where(na.any(members, axis=0), lhs, zero)
        return dot_general(kept, rhs, numbers, precision, preferred_element_type)
    parts = na.where(members, na.expand_dims(lhs, 0), na.expand_dims(zero, 0))
    over_l, batch_l = _moved(over_l), _moved(batch_l)
    if groups:
        contracted = ((0, *over_l), (groups[0], *over_r))
        settings = (contracted, (batch_l, batch_r)), precision, preferred_element_type
        return dot_general(parts, rhs, *settings)
    settings = ((over_l, over_r), (batch_l, batch_r)), precision, preferred_element_type
    return na.moveaxis(dot_general(parts, rhs, *settings), len(batch_l), 0)


def ragged_axes(numbers: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """The three fields of `RaggedDotDimensionNumbers`, of upstream's class too, as integers."""
    fields = RaggedDotDimensionNumbers._fields
    dot, ragged, groups = (
        [getattr(numbers, name) for name in fields] if hasattr(numbers, fields[0]) else numbers
    )
    pairs = tuple([tuple([tuple(map(int, axes)) for axes in pair]) for pair in dot])
    return pairs, tuple(map(int, ragged)), tuple(map(int, groups))


def _moved(axes: Sequence[int]) -> tuple[int, ...]:
    """Axes behind a new first one."""
    return tuple([i + 1 for i in axes])


def _members(sizes: Array, shape: Sequence[int], axes: Sequence[int], ragged: int) -> Array:
    """Whether each place along the divided axis is in each group: (groups, *axes of the array)."""
    ends = na.cumulative_sum(sizes, axis=-1)
    places = na.arange(shape[ragged], dtype=dtypes.dtype_of(ends), like=ends)
    ends = na.expand_dims(ends, -1)  # (*axes, groups, places)
    starts = na.subtract(ends, na.expand_dims(sizes, -1))
    inside = na.logical_and(na.greater_equal(places, starts), na.less(places, ends))
    found = na.moveaxis(inside, -2, 0)  # (groups, *axes, places)
    given = [*axes, ragged] if len(na.shape(sizes)) > 1 else [ragged]
    order = sorted(range(len(given)), key=lambda i: given[i])
    found = na.permute_dims(found, (0, *[i + 1 for i in order]))
    spread = [shape[i] if i in given else 1 for i in range(len(shape))]
    return na.reshape(found, (na.shape(sizes)[-1], *spread))


def scaled_dot(
    lhs: Array,
    rhs: Array,
    *,
    lhs_scale: Array | None = None,
    rhs_scale: Array | None = None,
    dimension_numbers: DotDimensionNumbers | None = None,
    preferred_element_type: Any = None,
) -> Array:
    """The product of scaled factors, bfloat16 by default.

    Args:
        lhs, rhs: the factors.
        lhs_scale, rhs_scale: the scales of blocks of equal length along the contracted axes; of the
            shapes of the factors elsewhere.
        dimension_numbers: of `dot_general`; by default of `matmul`.
        preferred_element_type: dtype of the result.
    """
    rank = len(na.shape(lhs))
    if dimension_numbers is None:
        if rank < 2:
            raise ArgumentError(f"scaled_dot: lhs: got {rank} axes, expected at least 2")
        batch = tuple(range(rank - 2))
        dimension_numbers = ((rank - 1,), (rank - 2,)), (batch, batch)
    dtype = dtypes.bfloat16 if preferred_element_type is None else preferred_element_type
    lhs, rhs = _scaled(lhs, lhs_scale), _scaled(rhs, rhs_scale)
    return na.astype(dot_general(lhs, rhs, dimension_numbers), dtype)


def _scaled(x: Array, scale: Array | None) -> Array:
    """`x` times the scale of its block, float32."""
    x = na.astype(x, dtypes.float32)
    if scale is None:
        return x
    scale = na.astype(scale, dtypes.float32)
    for axis, (size, count) in enumerate(zip(na.shape(x), na.shape(scale), strict=True)):
        if size != count:
            scale = na.repeat(scale, size // count, axis=axis)
    return na.multiply(x, scale)
