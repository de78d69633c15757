"""TensorFlow: `nestarray.transforms.collectives`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.transforms import (
    custom_vjp,
    derivatives_around,
    tapes_stopped,
    traced_in,
)

#: The tapes and the accumulators around a mapped function, and where its graph is made.
State = tuple[tuple[int, int], Any]


def derivative_state() -> State:
    """Where what begins now stands."""
    return derivatives_around(), traced_in()


def obstacle(state: State) -> str | None:
    """Why values cannot be handed to other examples: where they come from."""
    if traced_in() != state[1]:  # which runs more often, or not at all
        return (
            "TensorFlow cannot collect values inside of a loop, a choice or a compiled function; "
            "call it outside of that"
        )
    return None


def is_differentiated(x: Any, state: State) -> bool:
    """Whether a derivative is taken that was not when the function began."""
    return derivatives_around() != state[0]


def linear(
    value: Callable[[Any], Any],
    again: Callable[[Any], Any],
    transpose: Callable[[Any], Any],
    x: Any,
    state: State,
) -> Any:
    """The value, in which derivatives around the mapped function see those of all examples.

    For those inside of it the value is a constant; what they see is added, a zero with the rule.
    """
    found = value(x)
    zero = -tf.zeros_like(found)  # with its sign it changes no number

    def pull(_: None, cotangents: list[Any]) -> list[Any]:
        return [transpose(cotangents[0])]

    def push(primals: list[Any], tangents: list[Any]) -> tuple[Any, Any]:
        return (zero,), [again(*tangents)]

    with tapes_stopped(state[0][0]):
        (ruled,) = custom_vjp(lambda x: (zero,), lambda x: ((zero,), None), pull, [x], push)
    return found + ruled
