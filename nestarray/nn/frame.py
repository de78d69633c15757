"""The running call of a module: its variables, states, training flag and key, by path.

Functions in transformations read and update them by `nestarray.transforms.enclosing`. Each
layer counts the keys that it draws, so that each step of a loop draws new ones.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.dynamo import ContextVariable
from nestarray.transforms.enclosing import States, Updated, running_call
from nestarray.typing import Array

if TYPE_CHECKING:
    from nestarray.nn.module import Module


class Frame:
    """One call of a root module."""

    __slots__ = (
        "drawable", "drawn", "is_completing", "key", "leaves", "prefixes", "root", "state_paths",
        "train", "updates", "writable",
    )  # fmt: skip

    def __init__(
        self, root: Module, v: Container, s: Container, train: bool, key: Array | None
    ) -> None:
        self.root, self.train, self.key = root, train, key
        #: whether layers read their unknown sizes from the inputs of this call
        self.is_completing = False
        self.prefixes = root._prefixes()
        self.leaves: dict[str, Array] = dict(v.flat_items()) | dict(s.flat_items())
        self.state_paths = s.paths()
        self.updates: dict[str, Array] = {}
        #: the number of keys that each layer has drawn, by its prefix; an array after loops
        self.drawn: dict[str, int | Array] = {}
        #: the states and the layers that a function in a transformation may change; None for all
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

    def draw_variables(self, module: Module) -> None:
        """Draw the initial variables and state of a module without those below."""
        prefix = self.prefixes[id(module)][0]
        for group in module._initial_values(self.key, prefix):
            self.leaves |= {prefix + name: x for name, x in group.items()}

    def draw(self, prefix: str) -> int | Array:
        """The number of keys that a layer has drawn before this one."""
        if self.drawable is not None and prefix not in self.drawable:
            raise Updated(drawn=frozenset([prefix]))
        count = self.drawn.get(prefix, 0)
        self.drawn[prefix] = count + 1
        return count

    def update(self, states: States, layer: str) -> None:
        """`nestarray.transforms.enclosing.Call.update`."""
        values, drawn = frozenset(states.values), frozenset(states.drawn)
        is_own = self.writable is None or values <= self.writable
        if not is_own or not (self.drawable is None or drawn <= self.drawable):
            raise Updated(values, drawn, layer)
        self.updates.update(states.values)
        self.drawn.update(states.drawn)

    def states(self, values: frozenset[str], drawn: frozenset[str]) -> States:
        """`nestarray.transforms.enclosing.Call.states`."""
        paths = sorted(values.union(self.state_paths)) if values else ()
        current = self.leaves | self.updates
        zero = ops.zeros((), dtype=dtypes.int32, like=self.key) if drawn else 0
        numbers = {prefix: zero + self.drawn.get(prefix, 0) for prefix in sorted(drawn)}
        return States({path: current[path] for path in paths}, numbers)

    def within(self, states: States) -> Frame:
        """`nestarray.transforms.enclosing.Call.within`."""
        inner = copy.copy(self)
        inner.updates, inner.drawn = self.updates | states.values, self.drawn | states.drawn
        inner.writable, inner.drawable = frozenset(states.values), frozenset(states.drawn)
        return inner

    def lifted(self, fn: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Array]]:
        """`nestarray.transforms.enclosing.Call.lifted`: for a module, the variables in it."""
        values = self.leaves | self.updates
        if id(fn) in self.prefixes:
            below = self.prefixes[id(fn)][1].named_modules()
            inside = tuple([self.prefix_of(module) or "" for _, module in below])
            values = {p: x for p, x in values.items() if p.startswith(inside)}
        return partial(self._apart, fn, dict(self.drawn), self.writable), values

    def repeatable(self, fn: Callable[..., Any]) -> Callable[..., tuple[Any, dict[str, Array]]]:
        """`nestarray.transforms.enclosing.Call.repeatable`."""
        drawn = dict(self.drawn)

        @wraps(fn)
        def repeated(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Array]]:
            result, states = self._apart(fn, drawn, frozenset(), {}, *args, **kwargs)
            return result, states.drawn

        return repeated

    def _apart(
        self,
        fn: Callable[..., Any],
        drawn: dict[str, int | Array],
        writable: frozenset[str] | None,
        values: dict[str, Array],
        /,
        *args: Any,
        **kwargs: Any,
    ) -> tuple[Any, States]:
        """The result and the updates of `fn`, of whose numbers of keys only integers stay here."""
        inner = copy.copy(self)
        inner.leaves = self.leaves | self.updates | values
        inner.updates, inner.drawn, inner.writable = {}, dict(drawn), writable
        with running_frame.being(inner):
            result = fn(*args, **kwargs)
        changed = {p: n for p, n in inner.drawn.items() if n is not drawn.get(p)}
        numbers = {p: n for p, n in changed.items() if isinstance(n, int)}
        self.drawn.update(numbers)
        return result, States(inner.updates, {p: changed[p] for p in changed.keys() - numbers})


#: The running call in this context.
running_frame: ContextVariable[Frame | None] = running_call
