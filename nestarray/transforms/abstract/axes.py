"""Primitives that rearrange axes."""

from __future__ import annotations

import math
from typing import Any

from nestarray.errors import ShapeError
from nestarray.sizes import IntOrSize
from nestarray.transforms.abstract.elementwise import broadcast
from nestarray.transforms.abstract.interpreter import (
    Results,
    axes_of,
    axis_of,
    dtype_of,
    promoted,
    rule,
    sizes_of,
)
from nestarray.transforms.abstract.values import Abstract


@rule
def reshape(new: Results, x: Any, shape: Any, order: str, copy: Any) -> Abstract:
    shape = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    total = math.prod(sizes_of(x))
    inferred = [i for i, n in enumerate(shape) if isinstance(n, int) and n == -1]
    others = math.prod(n for i, n in enumerate(shape) if i not in inferred)
    if len(inferred) > 1:
        raise ShapeError(f"reshape: got the shape {tuple(shape)}, expected at most one -1")
    if inferred:
        shape[inferred[0]] = total // others if others != 0 else 0
        others = math.prod(shape)
    new.scope.require("reshape", total, "==", others)
    return new(shape, dtype_of(x))


@rule
def permute_dims(new: Results, x: Any, axes: Any) -> Abstract:
    sizes = sizes_of(x)
    return new([sizes[a] for a in axes], dtype_of(x))


@rule
def expand_dims(new: Results, x: Any, axis: Any) -> Abstract:
    sizes = sizes_of(x)
    places = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(sizes) + len(places)
    ones, remaining = {axis_of(int(a), rank) for a in places}, iter(sizes)
    return new([1 if i in ones else next(remaining) for i in range(rank)], dtype_of(x))


@rule
def squeeze(new: Results, x: Any, axis: Any) -> Abstract:
    sizes = sizes_of(x)
    if axis is None:
        dropped = {i for i, n in enumerate(sizes) if new.scope.decide(n, "==", 1)}
    else:
        dropped = set(axes_of(axis, len(sizes)))
        for i in dropped:
            new.scope.require("squeeze", sizes[i], "==", 1)
    return new([n for i, n in enumerate(sizes) if i not in dropped], dtype_of(x))


@rule
def concat(new: Results, arrays: Any, axis: int | None) -> Abstract:
    shapes = [sizes_of(x) for x in arrays]
    if axis is None:
        return new([sum(map(math.prod, shapes))], promoted(*arrays))
    rank = len(shapes[0])
    axis = axis_of(axis, rank)
    sizes: list[IntOrSize] = list(shapes[0])
    for shape in shapes[1:]:
        for i, n in enumerate(shape):
            sizes[i] = sizes[i] + n if i == axis else new.same(sizes[i], n)
    return new(sizes, promoted(*arrays))


@rule
def broadcast_to(new: Results, x: Any, shape: Any) -> Abstract:
    sizes = broadcast(new, sizes_of(x), tuple(shape))
    for size, wanted in zip(sizes, shape, strict=True):
        new.scope.require("broadcast_to", size, "==", wanted)
    return new(shape, dtype_of(x))


@rule
def tile(new: Results, x: Any, repetitions: Any) -> Abstract:
    sizes = sizes_of(x)
    times = tuple(repetitions) if isinstance(repetitions, (tuple, list)) else (repetitions,)
    rank = max(len(sizes), len(times))
    sizes, times = (1,) * (rank - len(sizes)) + sizes, (1,) * (rank - len(times)) + times
    return new([n * k for n, k in zip(sizes, times, strict=True)], dtype_of(x))
