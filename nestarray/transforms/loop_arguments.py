"""Checks of the arguments of loops and branches: numbers, scalars, axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nestarray import dtypes
from nestarray.container.access import bare
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from nestarray.transforms.arguments import describe
from nestarray.transforms.carries import Form, is_array, shape_of
from nestarray.typing import is_size_type, is_symbolic_size


def scalar(name: str, what: str, x: Any, kind: str) -> Any:
    """Check that `x`, an array or a Container of one array, is a scalar of a kind of dtype."""
    x = bare(x)
    expected = {"bool": "a boolean", "int": "an integer"}[kind]
    if not is_array(x):
        if isinstance(x, int) and isinstance(x, bool) == (kind == "bool"):
            return x
        if kind == "int" and is_size_type(type(x)):
            return x
        raise ArgumentError(f"{name}: {what}: got {describe(x)}, expected {expected} scalar")
    if shape_of(x) not in ((), None):
        raise ShapeError(
            f"{name}: {what}: got {describe(x)}, expected {expected} scalar, shape (); reduce it, "
            "for example with na.all or na.any"
        )
    found = dtypes.dtype_of(x)
    if found.kind not in ((kind, "uint") if kind == "int" else (kind,)):
        raise DtypeError(f"{name}: {what}: got {describe(x)}, expected {expected} scalar")
    return x


def length_of(name: str, columns: Sequence[Any], rows: Form, length: int | None) -> int | None:
    """The number of rows; None if a TensorFlow graph does not know it."""
    first: tuple[int, str] | None = None if length is None else (length, "length")
    for place, x in enumerate(columns):
        shape, path = shape_of(x), rows.path(place)
        if shape == ():
            raise ShapeError(
                f"{name}: xs{path}: got {describe(x)}, expected a first axis to go over"
            )
        size = shape[0] if shape else None
        if size is None:
            continue
        if first is not None and size != first[0]:
            raise ShapeError(
                f"{name}: xs{path}: got {describe(x)}, expected a first axis of {first[0]}, as "
                f"{first[1]} has it"
            )
        first = first or (size, f"xs{path}")
    if first is None and not columns:
        raise ArgumentError(f"{name}: length: got None, and xs has no array that would tell it")
    return None if first is None else first[0]


def axes_of(arrays: Sequence[Any], form: Form, axis: int) -> list[int]:
    """The axis of each array, as a non-negative number; checks for equal sizes."""
    places, sizes = [], []
    for place, x in enumerate(arrays):
        shape, path = tuple(x.shape), form.path(place)
        if not -len(shape) <= axis < len(shape):
            raise IndexingError(
                f"associative_scan: axis: got {axis} for elems{path}, {describe(x)}"
            )
        if sizes and shape[axis] != sizes[0]:
            raise ShapeError(
                f"associative_scan: elems{path}: got {describe(x)}, expected the size {sizes[0]} "
                f"along axis {axis}, as elems{form.path(0)} has it"
            )
        places.append(axis % len(shape))
        sizes.append(shape[axis])
    return places


def check_count(name: str, what: str, value: Any, *, least: int = 0) -> None:
    """Raise unless `value` is None or an integer from `least` on."""
    if (
        value is None
        or is_symbolic_size(value)
        or (isinstance(value, int) and value is not True and value >= least)
    ):
        return
    raise ArgumentError(f"{name}: {what}: got {value!r}, expected an integer from {least} on")
