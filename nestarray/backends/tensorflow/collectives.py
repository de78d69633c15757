"""TensorFlow: `nestarray.transforms.collectives`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.tapes import custom_vjp, derivatives_around, tapes_stopped
from nestarray.backends.tensorflow.transforms import traced_in

#: (number of tapes around a mapped function, its graph).
State = tuple[int, Any]


def derivative_state() -> State:
    """The tapes and graph around the running code."""
    return derivatives_around(), traced_in()


def obstacle(state: State) -> str | None:
    """The reason why values cannot be exchanged: the code runs in an inner graph."""
    if traced_in() != state[1]:  # an inner graph may run several times or never
        return (
            "TensorFlow cannot collect values inside of a loop, a choice or a compiled function; "
            "call it outside of that"
        )
    return None


def is_differentiated(x: Any, state: State) -> bool:
    """Whether a derivative began after the mapped function."""
    return derivatives_around() != state[0]


def linear(
    value: Callable[[Any], Any],
    again: Callable[[Any], Any],
    transpose: Callable[[Any], Any],
    x: Any,
    state: State,
) -> Any:
    """``value(x)``, with derivatives of all examples for tapes around the mapped function.

    For tapes inside of it the value is constant; a zero with the custom rule is added.
    """
    found = value(x)
    zero = -tf.zeros_like(found)  # x + (−0) is x

    def pull(_: None, cotangents: list[Any]) -> list[Any]:
        return [transpose(cotangents[0])]

    with tapes_stopped(state[0]):
        (ruled,) = custom_vjp(lambda x: (zero,), lambda x: ((zero,), None), pull, [x], None)
    return found + ruled
