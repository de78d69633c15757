"""Random numbers in recorded NumPy code: NumPy draws them, and they are constants of the graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from nestarray.importers.numpy.recording import Recording


class RecordedGenerator:
    """A generator of NumPy that returns recording arrays."""

    def __init__(self, native: Any, recording: Recording) -> None:
        self._native, self._recording = native, recording

    @property
    def __class__(self) -> type:
        return type(self._native)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._native, name)
        return partial(drawn, self._recording, found) if callable(found) else found


def drawn(recording: Recording, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a method of a generator, with recording arrays.

    An array of the code is permuted as NumPy permutes its positions.
    """
    if args and recording.is_own(args[0]) and method.__name__ in _SELECTIONS:
        x, *others = args
        if x.ndim:
            return _selected(x, method, others, **kwargs)
        args = (int(x), *others)
    found = method(*args, **kwargs)
    return recording.wrapped(found) if isinstance(found, np.ndarray) else found


_SELECTIONS = ("choice", "permutation", "shuffle")


def _selected(
    x: Any, method: Callable[..., Any], others: list[Any], *, axis: int = 0, **kwargs: Any
) -> Any:
    if method.__name__ != "shuffle":
        return x.take(method(x.shape[axis], *others, **kwargs), axis)
    order = np.arange(x.shape[axis])
    method(order)
    x[...] = x.take(order, axis)
    return None
