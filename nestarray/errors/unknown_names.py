"""Errors for names that do not exist, with the name or expression to use instead."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NoReturn

from nestarray.errors.suggestions import SUGGESTIONS


def nearest_name(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The most similar of `names`, ignoring case; None if all similarities are below `cutoff`."""
    import difflib  # only errors need it

    lower = {own.lower(): own for own in names}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=cutoff)
    return lower[near[0]] if near else None


@cache
def _remedies(namespace: str) -> dict[str, list[str]]:
    """Name → remedies, for one namespace of the table."""
    found: dict[str, list[str]] = {}
    for remedy, names in SUGGESTIONS.get(namespace, {}).items():
        for name in names.split():
            found.setdefault(name, []).append(remedy)
    return found


def suggestion(namespace: str, name: str) -> str:
    """The remedy for `name` in the table of suggestions; "" if there is none.

    Example:
        >>> suggestion("nestarray", "concatenate"), suggestion("Container", "tree_leaves")
        ('na.concat', 'c.leaves()')
    """
    found = _remedies(namespace).get(name)
    if found is None and name.startswith("tree_"):
        found = _remedies("nestarray.tree").get(name.removeprefix("tree_"))
    return found[0] if found else ""


def hint(namespace: str, name: str, public: Iterable[str]) -> str:
    """The end of an error message: "; use …", "; did you mean …?" or "".

    Args:
        namespace: of the table of suggestions.
        name: the unknown name.
        public: the names that exist.
    """
    if remedy := suggestion(namespace, name):
        return f"; use {remedy}"
    near = nearest_name(name, [*_remedies(namespace), *public], cutoff=0.8)
    if near is None:
        return ""
    remedy = suggestion(namespace, near)
    return f"; did you mean {near}?" + (f" use {remedy}" if remedy else "")


def parameter_hint(name: str, parameters: Sequence[str]) -> str:
    """ ", use …" for an unknown argument of a function with these parameters, or ""."""
    remedies = _remedies("parameters").get(name, [])
    usable = [r for r in remedies if r in parameters] or [
        r for r in remedies if not r.isidentifier()
    ]
    if usable:
        return f", use {usable[0]}"
    # one or two letters are similar to many names
    near = nearest_name(name, parameters) if len(name) > 2 else None
    return f", use {near}" if near else ""


class _LazyMessage:
    """A message that is computed when it is printed, not by ``hasattr``."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def unknown_attribute(message: Callable[[], str], name: str) -> AttributeError:
    """The error for a missing attribute, without Python's own guess.

    Args:
        message: computes the message when it is printed. Similar names take longer to find than
            a model takes to run.
        name: the attribute.
    """
    return AttributeError(_LazyMessage(message), name=name, obj=None)


def unknown_name(module: str, name: str, public: Iterable[str]) -> AttributeError:
    """The error for a name that `module` does not have.

    Example:
        >>> import nestarray as na
        >>> na.concatenate
        Traceback (most recent call last):
        AttributeError: module 'nestarray' has no attribute 'concatenate'; use na.concat
        >>> na.sotfmax
        Traceback (most recent call last):
        AttributeError: module 'nestarray' has no attribute 'sotfmax'; did you mean softmax?
    """
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):  # asked for by tools
        return AttributeError(text)
    return unknown_attribute(
        lambda: text + hint(module, name, (n for n in public if n[:1] != "_")), name
    )


def suggest_names(module: str) -> None:
    """Let ``dir(module)`` list its ``__all__``, and an unknown name raise `unknown_name`.

    A ``__getattr__`` in the module's own text would tell type checkers that every name exists.
    """
    space = vars(sys.modules[module])

    def __getattr__(name: str) -> NoReturn:
        raise unknown_name(module, name, space["__all__"])

    def __dir__() -> list[str]:
        return sorted(space["__all__"])

    space.update(__getattr__=__getattr__, __dir__=__dir__)
