"""Names of a package whose modules are imported when the names are first asked for.

``import nestarray`` is to be fast, and what a program does not use costs it nothing. A package
says such names twice: as imports under ``TYPE_CHECKING``, which tools read, and in a table
for `attach`; a test compares the two.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from nestarray.errors.unknown_names import unknown_name


def attach(package: str, names: Mapping[str, Sequence[str]]) -> None:
    """Give a package its ``__getattr__``, and a ``__dir__`` without the modules of its inside.

    They are set from here: a ``__getattr__`` in its text tells type checkers that it has every name.

    Args:
        package: its ``__name__``.
        names: the names that each module gives to the package; what the package gives
            itself are its modules.

    References:
        https://peps.python.org/pep-0562/
    """
    sources = {name: module for module, given in names.items() for name in given}

    def get(name: str) -> Any:
        module = sources.get(name)
        if module is None:
            raise unknown_name(package, name, names_of_all())
        if module == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def names_of_all() -> list[str]:
        own = vars(sys.modules[package])
        inside = {
            n for n in own if f"{package}.{n}" in sys.modules and own[n].__class__ is ModuleType
        }
        return sorted({*own, *sources} - (inside - {*sources}))

    vars(sys.modules[package]).update(__getattr__=get, __dir__=names_of_all)
