"""The arrays of an object: variables that its methods read, and state that they assign."""

from __future__ import annotations

import contextlib
import copy
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

#: Attributes of an object, items of a dict or of a list.
Holder = dict[Any, Any] | list[Any]


class Attributes:
    """The arrays among the attributes of an object and of the objects, lists and dicts in them."""

    def __init__(self, owner: Any) -> None:
        self._holders: list[Holder] = []
        self._places: dict[str, tuple[Holder, Any]] = {}
        self._add("", vars(owner))

    def _add(self, prefix: str, holder: Holder) -> None:
        if any(holder is known for known in self._holders):
            return
        self._holders.append(holder)
        items = enumerate(holder) if isinstance(holder, list) else holder.items()
        for key, value in items:
            if isinstance(value, np.ndarray):
                self._places[f"{prefix}{key}"] = holder, key
            elif isinstance(value, (dict, list)):
                self._add(f"{prefix}{key}/", value)
            elif hasattr(value, "__dict__") and not isinstance(value, _WITHOUT_STATE):
                self._add(f"{prefix}{key}/", vars(value))

    def arrays(self) -> dict[str, Any]:
        """The current values by path; those that the code has removed are left out."""
        found = {}
        for path, (holder, key) in self._places.items():
            with contextlib.suppress(LookupError):
                found[path] = holder[key]
        return found

    @contextlib.contextmanager
    def replaced(self, arrays: Mapping[str, Any]) -> Iterator[None]:
        """The object has other arrays, for the time of one call; it is the same again after it."""
        before = [copy.copy(holder) for holder in self._holders]
        try:
            for path, value in arrays.items():
                holder, key = self._places[path]
                holder[key] = value
            yield
        finally:
            for holder, items in zip(self._holders, before, strict=True):
                holder.clear()
                holder.extend(items) if isinstance(holder, list) else holder.update(items)


_WITHOUT_STATE = (type, types.ModuleType, types.FunctionType, types.MethodType)
