"""NumPy's rules of indexing, for backends that implement them.

An index is a tuple of entries, one for each axis of the array: integers, slices, integer
arrays, boolean arrays (one for as many axes as they have), None for a new axis, and at most
one Ellipsis for the remaining axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.errors import ArgumentError, IndexingError, ShapeError

MODES = ("replace", "add", "mul", "min", "max")


def check_mode(mode: str, op: str) -> str:
    """`mode` if it is a known combination of new and old elements.

    Raises:
        ArgumentError: it is unknown.
    """
    if mode not in MODES:
        raise ArgumentError(f"{op}: mode: got {mode!r}, expected one of {', '.join(MODES)}")
    return mode


def check_rows(weight: Any) -> None:
    """Check that `weight` of an embedding is a matrix.

    Raises:
        ShapeError: it has another rank.
    """
    if len(weight.shape) != 2:
        raise ShapeError(
            f"embedding: weight: got shape {tuple(weight.shape)}, expected (count, length)"
        )


def is_plain(index: Any) -> bool:
    """Whether an index has only integers, forward slices, None and Ellipsis.

    All frameworks agree on these.
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
    """`index` as a tuple, with lists converted to NumPy arrays."""
    items = index if isinstance(index, tuple) else (index,)
    return tuple(_array(item) if isinstance(item, list) else item for item in items)


def _array(item: list[Any]) -> np.ndarray:
    return np.asarray(item) if item else np.zeros(0, np.int64)


def expanded(index: Any, ndim: int) -> list[Any]:
    """The entries of `index`, with full slices for the Ellipsis and for missing axes.

    Raises:
        IndexingError: more entries than axes, or two Ellipses.
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
    """The number of axes that an entry indexes."""
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
    return is_mask(item) or len(getattr(item, "shape", ())) > 0


def check_numbers(name: str, index: Any, shape: Any) -> None:
    """Check the range of integers in an index, also of lists and NumPy arrays.

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


#: Entries whose values are on the host.
ON_THE_HOST = (int, np.integer, np.ndarray, list)


def outside(indices: Any, least: int, length: int) -> Any:
    """The first of `indices` outside of [least, length), or None."""
    host = np.asarray(indices)
    wrong = host[(host < least) | (host >= length)].reshape(-1)
    return wrong[0] if wrong.size else None


def without_ones(value_shape: Any, ndim: int) -> tuple[Any, ...]:
    """The shape of a value without leading axes of length 1 beyond `ndim`.

    NumPy drops these in some assignments, PyTorch in all.
    """
    own = tuple(value_shape)
    while len(own) > ndim and own[0] == 1:
        own = own[1:]
    return own


def flipped(part: slice) -> slice:
    """The forward slice of a flipped axis with the elements of a backward slice."""
    start, stop = [None if end is None else -1 - end for end in (part.start, part.stop)]
    return slice(start, stop, -part.step)
