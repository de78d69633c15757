"""Temporary replacements of attributes of modules and classes.

Attributes belong to the whole process. A replacement acts in the thread that traces; in other
threads, which may train a model meanwhile, it calls the original. `one_trace` is the lock that
serialises traces, because torch's exporter has global state.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nestarray.dynamo import ContextVariable

_ABSENT = object()

#: Held by the thread that traces.
one_trace = threading.RLock()

# threads have separate contexts
_is_tracing = ContextVariable("is_tracing", default=False)


@contextlib.contextmanager
def patched(*places: tuple[Any, str, Any]) -> Iterator[None]:
    """Replace attributes in this thread, and restore them at the end.

    Args:
        *places: (module or class, name, replacement). Attributes that a module's
            ``__getattr__``, its builtins or a base class provided are deleted at the end.
            Functions, class methods and bools are replaced in this thread, other values in all threads.
    """
    with _set(
        *[
            (home, name, _in_this_thread(replacement, home, name))
            for home, name, replacement in places
        ]
    ):
        yield


def patched_elsewhere(home: Any, name: str, replacement: Callable[..., Any]) -> Any:
    """Replace a function in the other threads, in a context."""
    return _set((home, name, by_thread(getattr(home, name), replacement)))


@contextlib.contextmanager
def _set(*places: tuple[Any, str, Any]) -> Iterator[None]:
    before = [(home, name, vars(home).get(name, _ABSENT)) for home, name, _ in places]
    for home, name, value in places:
        setattr(home, name, value)
    try:
        with tracing():
            yield
    finally:
        for home, name, theirs in before:
            if theirs is _ABSENT:
                delattr(home, name)
            else:
                setattr(home, name, theirs)


def _in_this_thread(replacement: Any, home: Any, name: str) -> Any:
    if isinstance(replacement, classmethod):
        original = vars(home)[name]  # a classmethod of Python or of C

        def of_class(cls: Any, *args: Any, **kwargs: Any) -> Any:
            return original.__get__(None, cls)(*args, **kwargs)

        return classmethod(by_thread(replacement.__func__, of_class))
    if isinstance(replacement, bool):
        return _BoolByThread(replacement, getattr(home, name))
    if isinstance(replacement, (type, np.ufunc)) or not callable(replacement):
        return replacement  # a ufunc has methods, and calls the original itself
    return by_thread(replacement, getattr(home, name, None) or getattr(builtins, name))


def by_thread(replacement: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls `replacement` in the thread that traces, `theirs` in others."""

    @functools.wraps(theirs)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (replacement if _is_tracing.get() else theirs)(*args, **kwargs)

    return call


class _BoolByThread:
    """A bool with one value in the thread that traces and another in others."""

    def __init__(self, replacement: bool, theirs: Any) -> None:
        self._own, self._theirs = replacement, theirs

    def __bool__(self) -> bool:
        return bool(self._own if _is_tracing.get() else self._theirs)


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Mark this thread as the one that traces."""
    token = _is_tracing.set(True)
    try:
        yield
    finally:
        _is_tracing.reset(token)


def is_tracing() -> bool:
    """Whether this thread traces."""
    return _is_tracing.get()
