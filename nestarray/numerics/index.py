"""What an index means: NumPy's rules, read once for the backends that need them spelt out.

An index is a tuple of entries, one for each axis of the array: integers, slices, integer
arrays, boolean arrays (one for as many axes as they have), None for a new axis, and at most
one Ellipsis for the axes that nothing is said about.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.errors import ArgumentError, IndexingError, ShapeError

MODES = ("replace", "add", "mul", "min", "max")


def check_mode(mode: str, op: str) -> str:
    """`mode` if it is a way of combining new elements with old ones.

    Raises:
        ArgumentError: it is none.
    """
    if mode not in MODES:
        raise ArgumentError(f"{op}: mode: got {mode!r}, expected one of {', '.join(MODES)}")
    return mode


def check_rows(weight: Any) -> None:
    """`weight` of an embedding has one row for each index.

    Raises:
        ShapeError: it is no matrix.
    """
    if len(weight.shape) != 2:
        raise ShapeError(
            f"embedding: weight: got shape {tuple(weight.shape)}, expected (count, length)"
        )


def is_plain(index: Any) -> bool:
    """Whether there are but integers, slices that go forward, None and Ellipsis.

    All frameworks mean the same by such an index.
    """
    for item in index if type(index) is tuple else (index,):
        kind = type(item)
        if kind is slice:
            if item.step is not None and item.step < 0:
                return False
        elif kind is not int and item is not None and item is not Ellipsis:
            return False
    return True


def as_tuple(index: Any) -> tuple[Any, ...]:
    """`index` as a tuple, in which lists have become NumPy arrays."""
    items = index if isinstance(index, tuple) else (index,)
    return tuple(_array(item) if isinstance(item, list) else item for item in items)


def _array(item: list[Any]) -> np.ndarray:
    return np.asarray(item) if item else np.zeros(0, np.int64)


def expanded(index: Any, ndim: int) -> list[Any]:
    """The entries of `index`, with slices in place of the Ellipsis and for missing axes.

    Raises:
        IndexingError: there are more entries than axes, or two Ellipses.
    """
    items = list(as_tuple(index))
    rest = ndim - sum(axes_taken(item) for item in items)
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if rest < 0 or len(dots) > 1:
        raise IndexingError(
            f"getitem: index: got {len(items)} entries for an array of {ndim} dimensions, "
            "expected at most one for each axis, and at most one Ellipsis"
        )
    at = dots[0] if dots else len(items)
    items[at : at + len(dots)] = [slice(None)] * rest
    return items


def axes_taken(item: Any) -> int:
    """How many axes of the array an entry speaks of."""
    if item is None or item is Ellipsis or isinstance(item, (bool, np.bool_)):
        return 0
    return len(item.shape) if is_mask(item) else 1


def is_mask(item: Any) -> bool:
    """Whether an entry is a boolean array, of any framework, or a bool."""
    if isinstance(item, bool):
        return True
    name = str(getattr(item, "dtype", "")).rpartition(".")[2]
    return name == "bool" or getattr(getattr(item, "dtype", None), "name", "") == "bool"


def is_array(item: Any) -> bool:
    """Whether an entry is an array of at least one dimension, or a mask."""
    return is_mask(item) or (hasattr(item, "shape") and len(item.shape) > 0)


def check_numbers(name: str, index: Any, shape: Any) -> None:
    """The numbers of an index, and those of lists and NumPy arrays, count elements that there are.

    Raises:
        IndexingError: an axis is shorter.
    """
    axis = 0
    for item in expanded(index, len(shape)):
        if isinstance(item, ON_THE_HOST) and not is_mask(item):
            length = shape[axis]
            if length is not None:
                wrong = outside(item, -length, length)
                if wrong is not None:
                    raise IndexingError(
                        f"{name}: index: got {wrong} for axis {axis} of length {length}, expected "
                        f"{-length} <= index < {length}"
                    )
        axis += axes_taken(item)


#: The kinds of entries whose values are known without asking a device.
ON_THE_HOST = (int, np.integer, np.ndarray, list)


def outside(indices: Any, least: int, length: int) -> Any:
    """The first of `indices` that is less than `least`, or `length` and more; None: there is none."""
    host = np.asarray(indices)
    wrong = host[(host < least) | (host >= length)].reshape(-1)
    return wrong[0] if wrong.size else None


def without_ones(value_shape: Any, ndim: int) -> tuple[Any, ...]:
    """The shape of a value without its first axes of length 1 that a part of `ndim` axes lacks.

    NumPy drops them in some assignments, PyTorch in all.
    """
    own = tuple(value_shape)
    while len(own) > ndim and own[0] == 1:
        own = own[1:]
    return own


def forward(part: slice, length: int) -> slice:
    """A slice of positive step with the elements of one of negative step, in reverse."""
    places = range(length)[part]
    return slice(places[-1], places[0] + 1, -places.step) if places else slice(0, 0)
