"""``c.at[place]``: functional updates of a subtree, or of the same part of every leaf."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic

from nestarray import ops
from nestarray.backends import backend_of_value
from nestarray.container import Container, Leaf, method
from nestarray.container.access import is_leaf_index
from nestarray.container.container import from_leaves
from nestarray.container.selection import matches, selected
from nestarray.container.spec import Key, Path, path_text
from nestarray.dtypes import is_key
from nestarray.errors import ArgumentError, PathError, ShapeError
from nestarray.errors.text import listed
from nestarray.errors.unknown_names import hint, unknown_attribute


@method
@property
def at(c: Container[Leaf], /) -> At[Leaf]:
    """Functional updates: ``c.at[place].set(x)`` returns a new tree and does not change `c`.

    A place is a path (``c.at["a/b"]``: a leaf or a subtree), a pattern as for
    `Container.select` (``c.at["**/bias"]``: each matching leaf), or an index (``c.at[0]``,
    ``c.at[:, 2:5]``: the same part of every leaf, as ``na.at``). Paths and indices are
    distinguished as for ``c[place]``. Places can be chained: ``c.at["a/w"][0]`` is the first
    row of that leaf.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a={"w": np.ones(2), "b": np.zeros(2)}, b=np.zeros(2))
        >>> c.at["a/w"].multiply(3.0).a.w
        array([3., 3.])
        >>> c.at["**/b"].add(1.0).b, c.at[0].set(7.0).b
        (array([1., 1.]), array([7., 0.]))
        >>> c.at["a/w"][0].set(5.0).a.w
        array([5., 1.])
    """
    return At(c)


_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": ops.add, "subtract": ops.subtract, "multiply": ops.multiply, "divide": ops.divide,
    "power": ops.pow, "min": ops.minimum, "max": ops.maximum,
}  # fmt: skip


class At(Generic[Leaf]):
    """A place in a Container, with methods that read or update it; see `Container.at`."""

    __slots__ = ("_container", "_place")

    def __init__(self, container: Container[Leaf], place: Any = None) -> None:
        self._container, self._place = container, place

    if not TYPE_CHECKING:  # type checkers would accept any method

        def __getattr__(self, name: str) -> Any:
            def message() -> str:
                public = [own for own in dir(At) if own[0] != "_"]
                known = hint("Container.at", name, public) or "; it has " + ", ".join(public)
                return f"Container.at has no method {name!r}{known}"

            raise unknown_attribute(message, name)

    def __getitem__(self, place: Any) -> At[Leaf]:
        if self._place is not None:
            return _Inside(self, place)
        if not _is_pattern(place) and is_leaf_index(self._container.spec, place):
            of_each: Any = ops.at(self._container)[place]  # another class with the same methods
            return of_each
        return At(self._container, place)

    def __repr__(self) -> str:
        return "Container.at" if self._place is None else f"Container.at[{self._place!r}]"

    def get(self) -> Any:
        """The leaf or Container at a path, or the selection of a pattern."""
        chosen = self._chosen()
        return self._container[self._place] if chosen is None else _taken(self._container, chosen)

    def set(self, value: Any) -> Container[Leaf]:
        """Fill the leaves at a path, or that a pattern matches, with `value`; a path may be new.

        An array keeps its shape and dtype, as in JAX: ``x.at[...].set(value)``. To put another
        array or tree in its place, use `Container.set`.

        Args:
            value: a number, an array that broadcasts to each leaf, or a tree of the same keys.
                Leaves that are not arrays are replaced by it.
        """
        try:
            return self._replaced(lambda old: _filled(old, value))
        except PathError:
            if _is_pattern(self._place) or _is_glob(self._place):
                raise
        except ShapeError as error:
            error.add_note("c.set(path, x) puts an array of another shape in its place")
            raise
        return self._container.set(self._place, value)

    def apply(self, fn: Callable[[Any], Any]) -> Container[Leaf]:
        """Replace the value at a path, or each leaf that a pattern matches, by ``fn`` of it."""
        is_path = self._chosen() is None
        return self._replaced(fn if is_path else lambda old: old.map(fn))

    def add(self, value: Any) -> Container[Leaf]:
        """Add `value`: a number, an array or a tree of the same keys."""
        return self._changed("add", value)

    def subtract(self, value: Any) -> Container[Leaf]:
        """Subtract `value`."""
        return self._changed("subtract", value)

    def multiply(self, value: Any) -> Container[Leaf]:
        """Multiply by `value`."""
        return self._changed("multiply", value)

    def divide(self, value: Any) -> Container[Leaf]:
        """Divide by `value`."""
        return self._changed("divide", value)

    def power(self, value: Any) -> Container[Leaf]:
        """Raise to the power `value`."""
        return self._changed("power", value)

    def min(self, value: Any) -> Container[Leaf]:
        """The elementwise minimum with `value`."""
        return self._changed("min", value)

    def max(self, value: Any) -> Container[Leaf]:
        """The elementwise maximum with `value`."""
        return self._changed("max", value)

    def _changed(self, name: str, value: Any) -> Container[Leaf]:
        return self._replaced(lambda old: _OPS[name](old, value))

    def _replaced(self, new: Callable[[Any], Any]) -> Container[Leaf]:
        """Replace by `new` of the present value; the leaves of a pattern are passed as one tree."""
        chosen = self._chosen()
        if chosen is None:
            old = self._container[self._place]
            try:
                changed = new(old)
            except Exception as error:
                where = "in what is at" if isinstance(old, Container) else "at"
                error.add_note(f"{where} the Container path {path_text(self._place)}")
                raise
            return self._container.set(self._place, changed)
        return _put(self._container, chosen, new(_taken(self._container, chosen)))

    def _chosen(self) -> list[int] | None:
        """The numbers of the leaves that a pattern matches; None for a path.

        Raises:
            ArgumentError: the place is missing, as in ``c.at.set(x)``.
            PathError: the place does not exist.
        """
        c, place = self._container, self._place
        if place is None:
            raise ArgumentError("Container.at: name a place first: c.at['a/b'].set(x)")
        if not _is_pattern(place):
            try:
                c.spec.locate(place, "Container.at")
                return None
            except PathError:
                if not (isinstance(place, str) and _is_glob(place)):
                    raise
        chosen = [i for i, hit in enumerate(matches(c.spec, c.leaves(), (place,))) if hit]
        if not chosen:
            raise PathError(
                f"Container.at: no leaf matches {place!r}; the leaves are {listed(map(repr, c.paths()), 5)}"
            )
        return chosen


class _Inside(At[Leaf]):
    """A place inside another place: updates apply to that part of its value."""

    __slots__ = ("_outer",)

    def __init__(self, outer: At[Leaf], place: Any) -> None:
        super().__init__(outer._container, place)
        self._outer = outer

    def __repr__(self) -> str:
        return f"{self._outer!r}[{self._place!r}]"

    def get(self) -> Any:
        """The part, of each leaf that an outer pattern matches."""
        return self._part_of(self._outer.get()).get()

    def set(self, value: Any) -> Container[Leaf]:
        """Set the part to `value`."""
        return self._changed("set", value)

    def apply(self, fn: Callable[[Any], Any]) -> Container[Leaf]:
        """Replace the part by ``fn`` of it."""
        return self._changed("apply", fn)

    def _changed(self, name: str, value: Any) -> Container[Leaf]:
        return self._outer._replaced(lambda old: getattr(self._part_of(old), name)(value))

    def _replaced(self, new: Callable[[Any], Any]) -> Container[Leaf]:
        def with_part(old: Any) -> Any:
            part = self._part_of(old)
            return part._replaced(new) if isinstance(part, At) else part.set(new(part.get()))

        return self._outer._replaced(with_part)

    def _part_of(self, old: Any) -> Any:
        return old.at[self._place] if isinstance(old, Container) else ops.at(old)[self._place]


def _filled(old: Any, value: Any) -> Any:
    if isinstance(old, Container):
        return old.map(_filled, Container(value) if isinstance(value, Mapping) else value)
    if is_key(old):  # numbers fill arrays of numbers
        return value if is_key(value) else old
    return value if backend_of_value(old) is None else ops.at(old)[...].set(value)


def _is_pattern(place: Any) -> bool:
    return isinstance(place, (re.Pattern, type)) or (
        callable(place) and not hasattr(place, "shape")
    )


def _is_glob(place: Key | Path) -> bool:
    return isinstance(place, str) and any(sign in place for sign in "*?[")


def _taken(c: Container, chosen: list[int]) -> Container:
    hits = [False] * c.spec.num_leaves
    for i in chosen:
        hits[i] = True
    return selected(c, hits)


def _put(c: Container, chosen: list[int], new: Container) -> Container:
    leaves = list(c.leaves())
    for i, leaf in zip(chosen, new.leaves(), strict=True):
        leaves[i] = leaf
    return from_leaves(c.spec, tuple(leaves))
