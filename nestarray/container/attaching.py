"""Methods and constructors that other files attach to Container.

`@method` and `@constructor` attach a function when its module is imported. For methods that few
programs call, `nestarray.lazy_imports.attach_methods` imports the module on first access.
`tools/stubs.py` writes all of them to ``attached.pyi`` for editors and type checkers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from nestarray.container.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.lazy_imports import LazyMethod

F = TypeVar("F")  # a function, or a property


def method(function: F) -> F:
    """Attach a function of a Container, or a property, as a method of the same name."""
    return _attach(function, signature_errors(method_of="Container"))


def constructor(function: F) -> F:
    """Attach a function that returns a Container as ``Container.<its name>``."""
    name = f"Container.{function.__name__}"  # type: ignore[attr-defined]
    return _attach(function, lambda made: staticmethod(signature_errors(name)(made)))


def _attach(function: Any, attached: Callable[[Any], Any]) -> Any:
    named = getattr(function, "fget", function)  # the function of a property
    name = named.__name__
    is_free = isinstance(vars(Container).get(name), (LazyMethod, type(None)))
    assert is_free, f"Container has a method {name!r} already"
    if named is not function or name[:2] == "__":  # operators take no keyword arguments
        setattr(Container, name, function)
        return function
    setattr(Container, name, attached(function))
    return signature_errors()(function)
