"""Names in the code of a module."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import Any


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
