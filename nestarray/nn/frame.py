"""The running call of a module: its variables, states, training flag and key, by path.

Functions in transformations read and update them by `nestarray.transforms.enclosing`. The number
of keys that a layer has used is a state too: each step of a loop draws new numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.dynamo import ContextVariable
from nestarray.transforms.enclosing import Updated, running_call
from nestarray.typing import Array

if TYPE_CHECKING:
    from nestarray.nn.module import Module

#: The end of a path: the number of keys that a layer has used in a call.
_DRAWS = "#draws"


class Frame:
    """One call of a root module."""

    __slots__ = (
        "counts", "drawable", "first", "key", "leaves", "prefixes", "root", "state_paths", "train",
        "updates", "writable",
    )  # fmt: skip

    def __init__(
        self, root: Module, v: Container, s: Container, train: bool, key: Array | None
    ) -> None:
        self.root, self.train, self.key = root, train, key
        self.prefixes = root._prefixes()
        self.leaves: dict[str, Array] = dict(v.flat_items()) | dict(s.flat_items())
        self.updates: dict[str, Array] = {}
        #: how many keys each layer has used: in transformations, an array and a number
        self.first: dict[str, Array] = {}
        self.counts: dict[str, int] = {}
        self.state_paths = s.paths()
        #: the states and the counts that a function in a transformation may update; None for all
        self.writable: frozenset[str] | None = None
        self.drawable: frozenset[str] | None = None

    def prefix_of(self, module: Module) -> str | None:
        """``"a/b/"`` for the module at a/b below the root; None for a module elsewhere."""
        place = self.prefixes.get(id(module))
        return None if place is None else place[0]

    def add_note(self, error: Exception, prefix: str, module: Module) -> None:
        """Add a note to an error with the innermost module that raised it."""
        notes = getattr(error, "__notes__", ())
        if not any(note.startswith("in the module ") for note in notes):
            name = type(self.root).__name__
            error.add_note(f"in the module {prefix.rstrip('/')!r} of {name}: {module!r}")

    def lifted(self, fn: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Array]]:
        """`nestarray.transforms.enclosing.Call.lifted`: for a module, the variables in it."""
        values = self.leaves | self.updates
        if id(fn) in self.prefixes:
            below = self.prefixes[id(fn)][1].named_modules()
            inside = {self.prefix_of(module) for _, module in below}
            values = {p: x for p, x in values.items() if p[: p.rfind("/") + 1] in inside}
        counts = dict(self.counts)

        def pure(values: dict[str, Array], *args: Any, **kwargs: Any) -> tuple[Any, Any]:
            inner = copy.copy(self)
            inner.leaves, inner.updates, inner.counts = self.leaves | values, {}, dict(counts)
            inner.writable = inner.drawable = None
            token = running_frame.set(inner)
            try:
                result = fn(*args, **kwargs)
            finally:
                running_frame.reset(token)
            self.counts.update(inner.counts)
            return result, inner.updates

        return pure, values

    def update(self, values: Mapping[str, Array], layer: str) -> None:
        """`nestarray.transforms.enclosing.Call.update`."""
        for path, value in values.items():
            if path.endswith(_DRAWS):
                self.first[path] = value - self.counts.get(path, 0)
            elif self.writable is not None and path not in self.writable:
                raise Updated(frozenset(values), layer)
            else:
                self.updates[path] = value

    def draw(self, prefix: str) -> int | Array:
        """The number of keys that a layer has used before this one."""
        path = prefix + _DRAWS
        used = self._used(path)
        self.counts[path] = self.counts.get(path, 0) + 1
        return used

    def _used(self, path: str) -> int | Array:
        if self.drawable is not None and path not in self.drawable:
            raise Updated(frozenset([path]), "")
        count = self.counts.get(path, 0)
        return self.first[path] + count if path in self.first else count

    def states(self, paths: frozenset[str]) -> dict[str, Array]:
        """`nestarray.transforms.enclosing.Call.states`."""
        values = self.leaves | self.updates
        for path in paths:
            if path.endswith(_DRAWS):
                values[path] = ops.zeros((), dtype=dtypes.int32, like=self.key) + self._used(path)
        return {path: values[path] for path in sorted(paths.union(self.state_paths))}

    def repeatable(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """`nestarray.transforms.enclosing.Call.repeatable`."""
        start = dict(self.counts)

        @wraps(fn)
        def repeated(*args: Any, **kwargs: Any) -> Any:
            self.counts.clear()
            self.counts.update(start)
            return fn(*args, **kwargs)

        return repeated

    def within(self, states: dict[str, Array] | None) -> Frame:
        """`nestarray.transforms.enclosing.Call.within`."""
        inner = copy.copy(self)
        inner.updates, inner.first = dict(self.updates), dict(self.first)
        inner.writable = frozenset(states or ())
        if states is not None:
            inner.counts, inner.drawable = dict(self.counts), inner.writable
            inner.update(states, "")
        return inner


#: The running call in this context.
running_frame: ContextVariable[Frame | None] = running_call
