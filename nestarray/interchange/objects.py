"""Containers and records: dataclasses, named tuples, attrs classes and pydantic models.

A record becomes a node with its fields as keys. `nestarray.Container` itself treats a named tuple
as a tuple, and any other record as a leaf.
"""

from __future__ import annotations

import copy
import dataclasses
import typing
from collections.abc import Mapping
from functools import partial
from typing import Any

from nestarray import backends
from nestarray.container import Container, constructor, method
from nestarray.errors import ArgumentError, StructureError
from nestarray.errors.unknown_names import nearest_name
from nestarray.interchange.walking import Opened, container_of, tree_of


@constructor
def from_object(obj: Any, /) -> Container:
    """The fields of a dataclass, a named tuple, an attrs class or a pydantic model, nested.

    Nested records, mappings, lists and tuples become nodes; anything else is a leaf, of any type.
    `to_object` is the inverse.

    Args:
        obj: a record, or a mapping, list or tuple that contains records.

    Returns:
        a Container with the same leaves; fields keep their order.

    Raises:
        ArgumentError: `obj` is none of these, or is a class instead of an instance.
        StructureError: a key of a mapping is neither a string nor an integer, or `obj`
            contains itself.

    Example:
        >>> from typing import NamedTuple
        >>> import numpy as np, nestarray as na
        >>> class Dense(NamedTuple):
        ...     weight: np.ndarray
        ...     bias: np.ndarray
        >>> na.Container.from_object({"fc": Dense(np.ones((2, 3)), np.zeros(2))}).paths()
        ('fc/weight', 'fc/bias')
    """
    if isinstance(obj, type) or not (isinstance(obj, Container) or open_record(obj)):
        came = f"the class {obj.__name__}" if isinstance(obj, type) else type(obj).__name__
        raise ArgumentError(
            f"Container.from_object: obj: got {came}, expected an instance of a dataclass, a named "
            "tuple, an attrs class or a pydantic model, or a mapping, list or tuple"
        )
    return container_of(obj, open_record, "Container.from_object")


@method
def to_object(c: Container, /, like: Any) -> Any:
    """A record of the classes of `like` with the leaves of `c`; the inverse of `from_object`.

    Args:
        c: a Container.
        like: a record as for `from_object`, or a class. An instance is copied with new leaves:
            other fields are kept, and ``__init__``, ``__post_init__`` and validators are not
            called. A class is called with its fields by name; fields annotated with a record
            class are created in the same way, and fields missing in `c` get their defaults.

    Returns:
        an object of the class of `like`.

    Raises:
        ArgumentError: `like` is neither a record nor a record class.
        StructureError: a path of `c` has no field, or a field without a default has no leaf.

    Example:
        >>> from dataclasses import dataclass
        >>> import nestarray as na
        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: float
        ...     y: float = 0.0
        >>> na.Container(x=1.0, y=2.0).to_object(Point(0.0, 0.0))
        Point(x=1.0, y=2.0)
        >>> na.Container(x=1.0).to_object(Point)
        Point(x=1.0, y=0.0)
    """
    if isinstance(like, type):
        return _instance(like, c, "")
    if not (isinstance(like, Container) or open_record(like)):
        raise ArgumentError(
            f"to_object: like: got {type(like).__name__}, expected a dataclass, a named tuple, an "
            "attrs class or a pydantic model (the class or an instance), or a mapping, list or tuple that holds such"
        )
    return tree_of(c, like, open_record, "to_object")


def _field_names(cls: type) -> tuple[str, ...] | None:
    """The fields of a record class; None for any other class."""
    if dataclasses.is_dataclass(cls):
        return tuple(f.name for f in dataclasses.fields(cls))
    if "__attrs_attrs__" in dir(cls):  # does not require attrs
        return tuple(a.name for a in cls.__attrs_attrs__)  # type: ignore[attr-defined]
    if "__pydantic_fields__" in dir(cls):
        return tuple(cls.__pydantic_fields__)  # type: ignore[attr-defined]
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return tuple(cls._fields)  # type: ignore[attr-defined]
    return None


def open_record(node: Any) -> Opened | None:
    """The children of a record, mapping, list or tuple; None for a leaf."""
    cls = type(node)
    if cls in (dict, list, tuple):  # fast path for most nodes
        keys = tuple(node) if cls is dict else tuple(range(len(node)))
        children = tuple(node.values()) if cls is dict else node
        make = partial(_mapping, node) if cls is dict else cls
        return Opened(cls.__name__, keys, children, make)
    if backends.backend_of_type(cls) is not None:
        return None
    names = _field_names(cls)
    if names is not None:
        present = [name for name in names if hasattr(node, name)]  # an unset field(init=False)
        children = [getattr(node, name) for name in present]
        make = partial(_with_fields, node, present)
        if issubclass(cls, tuple):
            make = cls._make  # type: ignore[attr-defined]
        return Opened("dict", present, children, make)
    if isinstance(node, Mapping):
        return Opened("dict", tuple(node), tuple(node.values()), partial(_mapping, node))
    if isinstance(node, (list, tuple)):
        kind = "list" if isinstance(node, list) else "tuple"
        return Opened(kind, tuple(range(len(node))), tuple(node), cls)
    return None


def _mapping(node: Mapping[Any, Any], values: list[Any]) -> Any:
    """A mapping of the type of `node`, with its settings (such as a default factory)."""
    pairs = zip(node, values, strict=True)
    if hasattr(node, "default_factory"):
        return type(node)(node.default_factory, pairs)  # type: ignore[call-arg, attr-defined]
    return type(node)(dict(pairs))  # type: ignore[call-arg]


def _with_fields(node: Any, names: list[str], values: list[Any]) -> Any:
    changed = copy.copy(node)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(changed, name, value)  # also for frozen classes
    return changed


# -- from a class ---------------------------------------------------------------------------------


def _instance(cls: type, c: Any, path: str) -> Any:
    parameters = _parameters(cls)
    if parameters is None:
        raise ArgumentError(
            f"to_object: like: got the class {cls.__name__}, expected one of a dataclass, a named "
            "tuple, an attrs class or a pydantic model"
        )
    where = f"at {path!r}" if path else "at the top"
    if c.spec.kind == "leaf":
        raise StructureError(
            f"to_object: got a bare array {where}, expected fields of {cls.__name__}"
        )
    for key in c:
        if key not in parameters and key in (_field_names(cls) or ()):
            raise StructureError(
                f"to_object: the field {key!r} of {cls.__name__} {where} is no argument of its "
                "__init__; give an instance as `like`"
            )
        if key not in parameters:
            near = nearest_name(str(key), parameters)
            hint = f"; did you mean {near!r}?" if near is not None else ""
            raise StructureError(f"to_object: {cls.__name__} has no field {key!r} {where}{hint}")
    missing = [n for n, (_, needed) in parameters.items() if needed and n not in c.spec.index]
    if missing:
        raise StructureError(
            f"to_object: the field {missing[0]!r} of {cls.__name__} {where} has no default and no "
            "leaf; set it, or give an instance as `like`"
        )
    hints = _hints(cls)
    arguments: dict[str, Any] = {}
    for key, value in c.items():
        hint, inside = hints.get(key), f"{path}/{key}" if path else str(key)
        if isinstance(value, Container):
            is_record = isinstance(hint, type) and _field_names(hint) is not None
            value = _instance(hint, value, inside) if is_record else value.to_dict()  # type: ignore[arg-type]
        arguments[parameters[key][0]] = value
    return cls(**arguments)


def _parameters(cls: type) -> dict[str, tuple[str, bool]] | None:
    """For each field of ``__init__``, the argument's name and whether it is required."""
    if dataclasses.is_dataclass(cls):
        missing = dataclasses.MISSING
        return {
            f.name: (f.name, f.default is missing and f.default_factory is missing)
            for f in dataclasses.fields(cls)
            if f.init
        }
    if "__attrs_attrs__" in dir(cls):
        from attrs import NOTHING

        fields = cls.__attrs_attrs__  # type: ignore[attr-defined]
        return {a.name: (a.alias, a.default is NOTHING) for a in fields if a.init}
    if "__pydantic_fields__" in dir(cls):
        fields = cls.__pydantic_fields__  # type: ignore[attr-defined]
        return {name: (f.alias or name, f.is_required()) for name, f in fields.items()}
    if _field_names(cls) is not None:
        return {n: (n, n not in cls._field_defaults) for n in cls._fields}  # type: ignore[attr-defined]
    return None


def _hints(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except NameError as error:  # a class that is local to a function is not found by name
        raise ArgumentError(
            f"to_object: like: the annotations of {cls.__name__} cannot be read ({error}); give an "
            "instance of it instead"
        ) from error
