"""Reductions of windows.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html; a function for
each primitive, which have no public names there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import nestarray as na
from nestarray.typing import Array

__all__ = ["reduce_window_max", "reduce_window_min", "reduce_window_sum"]


def _reducing(computation: str) -> Callable[..., Array]:
    def reduce_window(
        operand: Array,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
        base_dilation: Sequence[int] | None = None,
        window_dilation: Sequence[int] | None = None,
    ) -> Array:
        """The reductions of windows that slide over all axes."""
        return na.reduce_window(
            operand,
            computation=computation,
            window=tuple(window_dimensions),
            strides=tuple(window_strides),
            padding=[tuple(pair) for pair in padding],
            base_dilation=base_dilation,
            window_dilation=window_dilation,
        )

    return reduce_window


reduce_window_sum = _reducing("add")
reduce_window_max = _reducing("max")
reduce_window_min = _reducing("min")
