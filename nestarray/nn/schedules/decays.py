"""Schedules that fall, or rise, once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.nn.schedules.count import Schedule, as_float, check_steps, half_cosine, share_of
from nestarray.typing import Array


def constant(value: float) -> Schedule:
    """`value` at every step.

    Example:
        >>> import nestarray as na
        >>> float(na.nn.schedules.constant(0.5)(7))
        0.5
    """
    return partial(_constant, value)


def _constant(value: float, count: Array | int) -> Array:
    return ops.full_like(as_float(count), value)


def linear(start: float, end: float, steps: int) -> Schedule:
    """From `start` to `end` on a line within `steps` steps, then `end`.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.linear(1.0, 0.0, steps=4)
        >>> [float(schedule(count)) for count in range(6)]
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """
    check_steps("linear", steps)
    return partial(_linear, start, end, steps)


def _linear(start: float, end: float, steps: int, count: Array | int) -> Array:
    return end + (start - end) * (1.0 - share_of(count, steps))


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
    check_steps("cosine", steps)
    return partial(_cosine, start, end, steps)


def _cosine(start: float, end: float, steps: int, count: Array | int) -> Array:
    return end + (start - end) * half_cosine(share_of(count, steps))


def polynomial(start: float, end: float, steps: int, *, power: float = 1.0) -> Schedule:
    """From `start` to `end` on a power of the remaining steps, then `end`.

    end + (start − end) · (1 − t / steps)ᵖ for the step t and the power p.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.polynomial(1.0, 0.0, steps=2, power=2.0)
        >>> [float(schedule(count)) for count in range(4)]
        [1.0, 0.25, 0.0, 0.0]
    """
    check_steps("polynomial", steps)
    return partial(_polynomial, start, end, steps, power)


def _polynomial(start: float, end: float, steps: int, power: float, count: Array | int) -> Array:
    left = 1.0 - share_of(count, steps)
    return end + (start - end) * ops.pow(left, ops.full_like(left, power))


def exponential(
    start: float,
    steps: int,
    factor: float,
    *,
    staircase: bool = False,
    end: float | None = None,
) -> Schedule:
    """`start`, multiplied by `factor` within every `steps` steps: start · factor^(t / steps).

    Args:
        start: the first value.
        steps: the number of steps of one factor.
        factor: positive.
        staircase: round t / steps down.
        end: the smallest value, or the largest one if `factor` is above 1; None: no bound.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.exponential(1.0, steps=2, factor=0.25)
        >>> [float(schedule(count)) for count in range(4)]
        [1.0, 0.5, 0.25, 0.125]
    """
    check_steps("exponential", steps)
    if factor <= 0:
        raise ArgumentError(f"exponential: factor: got {factor!r}, expected a positive number")
    return partial(_exponential, start, steps, factor, staircase, end)


def _exponential(
    start: float,
    steps: int,
    factor: float,
    staircase: bool,
    end: float | None,
    count: Array | int,
) -> Array:
    times = as_float(count) / steps
    times = ops.floor(times) if staircase else times
    rate = start * ops.pow(ops.full_like(times, factor), times)
    if end is None:
        return rate
    return ops.maximum(rate, end) if factor < 1 else ops.minimum(rate, end)


def step(start: float, steps: int, factor: float = 0.1) -> Schedule:
    """`start`, multiplied by `factor` after every `steps` steps.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.step(1.0, steps=2, factor=0.5)
        >>> [float(schedule(count)) for count in range(5)]
        [1.0, 1.0, 0.5, 0.5, 0.25]

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.StepLR.html
    """
    check_steps("step", steps)
    return partial(_exponential, start, steps, factor, True, None)


def inverse_square_root(start: float, steps: int) -> Schedule:
    """`start`, falling with the square root of the time: start · √(steps / (steps + t)).

    After a warm-up of the same length, ``warmup(inverse_square_root(peak, n), n)`` is the schedule of
    the Transformer: peak · min(t / n, √(n / t)).

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.inverse_square_root(1.0, steps=4)
        >>> [float(schedule(count)) for count in (0, 12, 60)]
        [1.0, 0.5, 0.25]

    References:
        Vaswani et al., Attention is all you need. https://arxiv.org/abs/1706.03762
    """
    check_steps("inverse_square_root", steps)
    return partial(_inverse_square_root, start, steps)


def _inverse_square_root(start: float, steps: int, count: Array | int) -> Array:
    return start * ops.sqrt(steps / (as_float(count) + steps))


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
    done = as_float(count)
    rate = ops.full_like(done, start)
    for step, scale in scales.items():
        rate = rate * ops.where(ops.less(done, step), 1.0, scale)
    return rate


def piecewise_linear(values: Mapping[int, float]) -> Schedule:
    """Lines between values at steps; the first and the last value outside of them.

    Args:
        values: number of steps done → value.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.piecewise_linear({0: 0.0, 2: 1.0, 6: 0.0})
        >>> [float(schedule(count)) for count in range(8)]
        [0.0, 0.5, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """
    if not isinstance(values, Mapping) or not values:
        raise ArgumentError(
            f"piecewise_linear: values: got {values!r}, expected a mapping: step → value"
        )
    return partial(_piecewise_linear, tuple(sorted(values.items())))


def _piecewise_linear(points: tuple[tuple[int, float], ...], count: Array | int) -> Array:
    rate = ops.full_like(as_float(count), points[0][1])
    for (begin, low), (end, high) in pairwise(points):
        rate = rate + (high - low) * share_of(as_float(count) - begin, end - begin)
    return rate
