"""Indexing: slices, integers, None, ellipses and arrays of integers."""

from __future__ import annotations

from typing import Any

from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.sizes import IntOrSize, Size
from nestarray.transforms.abstract.elementwise import broadcast
from nestarray.transforms.abstract.interpreter import (
    Results,
    axis_of,
    dtype_of,
    rule,
    sizes_of,
)
from nestarray.transforms.abstract.scope import Scope, UndecidedSize
from nestarray.transforms.abstract.values import Abstract


@rule
def getitem(new: Results, x: Any, index: Any) -> Abstract:
    sizes = list(sizes_of(x))
    items = list(index) if isinstance(index, tuple) else [index]
    _check_known(items)
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > len(sizes):
        raise ShapeError(f"getitem: got {used} indices for an array of shape {tuple(sizes)}")
    if Ellipsis not in [item for item in items if not _is_array(item)]:
        items.append(Ellipsis)
    place = next(i for i, item in enumerate(items) if item is Ellipsis)
    items[place : place + 1] = [slice(None)] * (len(sizes) - used)
    result: list[IntOrSize] = []
    shapes: list[tuple[IntOrSize, ...]] = []
    places: list[int] = []  # of the indices by arrays, among all
    remaining = iter(sizes)
    for i, item in enumerate(items):
        if item is None:
            result.append(1)
            continue
        size = next(remaining)
        if isinstance(item, slice):
            result.append(length_of(new.scope, item, size))
        else:
            if not shapes:
                first = len(result)
            shapes.append(sizes_of(item) if _is_array(item) else ())
            places.append(i)
    if shapes:
        # arrays with a slice or None between them come first; integers alone leave no axis
        is_together = places == [*range(places[0], places[-1] + 1)]
        at = first if is_together or not any(shapes) else 0
        result[at:at] = broadcast(new, *shapes)
    return new(result, dtype_of(x))


def _is_array(item: Any) -> bool:
    return hasattr(item, "shape") and hasattr(item, "dtype")


def _check_known(items: list[Any]) -> None:
    """Raise an error for an index whose values decide the size of the result."""
    for item in items:
        is_mask = isinstance(item, bool) or (_is_array(item) and dtype_of(item) is dtypes.bool)
        if is_mask or isinstance(item, (list, tuple)):
            raise UndecidedSize("getitem: values decide the size of the result")


def length_of(scope: Scope, item: slice, size: IntOrSize) -> IntOrSize:
    """The number of elements of a slice of an axis, by the rules of Python."""
    step = 1 if item.step is None else item.step
    if isinstance(step, Size) or not step:
        raise UndecidedSize("getitem: a slice whose step is an open size")
    least, most = (0, size) if step > 0 else (-1, size - 1)
    first, end = (least, most) if step > 0 else (most, least)

    def bounded(at: IntOrSize | None, default: IntOrSize) -> IntOrSize:
        """A bound of the slice as a position from `least` to `most`."""
        if at is None:
            return default
        return (
            scope.larger(at + size, least) if scope.decide(at, "<", 0) else scope.smaller(at, most)
        )

    start, stop = bounded(item.start, first), bounded(item.stop, end)
    return scope.larger(-((start - stop) // step), 0)


@rule
def setitem(new: Results, x: Any, index: Any, value: Any, mode: str) -> Abstract:
    return new(sizes_of(x), dtype_of(x))


@rule
def take(new: Results, x: Any, indices: Any, axis: int | None) -> Abstract:
    sizes, taken = sizes_of(x), sizes_of(indices)
    if axis is None:
        return new(taken, dtype_of(x))
    axis = axis_of(axis, len(sizes))
    return new([*sizes[:axis], *taken, *sizes[axis + 1 :]], dtype_of(x))
