"""The running call of a module, whose variables functions in it read without naming them.

A function in a transformation cannot update states as a side effect: it is traced, and its values
are unknown outside of the trace. `through_states` makes the states arguments and results, and so
the numbers of keys that layers have drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

from nestarray.dynamo import ContextVariable, is_compiling
from nestarray.errors import ArgumentError
from nestarray.typing import Array

R = TypeVar("R")


class States(NamedTuple):
    """Values of a running call that change.

    Attributes:
        values: states, and variables with new values, by path.
        drawn: the numbers of keys that layers have drawn, by prefix.
    """

    values: dict[str, Array]
    drawn: dict[str, Array]


class Call(Protocol):
    """The call of a module."""

    def update(self, states: States, layer: str) -> None:
        """Set new states.

        Raises:
            Updated: this is the call inside of a transformation without these states.
        """
        ...

    def states(self, values: frozenset[str], drawn: frozenset[str]) -> States:
        """The current states of these names; with `values`, all states that the module declares."""
        ...

    def within(self, states: States) -> Call:
        """The same call with other `states`, the only ones that it may update."""
        ...

    def lifted(self, fn: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Array]]:
        """A pure function in place of `fn`, and the values by path that `fn` may read.

        ``pure(values, *args, **kwargs)`` returns the result and the updates that `fn` makes.
        """
        ...

    def repeatable(self, fn: Callable[..., Any]) -> Callable[..., tuple[Any, dict[str, Array]]]:
        """`fn`, which may update no state and whose layers draw the same keys at each call.

        It returns the result and the numbers of keys that are arrays.
        """
        ...


class Updated(BaseException):
    """A function updates states that its transformation does not have as arguments.

    No `Exception`, which frameworks turn into their own while they trace.
    """

    def __init__(
        self,
        values: frozenset[str] = frozenset(),
        drawn: frozenset[str] = frozenset(),
        layer: str = "",
    ) -> None:
        super().__init__(layer)
        self.values, self.drawn, self.layer = values, drawn, layer


running_call: ContextVariable[Any] = ContextVariable("nestarray_module_call", default=None)


def through_states(
    plain: Callable[[], R], threaded: Callable[[Callable[..., Any], States], tuple[R, States]]
) -> R:
    """A transformation of a function that may update states of the running call.

    Args:
        plain: runs it.
        threaded: runs it with states. It gets ``thread(fn)``, which makes of `fn` the function
            ``(states, *args) -> (result, states)``, and the first states; it returns the last.
    """
    call = running_call.get()
    if call is None or is_compiling():
        return plain()
    try:
        with running_call.being(call.within(States({}, {}))):
            return plain()
    except Updated as update:
        values, drawn, layer = update.values, update.drawn, update.layer

    def thread(fn: Callable[..., Any]) -> Callable[..., Any]:
        def pure(states: States, *args: Any) -> tuple[Any, States]:
            inner = call.within(states)
            with running_call.being(inner):
                return fn(*args), inner.states(frozenset(states.values), frozenset(states.drawn))

        return pure

    while True:
        try:
            result, states = threaded(thread, call.states(values, drawn))
        except Updated as update:
            if update.values <= values and update.drawn <= drawn:
                raise
            values, drawn = values | update.values, drawn | update.drawn
            layer = layer or update.layer
        else:
            call.update(states, layer)
            return result


def without_states(
    name: str,
    fn: Callable[..., Any],
    transform: Callable[[Callable[..., Any]], tuple[R, dict[str, Array]]],
    remedy: str,
) -> R:
    """A transformation of a function that updates no states of the running call.

    Args:
        name: of the transformation.
        fn: the function. Its layers draw the same keys at each call, however often the backend
            calls it.
        transform: runs it. It gets `fn` as a function that returns ``(result, numbers)``, and
            returns the results of both. The numbers of keys are arrays if a loop in `fn` draws.
        remedy: for the error.

    Raises:
        ArgumentError: `fn` updates a state; with the layer and the `remedy`.
    """
    call = running_call.get()
    if call is None or is_compiling():
        return transform(lambda *args, **kwargs: (fn(*args, **kwargs), {}))[0]
    try:
        result, drawn = transform(call.repeatable(fn))
    except Updated as update:
        if not update.values:
            raise  # a loop around this counts the keys
        raise ArgumentError(f"{name}: {update.layer} updates its state inside; {remedy}") from None
    call.update(States({}, drawn), "")
    return result
