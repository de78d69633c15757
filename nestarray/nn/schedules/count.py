"""The number of steps done, as schedules compute with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError
from nestarray.typing import Array

#: A function of the number of steps that returns a learning rate.
Schedule: TypeAlias = Callable[[Array | int], Array]


def as_float(count: Array | int) -> Array:
    """The count as a float32 array of shape `()`."""
    return ops.asarray(count, dtype=dtypes.float32)


def share_of(count: Array | int, steps: int) -> Array:
    """The part of the steps that is done, from 0 to 1."""
    return ops.clip(as_float(count) / max(steps, 1), 0.0, 1.0)


def half_cosine(share: Array) -> Array:
    """From 1 to 0."""
    return 0.5 * (1.0 + ops.cos(math.pi * share))


def check_steps(name: str, steps: int, argument: str = "steps", least: int = 1) -> None:
    """Raise an ArgumentError unless `steps` is an integer of at least `least`."""
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < least:
        kind = "a positive integer" if least == 1 else f"an integer of at least {least}"
        raise ArgumentError(f"{name}: {argument}: got {steps!r}, expected {kind}")


def check_schedule(name: str, argument: str, schedule: Any) -> None:
    """Raise an ArgumentError unless `schedule` can be called."""
    if not callable(schedule):
        raise ArgumentError(
            f"{name}: {argument}: got {schedule!r}, expected a function of the number of steps done, "
            "such as nn.schedules.constant(0.1)"
        )
