"""Temporary replacements of attributes of torch's modules and classes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_ABSENT = object()


@contextlib.contextmanager
def patched(*places: tuple[Any, str, Any]) -> Iterator[None]:
    """Replace attributes, and restore them at the end.

    Args:
        *places: (module or class, name, replacement). Attributes that a module's
            ``__getattr__`` or a base class provided are deleted at the end.
    """
    before = [(home, name, vars(home).get(name, _ABSENT)) for home, name, _ in places]
    for home, name, own in places:
        setattr(home, name, own)
    try:
        yield
    finally:
        for home, name, theirs in before:
            if theirs is _ABSENT:
                delattr(home, name)
            else:
                setattr(home, name, theirs)
