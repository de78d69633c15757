"""Schedules of other schedules: one after the other, a warm-up, restarts."""

from __future__ import annotations

import math
from functools import partial

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.nn.schedules.count import (
    Schedule,
    as_float,
    check_schedule,
    check_steps,
    share_of,
)
from nestarray.typing import Array


def then(first: Schedule, steps: int, second: Schedule) -> Schedule:
    """`first` for `steps` steps, then `second`.

    Args:
        first: the schedule of the first `steps` steps.
        steps: its length.
        second: it counts from the end of `first`.

    Example:
        >>> from nestarray.nn import schedules
        >>> schedule = schedules.then(schedules.constant(1.0), 2, schedules.linear(1.0, 0.0, steps=2))
        >>> [float(schedule(count)) for count in range(6)]
        [1.0, 1.0, 1.0, 0.5, 0.0, 0.0]

    References:
        https://optax.readthedocs.io/en/latest/api/optimizer_schedules.html#optax.schedules.join_schedules
    """
    check_schedule("then", "first", first)
    check_steps("then", steps, least=0)
    check_schedule("then", "second", second)
    return partial(_then, first, steps, second)


def _then(first: Schedule, steps: int, second: Schedule, count: Array | int) -> Array:
    done = as_float(count)
    return ops.where(ops.less(done, steps), first(done), second(ops.maximum(done - steps, 0.0)))


def warmup(schedule: Schedule, steps: int, *, start: float = 0.0) -> Schedule:
    """From `start` to the first value of `schedule` on a line within `steps` steps, then `schedule`.

    Args:
        schedule: it counts from the end of the warm-up.
        steps: the length of the warm-up.
        start: the first value.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.warmup(lambda count: 1.0, steps=2)
        >>> [float(schedule(count)) for count in range(4)]
        [0.0, 0.5, 1.0, 1.0]
    """
    check_schedule("warmup", "schedule", schedule)
    check_steps("warmup", steps)
    return then(partial(_warmup, schedule, start, steps), steps, schedule)


def _warmup(schedule: Schedule, start: float, steps: int, count: Array | int) -> Array:
    done = as_float(count)
    return start + (schedule(ops.zeros_like(done)) - start) * share_of(done, steps)


def restarts(
    schedule: Schedule, steps: int, *, growth: float = 1.0, decay: float = 1.0
) -> Schedule:
    """The first `steps` steps of `schedule` in cycles; each may be longer and lower than the one before.

    The n-th cycle (from 0) has steps · growthⁿ steps, over which `schedule` is stretched, and the values
    schedule · decayⁿ.

    Args:
        schedule: the schedule of one cycle.
        steps: the length of the first cycle.
        growth: the factor of the length of a cycle, at least 1.
        decay: the factor of the values of a cycle.

    Example:
        >>> from nestarray.nn import schedules
        >>> schedule = schedules.restarts(schedules.linear(1.0, 0.0, steps=2), 2, growth=2, decay=0.5)
        >>> [float(schedule(count)) for count in range(7)]
        [1.0, 0.5, 0.5, 0.375, 0.25, 0.125, 0.25]

    References:
        Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts. ICLR 2017.
    """
    check_schedule("restarts", "schedule", schedule)
    check_steps("restarts", steps)
    if growth < 1:
        raise ArgumentError(f"restarts: growth: got {growth!r}, expected a factor of at least 1")
    return partial(_restarts, schedule, steps, growth, decay)


def _restarts(
    schedule: Schedule, steps: int, growth: float, decay: float, count: Array | int
) -> Array:
    done = as_float(count)
    if growth == 1:
        cycle = ops.floor(done / steps)
        return schedule(done - cycle * steps) * ops.pow(ops.full_like(done, decay), cycle)
    # steps · (growthⁿ − 1) / (growth − 1) steps are before the cycle n
    unit = steps / (growth - 1)
    cycle = ops.floor(ops.log1p(done / unit) / math.log(growth))
    ends = _power(growth, cycle + 1.0) - 1.0
    cycle = cycle + ops.where(
        ops.greater_equal(done, ends * unit), 1.0, 0.0
    )  # the logarithm is rounded
    begins = _power(growth, cycle) - 1.0
    cycle = cycle - ops.where(ops.less(done, begins * unit), 1.0, 0.0)
    length = _power(growth, cycle)
    inside = ops.maximum(done - (length - 1.0) * unit, 0.0) / length
    return schedule(inside) * _power(decay, cycle)


def _power(base: float, exponent: Array) -> Array:
    return ops.pow(ops.full_like(exponent, base), exponent)
