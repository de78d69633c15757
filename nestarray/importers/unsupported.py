"""Models and functions of libraries without an importer, recognised by the modules of their types.

No library is imported for this.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

from nestarray.errors import ConversionError

_NETWORK = "write the network with na.nn or torch, and move the variables: c = na.Container."
_FUNCTION = "write the function with na"

#: Python module → (library, remedy). The first entry that fits counts.
_LIBRARIES = {
    "keras": ("Keras", f"{_NETWORK}from_keras(model), c.match(net.v).apply(c)"),
    "tensorflow": ("TensorFlow", _FUNCTION),
}


def unsupported(source: Any) -> ConversionError | None:
    """The error for a source of a library without an importer; None for other sources."""
    modules = [f"{module}." for module in _modules(source)]
    for module, (library, remedy) in _LIBRARIES.items():
        if any(each.startswith(f"{module}.") for each in modules):
            name = getattr(source, "__name__", type(source).__name__)
            return ConversionError(
                f"trace_graph: source: got {name}, which is of {library}; import from {library} is "
                f"not available yet; {remedy}"
            )
    return None


def _modules(source: Any) -> Iterator[str]:
    """The Python modules that define a source: its classes, its code, the object of a method."""
    while isinstance(source, functools.partial):
        source = source.func
    if isinstance(source, types.MethodType):
        yield from _modules(source.__self__)
        source = source.__func__
    if isinstance(source, types.FunctionType):  # its __module__ may be that of a wrapped function
        yield source.__globals__.get("__name__", "")
    for cls in type(source).__mro__:
        yield cls.__module__
