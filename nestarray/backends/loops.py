"""Loops over time: the frameworks' own where they have one, so that long sequences stay small programs.

JAX compiles one step (``lax.scan``), TensorFlow has a loop in its graphs; PyTorch, NumPy and
TensorFlow at once run the steps one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray import backends

#: (states, inputs of a step) → the new states, of the same shapes and dtypes.
Step = Callable[[tuple[Any, ...], tuple[Any, ...]], tuple[Any, ...]]


def scan(
    step: Step, states: Sequence[Any], inputs: Sequence[Any], *, reverse: bool = False
) -> tuple[tuple[Any, ...], Any]:
    """Run `step` over the first axis of `inputs`.

    Args:
        step: of one time.
        states: before the first step.
        inputs: arrays of one backend with the same first axis, which has an element at least.
        reverse: begin at the end.

    Returns:
        the last states, and the first state after each step, stacked in the order of `inputs`.
    """
    native = backends.chapter(backends.backend_of(inputs[0]), "loops")
    loop = unrolled if native is None else native.scan
    return loop(step, tuple(states), tuple(inputs), reverse=reverse)


def unrolled(
    step: Step, states: tuple[Any, ...], inputs: tuple[Any, ...], *, reverse: bool
) -> tuple[tuple[Any, ...], Any]:
    """`scan` as a loop of Python."""
    from nestarray import ops

    times = list(zip(*(ops.unstack(x, axis=0) for x in inputs), strict=True))
    found = []
    for time in reversed(times) if reverse else times:
        states = step(states, time)
        found.append(states[0])
    return states, ops.stack(found[::-1] if reverse else found, axis=0)
