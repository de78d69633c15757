"""Methods and constructors of Container that other files bring, by two decorators.

`docs/generate_stubs.py` writes from them what editors read, ``attached.pyi``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from nestarray.container.container import Container
from nestarray.errors.signatures import signature_errors

F = TypeVar("F")  # a function, or a property


def method(function: F) -> F:
    """Make a function of a Container, or a property, a method by its own name; for files above."""
    return _attach(function, signature_errors(method_of="Container"))


def constructor(function: F) -> F:
    """Make a function that returns a Container reachable as ``Container.<its name>``."""
    name = f"Container.{function.__name__}"  # type: ignore[attr-defined]
    return _attach(function, lambda made: staticmethod(signature_errors(name)(made)))


def _attach(function: Any, attached: Callable[[Any], Any]) -> Any:
    named = getattr(function, "fget", function)  # of a property, its function
    name = named.__name__
    assert name not in Container.__dict__, f"Container has a method {name!r} already"
    if named is not function or name[:2] == "__":  # nobody misspells arguments of operators
        setattr(Container, name, function)
        return function
    setattr(Container, name, attached(function))
    return signature_errors()(function)
