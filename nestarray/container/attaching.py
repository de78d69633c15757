"""Methods and constructors of Container that other files bring, by two decorators.

`docs/generate_stubs.py` writes from them what editors read, ``attached.pyi``.
"""

from __future__ import annotations

from typing import Any, TypeVar

from nestarray.container.container import Container

F = TypeVar("F")  # a function, or a property


def method(function: F) -> F:
    """Make a function of a Container, or a property, a method by its own name; for files above."""
    return _attach(function, function)


def constructor(function: F) -> F:
    """Make a function that returns a Container reachable as ``Container.<its name>``."""
    attribute: Any = staticmethod(function)  # type: ignore[arg-type]
    return _attach(function, attribute)


def _attach(function: F, attribute: Any) -> F:
    named: Any = getattr(function, "fget", function)  # of a property, its function
    name = named.__name__
    assert name not in Container.__dict__, f"Container has a method {name!r} already"
    setattr(Container, name, attribute)
    return function
