"""The functions of flat arrays that backends loop over; each wraps a function of nests.

JAX caches traces by the identity of a function. `flat_function` therefore returns the same wrapper
for the same function of nests; a weak dictionary holds the wrappers, which reference no arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

from nestarray.errors import ArgumentError
from nestarray.transforms.arguments import describe, name_of
from nestarray.transforms.carries import Aval, Expected, Form
from nestarray.transforms.loop_arguments import scalar
from nestarray.typing import Array, Nest

Arrays = tuple[Array, ...]
#: Returns the wrapped function of nests, or None after it was deleted.
Finder = Callable[[], Callable[..., Any] | None]


class _Flat:
    """A function of arrays; `carry` is the expected carry."""

    #: Whether it is cached and serves several loops, see `flat_function`.
    is_kept = False

    def __init__(
        self, fn: Finder, name: str, backend: str, form: Form, avals: tuple[Aval, ...]
    ) -> None:
        self._find, self.name = fn, name
        self.carry = Expected(name, "carry", "init", backend, form, avals)

    @property
    def fn(self) -> Callable[..., Any]:
        """The wrapped function of nests."""
        found = self._find()
        assert found is not None, "the caller holds the function while it runs"
        return found


class Body(_Flat):
    """Maps the carry to the next one."""

    def __call__(self, carry: Arrays) -> Arrays:
        fn = self.fn
        return self.carry.arrays(fn(self.carry.nest(carry)), fn, _first(carry))


class Counted(_Flat):
    """Maps (index, carry) to the next carry."""

    def __call__(self, i: Array, carry: Arrays) -> Arrays:
        fn = self.fn
        return self.carry.arrays(fn(i, self.carry.nest(carry)), fn, i)


class Test(_Flat):
    """Maps the carry to the condition of the loop."""

    __test__ = False  # pytest collects classes of this name

    def __call__(self, carry: Arrays) -> Any:
        fn = self.fn
        return scalar(self.name, f"{name_of(fn)} returned", fn(self.carry.nest(carry)), "bool")


class Step(_Flat):
    """Maps (carry, row) to (next carry, outputs); `ys` are the expected outputs."""

    def __init__(
        self,
        fn: Finder,
        name: str,
        backend: str,
        form: Form,
        avals: tuple[Aval, ...],
        rows: Form,
    ) -> None:
        super().__init__(fn, name, backend, form, avals)
        self._rows = rows
        self.ys = Expected(name, "y", "the first one", backend, unfused=True)

    def __call__(self, carry: Arrays, row: Arrays) -> tuple[Arrays, Arrays]:
        fn = self.fn
        new, y = self._called(fn, self.carry.nest(carry), self._rows.nest(row))
        like = _first((*carry, *row))
        if self.is_kept:  # each call is a new trace, whose outputs may differ
            self.ys = self.ys.unset()
        return self.carry.arrays(new, fn, like), self.ys.arrays(y, fn, like)

    def _called(self, fn: Callable[..., Any], carry: Nest, row: Nest) -> tuple[Nest, Nest]:
        return checked_pair(self.name, fn, fn(carry, row))


class Mapped(Step):
    """Maps a row to the outputs, without a carry."""

    def _called(self, fn: Callable[..., Any], carry: Nest, row: Nest) -> tuple[Nest, Nest]:
        return None, fn(row)


def checked_pair(name: str, fn: Callable[..., Any], result: Any) -> tuple[Nest, Nest]:
    """The result of a step of `scan`, if it is a pair."""
    if isinstance(result, tuple) and len(result) == 2:
        return result
    raise ArgumentError(
        f"{name}: {name_of(fn)} returned {describe(result)}, expected a pair (carry, y)"
    )


def _first(arrays: Arrays) -> Any:
    return arrays[0] if arrays else None


_kept: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


def flat_function(
    kind: type[Any], fn: Callable[..., Any], settings: tuple[Any, ...], key: Any, *, keep: bool
) -> Any:
    """Wrap `fn` in ``kind``; with `keep`, reuse the wrapper of an equal `key`."""
    if keep:
        try:
            made = _kept.setdefault(fn, {})
            if (kind, key) not in made:
                made[kind, key] = kind(ref(fn), *settings)
                made[kind, key].is_kept = True
            return made[kind, key]
        except TypeError:  # builtins have no weak references, and some leaves no hash
            pass
    return kind(lambda: fn, *settings)
