"""The running call of a module, whose variables functions in it read without naming them.

A function in a transformation cannot update states as a side effect: it is traced, and its values
are unknown outside of the trace. `through_states` makes the states arguments and results, and so
the numbers of keys that layers have used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from nestarray.dynamo import ContextVariable, is_compiling
from nestarray.errors import ArgumentError
from nestarray.typing import Array

R = TypeVar("R")
States = dict[str, Array]


class Call(Protocol):
    """The call of a module."""

    def update(self, values: Mapping[str, Array], layer: str) -> None:
        """Set new states, and new values of variables, by path.

        Raises:
            Updated: this is the call inside of a transformation without these paths.
        """
        ...

    def lifted(self, fn: Callable[..., Any]) -> tuple[Callable[..., Any], States]:
        """A pure function in place of `fn`, and the values by path that `fn` may read.

        ``pure(values, *args, **kwargs)`` returns the result and the updates that `fn` makes.
        """
        ...

    def states(self, paths: frozenset[str]) -> States:
        """The current values of all states, and of the variables among `paths`."""
        ...

    def repeatable(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """`fn`, whose layers draw the same numbers at each call."""
        ...

    def within(self, states: States | None) -> Call:
        """The same call with other `states`, the only ones that it may update.

        The numbers of keys that layers have used are states, too. With None, only these may
        change, as far as here.
        """
        ...


class Updated(BaseException):
    """A function updates states that its transformation does not have as arguments.

    No `Exception`, which frameworks turn into their own while they trace.
    """

    def __init__(self, paths: frozenset[str], layer: str) -> None:
        super().__init__(layer)
        self.paths, self.layer = paths, layer


running_call: ContextVariable[Any] = ContextVariable("nestarray_module_call", default=None)


@contextmanager
def _inside(call: Call) -> Iterator[Call]:
    token = running_call.set(call)
    try:
        yield call
    finally:
        running_call.reset(token)


def _without(states: States | None, run: Callable[[], R]) -> R:
    """``run()``; raises `Updated` if it updates states of the running call; see `Call.within`."""
    call = running_call.get()
    if call is None or is_compiling():
        return run()
    with _inside(call.within(states)):
        return run()


def through_states(
    plain: Callable[[], R], threaded: Callable[[Callable[..., Any], States], tuple[R, States]]
) -> R:
    """A transformation of a function that may update states of the running call.

    Args:
        plain: runs it.
        threaded: runs it with states. It gets ``thread(fn)``, which makes of `fn` the function
            ``(states, *args) -> (result, states)``, and the first states; it returns the last.
    """
    try:
        return _without({}, plain)
    except Updated as update:
        call, paths = running_call.get(), update.paths

    def thread(fn: Callable[..., Any]) -> Callable[..., Any]:
        def pure(states: States, *args: Any) -> tuple[Any, States]:
            with _inside(call.within(states)) as inner:
                return fn(*args), inner.states(frozenset(states))

        return pure

    while True:
        try:
            result, states = threaded(thread, call.states(paths))
        except Updated as update:
            if update.paths <= paths:
                raise
            paths |= update.paths  # a variable
        else:
            call.update(states, "")
            return result


def without_states(
    name: str, fn: Callable[..., Any], transform: Callable[[Callable[..., Any]], R], remedy: str
) -> R:
    """``transform(fn)``, in which `fn` updates no states of the running call.

    Layers in `fn` draw the same numbers at each call, however often the backend calls it.

    Raises:
        ArgumentError: `fn` updates a state; with the layer and the `remedy`.
    """
    call = running_call.get()
    each = fn if call is None or is_compiling() else call.repeatable(fn)
    try:
        return _without(None, lambda: transform(each))
    except Updated as update:
        if not update.layer:
            raise  # the number of keys, which a loop around this counts
        raise ArgumentError(f"{name}: {update.layer} updates its state inside; {remedy}") from None
