"""Imports that happen on first use: names of packages, optional packages, frameworks.

``import nestarray`` must be fast and must import no framework. These functions delay imports:
`attach` gives a package names whose modules are imported on first access, `attach_methods` does
the same for methods of a class, `optional` imports a package that nestarray does not require, and
`before_import` and `after_import` register functions to call when the user imports a framework.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from nestarray.dynamo import compile_time_constant
from nestarray.errors import MissingFrameworkError
from nestarray.errors.unknown_names import unknown_name


def attach(package: str, names: Mapping[str, Sequence[str]]) -> None:
    """Set ``__getattr__`` of a package, and a ``__dir__`` without its internal modules.

    ``dir`` lists ``__all__`` if the package has it.

    The package also imports the names under ``TYPE_CHECKING`` for type checkers; a test compares
    the two. A ``__getattr__`` in the text of the package would make type checkers accept any name.

    Args:
        package: its ``__name__``.
        names: module → the names it gives to the package; under the package itself, its
            public modules.

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
        if "__all__" in own:
            return sorted(own["__all__"])
        internal = {
            n for n in own if f"{package}.{n}" in sys.modules and own[n].__class__ is ModuleType
        }
        return sorted({*own, *sources} - (internal - {*sources}))

    vars(sys.modules[package]).update(__getattr__=get, __dir__=names_of_all)


def attach_methods(cls: type | str, methods: Mapping[str, Sequence[str]]) -> None:
    """Attach methods to a class; their module is imported when one of them is first accessed.

    Args:
        cls: the class; or its full name, if its module is not imported yet.
        methods: module → names of the methods. They are functions of the module, unless the
            module itself sets another attribute of the class.
    """
    if isinstance(cls, str):
        home, _, name = cls.rpartition(".")
        after_import(home, lambda: attach_methods(getattr(sys.modules[home], name), methods))
        return
    for module, names in methods.items():
        for name in names:
            if name not in vars(cls):
                setattr(cls, name, LazyMethod(cls, name, module))


class LazyMethod:
    """The descriptor of a method whose module is not yet imported."""

    def __init__(self, cls: type, name: str, module: str) -> None:
        self.cls, self.name, self.module = cls, name, module

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        module = importlib.import_module(self.module)
        if vars(self.cls)[self.name] is self:
            setattr(self.cls, self.name, getattr(module, self.name))
        return getattr(owner if instance is None else instance, self.name)


@compile_time_constant
def optional(package: str, needing: str, *, extra: str, instead: str = "") -> Any:
    """Import the module `package`.

    Args:
        package: its name.
        needing: the subject and verb of the error, ``"HDF5 files need"``.
        extra: the extra of nestarray that installs it.
        instead: an alternative to installing it, ``", or …"``.

    Raises:
        MissingFrameworkError: it is not installed; names the extra.

    Example:
        >>> from nestarray import lazy_imports
        >>> lazy_imports.optional("numpy", "arrays need", extra="all").__name__
        'numpy'
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        missing = (error.name or package).partition(".")[0]
        if missing in ("torch", "jax", "tensorflow") and missing != extra:
            extra = f"{extra},{missing}"  # Keras imports one of them, its backend
        raise MissingFrameworkError(
            f"{needing} the package {package!r}, which cannot be imported ({error}). "
            f"Install it with: pip install 'nestarray[{extra}]'{instead}"
        ) from error


_before: dict[str, Callable[[ModuleSpec], None]] = {}
_after: dict[str, Callable[[], None]] = {}


def before_import(module: str, function: Callable[[ModuleSpec], None]) -> None:
    """Call `function` with the module's spec before `module` runs."""
    _before[module] = function


def after_import(module: str, function: Callable[[], None]) -> None:
    """Call `function` after `module` was imported; `install` calls it for imported modules."""
    _after[module] = function


def install() -> None:
    """Call the functions for modules that are already imported, and watch for the others.

    A finder at the front of ``sys.meta_path`` wraps the loader of a registered module. It does
    nothing for ``importlib.util.find_spec``, which imports nothing.
    """
    for name in [n for n in _after if sys.modules.get(n) is not None]:
        _after.pop(name)()
    sys.meta_path.insert(0, _Finder())


class _Finder:
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        if name not in _after and name not in _before:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """Runs a module's own loader between the registered functions."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        spec = module.__spec__
        spec.loader = module.__loader__ = self._loader
        if spec.name in _before:
            _before.pop(spec.name)(spec)
        self._loader.exec_module(module)
        if spec.name in _after:
            _after.pop(spec.name)()
