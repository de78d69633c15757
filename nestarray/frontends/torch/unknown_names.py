"""Errors for names that PyTorch has and this frontend does not."""

from __future__ import annotations

import inspect
import sys
from typing import NoReturn

from nestarray.errors.unknown_names import hint, suggestion, unknown_attribute

#: Modules that may have the function under another namespace: module → PyTorch's name of it.
_MODULES = {
    "nestarray.frontends.torch": "torch",
    "nestarray.frontends.torch.nn.functional": "torch.nn.functional",
    "nestarray.frontends.torch.methods": "torch.Tensor",
    "nestarray.frontends.torch.linalg": "torch.linalg",
    "nestarray.frontends.torch.special": "torch.special",
    "nestarray.frontends.torch.fft": "torch.fft",
}


def public_namespace(module: str, *submodules: str) -> None:
    """Give a namespace its ``__dir__``, and a ``__getattr__`` that raises errors with suggestions.

    Args:
        module: the ``__name__`` of the namespace.
        submodules: its files that are namespaces too; the other files of a package are internal.

    Example:
        >>> import nestarray.frontends.torch as torch
        >>> torch.manual_seed(0)
        Traceback (most recent call last):
        AttributeError: torch.manual_seed: nestarray.frontends.torch has no such name; use a key:
        torch.randn(2, 3, key=na.random.key(0))
    """
    space = vars(sys.modules[module])
    shown = _MODULES.get(module, module.removeprefix("nestarray.frontends."))

    def names() -> list[str]:
        if "__all__" in space:
            return sorted(space["__all__"])
        internal = {n for n, value in space.items() if value is sys.modules.get(f"{module}.{n}")}
        return sorted(n for n in space.keys() - (internal - {*submodules}) if n[0] != "_")

    def __getattr__(name: str) -> NoReturn:
        text = f"{shown}.{name}: nestarray.frontends.torch has no such name"
        if name.startswith("__"):
            raise AttributeError(text)

        def message() -> str:
            remedy = suggestion("nestarray.frontends.torch", name) or _in_another_module(name)
            if remedy:
                return f"{text}; use {remedy}"
            known = "; docs/torch_coverage.md lists the functions"
            return text + (hint("", name, names()) or known)

        raise unknown_attribute(message, name)

    space.update(__getattr__=__getattr__, __dir__=names)


def _in_another_module(name: str) -> str:
    """The function of that name in another namespace, or the one for an in-place method."""
    plain = name.removesuffix("_") or name
    for module, shown in _MODULES.items():
        if inspect.isfunction(vars(sys.modules[module]).get(plain)):
            function = f"{shown}.{plain}(x, ...)"
            return f"x = {function}, because arrays are immutable" if plain != name else function
    return ""
