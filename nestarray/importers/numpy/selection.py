"""Whether a function is NumPy code, decided without running it."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray.graph.record.recorder import Traced
from nestarray.importers.protocol import Importer, Request
from nestarray.importers.selection import Search, packages_of


class NumpyImporter(Importer):
    """Records functions of NumPy arrays whose code uses NumPy, and maybe ops of `na`."""

    framework = "numpy"

    def accepts(self, request: Request) -> bool:
        """Whether the arrays of the example are NumPy's, and the code uses NumPy."""
        if not inspect.isroutine(request.source):
            return False
        if request.frameworks != {"numpy"}:
            return False
        if request.framework:
            return True
        example = (request.args, request.kwargs)
        finds = lambda *of: Search(*of).finds(request.source, example)  # noqa: E731
        return (
            finds(_is_of(("numpy", "scipy")), _METHODS)
            or _writes_elements(request.source)
            or (finds(_is_of(("math",))) and not finds(_is_of(("nestarray",))))
        )

    def keywords(self, source: Any) -> frozenset[str]:
        """``v``: the object whose arrays are variables and state."""
        names = inspect.signature(source).parameters if callable(source) else {}
        return frozenset() if "v" in names else frozenset(["v"])


_METHODS = frozenset(n for n in dir(np.ndarray) if not n.startswith("_")) - {*dir(Traced)}


def _writes_elements(function: Any) -> bool:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code is not None and any(
        step.opname in ("STORE_SUBSCR", "STORE_SLICE") for step in dis.get_instructions(code)
    )


def _is_of(packages: tuple[str, ...]) -> Callable[[Any], bool]:
    """Whether a value is a function of packages, or makes functions of NumPy as `np.vectorize` does.

    Arrays are constants, other types are for `isinstance`.
    """

    def is_of(value: Any) -> bool:
        if (isinstance(value, type) and value is not np.vectorize) or not callable(value):
            return False
        return not packages_of(value).isdisjoint(packages)

    return is_of
