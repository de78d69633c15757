"""What is done when another package is imported, before or after nestarray.

Frameworks are told about Containers, and are never imported for that purpose: a finder at the
front of ``sys.meta_path`` lets the ordinary import happen, and what is asked for in `BEFORE` and
`AFTER` with it. Who only looks whether a package is there (``importlib.util.find_spec``) imports
nothing, and then nothing is done yet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

#: By the name of a module, what is called before it runs; files above add to it.
BEFORE: dict[str, Callable[[ModuleSpec], None]] = {}
#: By the name of a module, what is called when it is there; files above add to it.
AFTER: dict[str, Callable[[], None]] = {}


class _Loader:
    """Runs a module's own loader, between what is asked for before and after."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        spec = module.__spec__
        spec.loader = module.__loader__ = self._loader
        if spec.name in BEFORE:
            BEFORE.pop(spec.name)(spec)
        self._loader.exec_module(module)
        if spec.name in AFTER:
            AFTER.pop(spec.name)()


class _Finder:
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        if name not in AFTER and name not in BEFORE:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


def install() -> None:
    """Do what is asked for after the modules that are there already; see to the others."""
    for name in [n for n in AFTER if sys.modules.get(n) is not None]:
        AFTER.pop(name)()
    sys.meta_path.insert(0, _Finder())


def _bind_to_its_own_symbols(spec: ModuleSpec) -> None:
    """Load the library of Triton so that it calls the LLVM that is in it.

    TensorFlow makes the symbols of its own LLVM everybody's, and a Triton that is loaded later
    would call those and crash. torch imports Triton with its first optimizer or compilation.

    https://github.com/tensorflow/tensorflow/issues/124205
    """
    import ctypes
    import os
    from pathlib import Path

    if "tensorflow" not in sys.modules or not hasattr(os, "RTLD_DEEPBIND"):
        return  # where there is no such flag, libraries do not share names
    for folder in spec.submodule_search_locations or ():
        for library in Path(folder, "_C").glob("libtriton*.so"):
            ctypes.CDLL(str(library), mode=os.RTLD_NOW | os.RTLD_DEEPBIND)


BEFORE["triton"] = _bind_to_its_own_symbols
