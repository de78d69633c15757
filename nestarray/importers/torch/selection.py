"""Whether a source is of torch, decided without running it.

A module of torch is known by its type. A function of tensors may be code over `na`, which the
recorder reads, or code over torch, which ``torch.export`` reads. The bytecode tells them apart: a
function is of torch if it, or a Python function that it names, names a function, a class or a
module object of torch, or takes a method of tensors from a value. The search follows globals,
closures, defaults, attributes of modules, and lists and dicts in these; it does not follow values
that exist only in a call, such as a function that another function returns.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import Any

from nestarray import backends
from nestarray.importers.protocol import Importer, Request
from nestarray.importers.selection import Search, methods_of, packages_of
from nestarray.nn.module import Module


class TorchImporter(Importer):
    """Reads torch modules, functions of tensors, and programs of ``torch.jit.trace``."""

    framework = "torch"

    def accepts(self, request: Request) -> bool:
        """Whether the source is a torch module, or a function that uses torch on tensors."""
        if is_module(request.source):
            return True
        is_function = callable(request.source) and not isinstance(request.source, Module)
        if not is_function or request.frameworks != {"torch"}:
            return False
        is_torch = bool(request.framework) or request.sizes.is_asked
        return is_torch or uses_torch(request.source, (request.args, request.kwargs))


def is_module(source: Any) -> bool:
    """Whether `source` is a torch module, or a function that torch has compiled or scripted."""
    is_compiled_function = hasattr(source, "_torchdynamo_orig_callable")
    is_scripted_function = type(source).__name__ == "ScriptFunction"
    return (
        is_compiled_function
        or is_scripted_function
        or (hasattr(source, "named_parameters") and hasattr(source, "forward"))
    )


def uses_torch(function: Any, example: Any) -> bool:
    """Whether a function of tensors calls functions of torch or methods of tensors."""
    import torch

    methods = methods_of(torch.Tensor) | {"size"}  # a number of Traced, a method of tensors
    return Search(_is_of_torch, methods).finds(function, example)


def _is_of_torch(value: Any) -> bool:
    """Whether a callable is of torch; tensors, dtypes and the class of tensors are not counted."""
    import torch

    if not isinstance(value, type) and _has_layers(value):
        return True
    if not callable(value) or value is torch.Tensor or backends.is_array(value):
        return False
    return isinstance(value, torch.nn.Module) or "torch" in packages_of(value)


def _has_layers(value: Any) -> bool:
    """Whether an object has torch modules as attributes."""
    import torch

    attributes = getattr(value, "__dict__", {})
    return any(isinstance(x, torch.nn.Module) for x in attributes.values())


# -- names in the code of modules ---------------------------------------------------------------


def mentions(module: Any, names: Iterable[str]) -> bool:
    """Whether the methods of a module's own classes, or its forward, use one of the names.

    Code of torch itself does not count, and functions that the methods call are not read.
    """
    sought = set(names)
    return any(not sought.isdisjoint(code.co_names) for code in _codes(module))


def _codes(module: Any) -> Iterator[types.CodeType]:
    classes = [cls for part in module.modules() for cls in type(part).__mro__]
    functions = [vars(module).get("forward")]
    for cls in dict.fromkeys(classes):
        if not cls.__module__.startswith("torch."):
            functions += vars(cls).values()
    for function in functions:
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        if isinstance(code, types.CodeType):
            yield from _nested(code)


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)
