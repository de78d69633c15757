"""Learning rates that change with the step: ``schedule(count)`` for `nestarray.nn.Optimizer`.

A schedule is a function of the number of steps done, an integer or an integer array of shape `()`;
it returns a float32 array of shape `()` on the backend of the count, in compiled code too. Numbers
equal those of ``optax``. Schedules can be pickled.

Example:
    >>> from nestarray import nn
    >>> schedule = nn.schedules.warmup(nn.schedules.cosine(0.1, steps=90), steps=10)
    >>> [round(float(schedule(count)), 3) for count in (0, 5, 10, 55, 100)]
    [0.0, 0.05, 0.1, 0.05, 0.0]
    >>> nn.AdamW(schedule).weight_decay
    0.01

References:
    https://optax.readthedocs.io/en/latest/api/optimizer_schedules.html
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError
from nestarray.errors.unknown_names import suggest_names
from nestarray.typing import Array

__all__ = ["Schedule", "cosine", "linear", "one_cycle", "piecewise", "warmup"]

#: A function of the number of steps that returns a learning rate.
Schedule: TypeAlias = Callable[[Array | int], Array]


def linear(start: float, end: float, steps: int) -> Schedule:
    """From `start` to `end` on a line within `steps` steps, then `end`.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.linear(1.0, 0.0, steps=4)
        >>> [float(schedule(count)) for count in range(6)]
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """
    _check_steps("linear", steps)
    return partial(_linear, start, end, steps)


def _linear(start: float, end: float, steps: int, count: Array | int) -> Array:
    return end + (start - end) * (1.0 - _share(count, steps))


def cosine(start: float, steps: int, *, end: float = 0.0) -> Schedule:
    """From `start` to `end` on half a cosine within `steps` steps, then `end`.

    end + (start − end) · (1 + cos(π t / steps)) / 2 for the step t.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.cosine(1.0, steps=2)
        >>> [round(float(schedule(count)), 4) for count in range(4)]
        [1.0, 0.5, 0.0, 0.0]

    References:
        Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts. ICLR 2017.
    """
    _check_steps("cosine", steps)
    return partial(_cosine, start, end, steps)


def _cosine(start: float, end: float, steps: int, count: Array | int) -> Array:
    return end + (start - end) * _half_cosine(_share(count, steps))


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
    _check_steps("warmup", steps)
    return partial(_warmup, schedule, start, steps)


def _warmup(schedule: Schedule, start: float, steps: int, count: Array | int) -> Array:
    done = _float(count)
    first, after = schedule(ops.zeros_like(done)), schedule(ops.maximum(done - steps, 0.0))
    rising = start + (first - start) * _share(done, steps)
    return ops.where(ops.less(done, steps), rising, after)


def one_cycle(
    peak: float,
    steps: int,
    *,
    warmup: float = 0.3,
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
) -> Schedule:
    """Rise to `peak`, then fall far below the first value, each on half a cosine.

    Args:
        peak: the largest value.
        steps: the length of both parts.
        warmup: the share of `steps` in the first part.
        div_factor: the first value is peak / div_factor.
        final_div_factor: the last value is peak / (div_factor · final_div_factor).

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.one_cycle(1.0, steps=10)
        >>> [round(float(schedule(count)), 4) for count in (0, 3, 10)]
        [0.04, 1.0, 0.0]

    References:
        Smith and Topin, Super-convergence. https://arxiv.org/abs/1708.07120
    """
    _check_steps("one_cycle", steps)
    if not 0 <= warmup <= 1:
        raise ArgumentError(f"one_cycle: warmup: got {warmup!r}, expected a share from 0 to 1")
    rise, first = int(warmup * steps), peak / div_factor
    rising = partial(_cosine, first, peak, rise)
    falling = partial(_cosine, peak, first / final_div_factor, steps - rise)
    return partial(_joined, rising, falling, rise)


def _joined(before: Schedule, after: Schedule, steps: int, count: Array | int) -> Array:
    """`before` for `steps` steps, then `after`, which counts from there."""
    done = _float(count)
    return ops.where(ops.less(done, steps), before(done), after(done - steps))


def piecewise(start: float, scales: Mapping[int, float]) -> Schedule:
    """`start`, multiplied by each factor once its number of steps is done.

    Args:
        start: the first value.
        scales: number of steps done → factor.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.piecewise(1.0, {2: 0.5, 3: 0.5})
        >>> [float(schedule(count)) for count in range(5)]
        [1.0, 1.0, 0.5, 0.25, 0.25]
    """
    if not isinstance(scales, Mapping):
        raise ArgumentError(
            f"piecewise: scales: got {type(scales).__name__}, expected a mapping: step → factor"
        )
    return partial(_piecewise, start, dict(scales))


def _piecewise(start: float, scales: Mapping[int, float], count: Array | int) -> Array:
    done = _float(count)
    rate = ops.full_like(done, start)
    for step, scale in scales.items():
        rate = rate * ops.where(ops.less(done, step), 1.0, scale)
    return rate


def _float(count: Array | int) -> Array:
    return ops.asarray(count, dtype=dtypes.float32)


def _share(count: Array | int, steps: int) -> Array:
    """The part of the steps that is done, from 0 to 1."""
    return ops.clip(_float(count) / max(steps, 1), 0.0, 1.0)


def _half_cosine(share: Array) -> Array:
    """From 1 to 0."""
    return 0.5 * (1.0 + ops.cos(math.pi * share))


def _check_steps(name: str, steps: int) -> None:
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
        raise ArgumentError(f"{name}: steps: got {steps!r}, expected a positive integer")


suggest_names(__name__)
