"""Reductions of segments.

Upstream: https://docs.jax.dev/en/latest/jax.ops.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray.frontends.jax.numpy.reduction import limit
from nestarray.typing import Array

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def _reduction(mode: str, initial: Any, summary: str) -> Callable[..., Array]:
    def segments(
        data: Array,
        segment_ids: Array,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: int | None = None,
        mode: str | None = None,
    ) -> Array:
        return _reduced(computation, initial, data, segment_ids, num_segments, mode)

    computation, segments.__doc__ = mode, summary
    return segments


def _reduced(
    computation: str,
    initial: Any,
    data: Array,
    segment_ids: Array,
    num_segments: int | None,
    mode: str | None,
) -> Array:
    if num_segments is None:
        num_segments = int(na.max(segment_ids)) + 1
    dtype = na.dtype_of(data)
    start = limit(dtype, initial[1]) if isinstance(initial, tuple) else initial
    # ids out of range go to a segment behind the last one
    sizes = (num_segments + 1, *na.shape(data)[len(na.shape(segment_ids)) :])
    is_inside = na.logical_and(na.greater_equal(segment_ids, 0), na.less(segment_ids, num_segments))
    if mode == "clip":
        ids = na.clip(segment_ids, 0, num_segments - 1)
    else:
        ids = na.where(is_inside, segment_ids, na.full_like(segment_ids, num_segments))
    found = na.setitem(
        na.full(sizes, start, dtype=dtype, like=data), (ids,), data, mode=computation
    )
    return na.getitem(found, slice(num_segments))


segment_sum = _reduction("add", 0, "The sum of the elements of each segment; 0 without elements.")
segment_prod = _reduction("mul", 1, "The product of the elements of each segment.")
segment_max = _reduction(
    "max", ("limit", -1), "The maximum of each segment; the least number without elements."
)
segment_min = _reduction(
    "min", ("limit", 1), "The minimum of each segment; the largest number without elements."
)
