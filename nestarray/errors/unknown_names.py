"""Errors for names that do not exist; they suggest the name that was meant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from nestarray.errors import suggestions


class _Later:
    """A text that is made when it is read; ``hasattr`` does not read it."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def unknown_attribute(message: Callable[[], str], name: str) -> AttributeError:
    """The error for an attribute that is not there, whose message says what is.

    Python would add a guess of its own when it prints an error that names no object.

    Args:
        message: gives it, when somebody reads it: to look for names that are near takes longer
            than a call of a model.
        name: the attribute.
    """
    return AttributeError(_Later(message), name=name, obj=None)


def nearest_name(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Of `names` the one most like `name`, for a hint; None where all are less alike than `cutoff`.

    Capitals and small letters are alike.
    """
    import difflib  # only errors need it

    by_letters = {own.lower(): own for own in names}
    near = difflib.get_close_matches(name.lower(), by_letters, n=1, cutoff=cutoff)
    return by_letters[near[0]] if near else None


def meant_argument(name: str, own: Sequence[str]) -> str | None:
    """Of the parameters of a function the one that `name` stands for elsewhere, or is like."""
    meant = [ours for ours in suggestions.MEANT.get(name, ()) if ours in own]
    if meant or len(name) < 3:  # two letters are like many others
        return meant[0] if meant else None
    return nearest_name(name, own)


def explanation(name: str, public: Iterable[str], instead: Mapping[str, str]) -> str:
    """What to use for `name`, from a table or by its spelling; nothing where nothing is near."""
    if name in instead:
        return instead[name]
    near = nearest_name(name, [*instead, *public], cutoff=0.8)
    if near is None:
        return ""
    return f"did you mean {near}?" + (f" {instead[near]}" if near in instead else "")


def unknown_name(module: str, name: str, public: Iterable[str]) -> AttributeError:
    """The error for a name that `module` does not have.

    Example:
        >>> import nestarray as na
        >>> na.concatenate
        Traceback (most recent call last):
        AttributeError: module 'nestarray' has no attribute 'concatenate'; it is na.concat
        >>> na.sotfmax
        Traceback (most recent call last):
        AttributeError: module 'nestarray' has no attribute 'sotfmax'; did you mean softmax?
    """
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):  # asked for by tools
        return AttributeError(text)

    def message() -> str:
        words = explanation(
            name, (n for n in public if n[:1] != "_"), suggestions.INSTEAD.get(module, {})
        )
        return f"{text}; {words}" if words else text

    return unknown_attribute(message, name)


def suggest_names(module: str) -> None:
    """Let `module` raise that error.

    Its ``__getattr__`` is set from here: one in its text tells type checkers that it has every name.
    """
    space = vars(sys.modules[module])

    def __getattr__(name: str) -> NoReturn:
        raise unknown_name(module, name, space)

    space["__getattr__"] = __getattr__
