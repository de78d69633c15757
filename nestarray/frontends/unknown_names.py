"""Errors for names that a framework has and its frontend here does not."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

from nestarray.errors.unknown_names import hint, suggestion, unknown_attribute

#: Frontend → its namespaces that may have the function of a missing name, and upstream's names of them.
_MODULES = {
    "nestarray.frontends.keras": {
        "": "keras",
        ".ops": "keras.ops",
        ".ops.numpy": "keras.ops.numpy",
        ".ops.nn": "keras.ops.nn",
        ".ops.linalg": "keras.ops.linalg",
        ".ops.image": "keras.ops.image",
    },
    "nestarray.frontends.torch": {
        "": "torch",
        ".nn.functional": "torch.nn.functional",
        ".methods": "torch.Tensor",
        ".linalg": "torch.linalg",
        ".special": "torch.special",
        ".fft": "torch.fft",
    },
    "nestarray.frontends.tensorflow": {
        "": "tf",
        ".math": "tf.math",
        ".nn": "tf.nn",
        ".linalg": "tf.linalg",
        ".signal": "tf.signal",
        ".image": "tf.image",
        ".sparse": "tf.sparse",
        ".sets": "tf.sets",
    },
}


def public_namespace(module: str, *submodules: str) -> None:
    """Give a namespace its ``__dir__``, and a ``__getattr__`` that raises errors with suggestions.

    Args:
        module: the ``__name__`` of the namespace.
        submodules: its files that are namespaces too, imported on first access at the latest; the
            other files of a package are internal.

    Example:
        >>> import nestarray.frontends.torch as torch
        >>> torch.manual_seed(0)
        Traceback (most recent call last):
        AttributeError: torch.manual_seed: nestarray.frontends.torch has no such name; use a key:
        torch.randn(2, 3, key=na.random.key(0))
    """
    space = vars(sys.modules[module])
    frontend = ".".join(module.split(".")[:3])
    root = _MODULES[frontend][""]
    inner = module.removeprefix(frontend)
    shown = _MODULES[frontend].get(inner, root + inner)

    def names() -> list[str]:
        if "__all__" in space:
            return sorted(space["__all__"])
        internal = {
            n for n, value in space.items() if value is sys.modules.get(f"{module}.{n}", space)
        }
        return sorted(n for n in {*space, *submodules} - (internal - {*submodules}) if n[0] != "_")

    def __getattr__(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f"{module}.{name}")
        text = f"{shown}.{name}: {frontend} has no such name"
        if name.startswith("__"):
            raise AttributeError(text)

        def message() -> str:
            remedy = suggestion(frontend, name) or _in_another_module(frontend, name)
            if remedy:
                return f"{text}; use {remedy}"
            page = f"docs/{frontend.rpartition('.')[2]}_coverage.md"
            return text + (hint("", name, names()) or f"; {page} lists the functions")

        raise unknown_attribute(message, name)

    space.update(__getattr__=__getattr__, __dir__=names)


def _in_another_module(frontend: str, name: str) -> str:
    """The function of that name in another namespace, or the one for an in-place method."""
    plain = name.removesuffix("_") or name
    for inner, shown in _MODULES[frontend].items():
        module = sys.modules.get(frontend + inner)
        if module is not None and inspect.isfunction(vars(module).get(plain)):
            function = f"{shown}.{plain}(x, ...)"
            return f"x = {function}, because arrays are immutable" if plain != name else function
    return ""
