"""What stands in the place of parts of torch while a module is traced."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_ABSENT = object()


@contextlib.contextmanager
def patched(*places: tuple[Any, str, Any]) -> Iterator[None]:
    """Have something else under names of torch's modules and classes, and then what was there.

    Args:
        *places: (module or class, name, what stands there). What a module finds by its
            ``__getattr__``, or a class by its bases, is found there again.
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
