"""Checks of method arguments, and their error messages.

Arguments are checked before any work, so that a wrong one neither fails inside a loop over leaves
nor produces a meaningless tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from nestarray.container.spec import Spec
from nestarray.errors import ArgumentError


def refuse(function: str, name: str, value: Any, expected: str) -> NoReturn:
    """Raise the error for an argument of a wrong type.

    Example:
        >>> refuse("Container.cut", "depth", [3], "an integer")
        Traceback (most recent call last):
        nestarray.errors.ArgumentError: Container.cut: depth: got list, expected an integer
    """
    is_short = value is None or isinstance(value, (bool, int, float, str))
    shown = repr(value) if is_short else type(value).__name__
    raise ArgumentError(f"{function}: {name}: got {shown}, expected {expected}")


def check_container(function: str, name: str, value: Any) -> None:
    """Raise an error unless the argument is a Container."""
    if not isinstance(getattr(value, "_spec", None), Spec):
        raise ArgumentError(
            f"{function}: {name}: got {type(value).__name__}, expected a Container; "
            f"make it one with na.Container({name})"
        )


#: (library, name of a base class) → constructor for objects that hold arrays.
_HOLDERS = {
    ("torch", "Module"): "Container.from_torch_module takes its parameters",
    ("keras", "Layer"): "Container.from_keras takes its variables",
    ("equinox", "Module"): "Container.from_equinox takes its arrays",
    ("flax", "Module"): "Container.from_flax takes an nnx module, or what init of linen returns",
    ("flax", "Variable"): "Container.from_flax takes the arrays of a whole nnx state",
}


#: Attributes of record classes: dataclasses, attrs, pydantic.
_RECORDS = ("dataclass_fields", "attrs_attrs", "pydantic_fields")


def constructor_for(cls: type) -> str | None:
    """The constructor for the arrays of a module or a record; None for other objects."""
    bases = [(base.__module__.partition(".")[0], base.__name__) for base in cls.__mro__]
    instead = next((_HOLDERS[base] for base in bases if base in _HOLDERS), None)
    if any(hasattr(cls, f"__{kind}__") for kind in _RECORDS):
        return instead or "Container.from_object takes its fields"
    return instead


def check_no_record(tree: Any) -> None:
    """Raise an error for an object that holds arrays, because it would become one leaf."""
    instead = constructor_for(type(tree))
    if instead is not None:
        raise ArgumentError(
            f"Container: tree: got a {type(tree).__name__}, which would be one leaf; {instead}, "
            "Container({'name': tree}) keeps it whole"
        )


def check_function(function: str, name: str, value: Any, call: str) -> None:
    """Raise an error unless `value` is callable; `call` shows the call, ``fn(leaf)``."""
    if not callable(value):
        refuse(function, name, value, f"a function, called as {call}")


def check_mapping(function: str, name: str, value: Any, entries: str) -> None:
    """Raise an error unless `value` is a mapping; `entries` describes its entries."""
    if not isinstance(value, Mapping):
        refuse(function, name, value, f"a mapping of {entries}")


def check_separator(function: str, value: Any) -> None:
    """Raise an error unless `value` can separate keys."""
    if not isinstance(value, str) or not value:
        refuse(function, "sep", value, "a string such as '/' or '.'")


def check_depth(function: str, name: str, value: Any, least: int) -> None:
    """Raise an error unless `value` is a number of levels."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        refuse(function, name, value, f"an integer of at least {least}")


def pairs_of(tree: Iterator[Any]) -> dict[Any, Any]:
    """The entries of an iterator.

    Raises:
        ArgumentError: an item is not a pair of a key and a value.
    """
    entries: dict[Any, Any] = {}
    for pair in tree:
        if not isinstance(pair, tuple) or len(pair) != 2:
            refuse("Container", "tree", pair, "(key, value) pairs of an iterator")
        entries[pair[0]] = pair[1]
    return entries
