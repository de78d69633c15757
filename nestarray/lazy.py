"""Names of a package whose modules are imported when the names are first asked for.

``import nestarray`` is to be fast, and what a program does not use costs it nothing. A package
says such names twice: as imports under ``TYPE_CHECKING``, which tools read, and in a table
for `attach`; a test compares the two.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def attach(
    package: str, names: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package.

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
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if module == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def names_of_all() -> list[str]:
        return sorted({*vars(sys.modules[package]), *sources})

    return get, names_of_all
