"""Derivatives of sampled functions by differences.

Upstream: https://docs.pytorch.org/docs/stable/generated/torch.gradient.html
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import ndim_of, shape_of, wrap_all
from nestarray.frontends.torch.promotion import floating, is_number
from nestarray.typing import Array

__all__ = ["gradient"]


def gradient(
    input: Array,
    *,
    spacing: Any = 1,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Array, ...]:
    """The derivative along each of the dimensions `dim`, of second order inside.

    `spacing` is the distance of samples, one for each dimension, or their coordinates.
    """
    if edge_order not in (1, 2):
        raise ArgumentError(f"gradient: edge_order: got {edge_order}, expected 1 or 2")
    axes = wrap_all("gradient", dim, ndim_of(input))
    several = isinstance(spacing, (list, tuple))
    steps = list(spacing) if several else [spacing] * len(axes)
    if len(steps) != len(axes):
        raise ArgumentError(
            f"gradient: spacing: got {len(steps)}, expected one for each of {len(axes)} dimensions"
        )
    if len(set(axes)) != len(axes):
        raise ArgumentError(f"gradient: dim: got {dim}, expected each dimension once")
    for axis in axes:
        if shape_of(input)[axis] <= edge_order:
            raise ArgumentError(
                f"gradient: input: got {shape_of(input)[axis]} samples along dimension {axis}, "
                f"expected at least {edge_order + 1} for edge_order={edge_order}"
            )
    x = floating(input)
    steps = [1 if step is None else step for step in steps]
    return tuple(_along(x, axis, step, edge_order) for axis, step in zip(axes, steps))


def _along(x: Array, axis: int, step: Any, edge_order: int) -> Array:
    size = shape_of(x)[axis]

    def part(start: int, stop: int) -> Array:
        return na.getitem(x, (builtins.slice(None),) * axis + (builtins.slice(start, stop),))

    if is_number(step):
        first, last = (step, step), (step, step)
        middle = na.divide(na.subtract(part(2, size), part(0, size - 2)), 2 * step)
    else:
        coordinates = na.astype(step, dtypes.dtype_of(x))
        distances = na.reshape(na.diff(coordinates), (-1,) + (1,) * (ndim_of(x) - 1 - axis))
        before, after = distances[:-1], distances[1:]
        first = distances[:1], distances[1:2]
        last = distances[-1:], distances[-2:-1]
        middle = _central(part(0, size - 2), part(1, size - 1), part(2, size), before, after)
    edges = []
    for sign, near, (h, following) in (
        (1.0, (part(0, 1), part(1, 2), part(2, 3)), first),
        (-1.0, (part(size - 1, size), part(size - 2, size - 1), part(size - 3, size - 2)), last),
    ):
        one_sided = _forward(*near, h, following, edge_order)
        edges.append(na.multiply(one_sided, sign))
    return na.concat([edges[0], middle, edges[1]], axis=axis)


def _central(left: Array, here: Array, right: Array, before: Any, after: Any) -> Array:
    """The derivative of the parabola through three points, in the middle one."""
    both = before + after
    a, b, c = -after / (before * both), (after - before) / (before * after), before / (after * both)
    return na.add(na.add(na.multiply(left, a), na.multiply(here, b)), na.multiply(right, c))


def _forward(here: Array, next_: Array, third: Array, h: Any, following: Any, order: int) -> Array:
    """The derivative at an end, from two points or from the parabola through three."""
    if order == 1:
        return na.divide(na.subtract(next_, here), h)
    both = h + following
    a, b, c = -(h + both) / (h * both), both / (h * following), -h / (following * both)
    return na.add(na.add(na.multiply(here, a), na.multiply(next_, b)), na.multiply(third, c))
