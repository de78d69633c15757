"""The functions of flat arrays that backends loop over, each around a function of nests.

JAX keeps what it traced by the identity of a function, so the same function of nests has to
come with the same function of arrays each time: `flat_function` keeps them beside it, for as long as it
lives. They hold no arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

from nestarray.errors import ArgumentError
from nestarray.transforms.arguments import describe, name_of
from nestarray.transforms.carries import Aval, Form, Wanted
from nestarray.transforms.loop_arguments import scalar
from nestarray.typing import Array, Nest

Arrays = tuple[Array, ...]
#: A function of nests that may be gone, or what finds it.
Finder = Callable[[], Callable[..., Any] | None]


class _Flat:
    """A function of arrays; `carry` says what goes round."""

    #: Whether it serves more than one loop, see `flat_function`.
    is_kept = False

    def __init__(
        self, fn: Finder, name: str, backend: str, form: Form, avals: tuple[Aval, ...]
    ) -> None:
        self._find, self.name = fn, name
        self.carry = Wanted(name, "carry", "init", backend, form, avals)

    @property
    def fn(self) -> Callable[..., Any]:
        """The function of nests."""
        found = self._find()
        assert found is not None, "the caller holds the function while it runs"
        return found


class Body(_Flat):
    """Of the carry: the next one."""

    def __call__(self, carry: Arrays) -> Arrays:
        fn = self.fn
        return self.carry.arrays(fn(self.carry.nest(carry)), fn, _first(carry))


class Counted(_Flat):
    """Of an index and the carry: the next one."""

    def __call__(self, i: Array, carry: Arrays) -> Arrays:
        fn = self.fn
        return self.carry.arrays(fn(i, self.carry.nest(carry)), fn, i)


class Test(_Flat):
    """Of the carry: whether to go on."""

    __test__ = False  # pytest collects classes of this name

    def __call__(self, carry: Arrays) -> Any:
        fn = self.fn
        return scalar(self.name, f"{name_of(fn)} returned", fn(self.carry.nest(carry)), "bool")


class Step(_Flat):
    """Of the carry and a row: the next carry, and what is stacked; `ys` says what that is."""

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
        self.ys = Wanted(name, "y", "the first one", backend, unfused=True)

    def __call__(self, carry: Arrays, row: Arrays) -> tuple[Arrays, Arrays]:
        fn = self.fn
        new, y = self._called(fn, self.carry.nest(carry), self._rows.nest(row))
        like = _first((*carry, *row))
        if self.is_kept:  # each call is another trace, whose results may be others
            self.ys = self.ys.anew()
        return self.carry.arrays(new, fn, like), self.ys.arrays(y, fn, like)

    def _called(self, fn: Callable[..., Any], carry: Nest, row: Nest) -> tuple[Nest, Nest]:
        result = fn(carry, row)
        if isinstance(result, tuple) and len(result) == 2:
            return result
        raise ArgumentError(
            f"{self.name}: {name_of(fn)} returned {describe(result)}, expected a pair (carry, y)"
        )


class Mapped(Step):
    """Of a row alone: what is stacked."""

    def _called(self, fn: Callable[..., Any], carry: Nest, row: Nest) -> tuple[Nest, Nest]:
        return None, fn(row)


def _first(arrays: Arrays) -> Any:
    return arrays[0] if arrays else None


_kept: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


def flat_function(
    kind: type[Any], fn: Callable[..., Any], settings: tuple[Any, ...], key: Any, *, keep: bool
) -> Any:
    """``kind`` around `fn`: with `keep` the one that was made for an equal `key` before."""
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
