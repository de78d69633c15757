"""Schedules of several phases: cycles, restarts, and warm-up with decay."""

from __future__ import annotations

from functools import partial

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.nn.schedules.composition import restarts, then
from nestarray.nn.schedules.composition import warmup as with_warmup
from nestarray.nn.schedules.count import Schedule, as_float, check_steps
from nestarray.nn.schedules.decays import constant, cosine, linear, polynomial
from nestarray.typing import Array


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
    check_steps("one_cycle", steps)
    if not 0 <= warmup <= 1:
        raise ArgumentError(f"one_cycle: warmup: got {warmup!r}, expected a share from 0 to 1")
    rise, first = int(warmup * steps), peak / div_factor
    rising = cosine(first, max(rise, 1), end=peak)
    falling = cosine(peak, max(steps - rise, 1), end=first / final_div_factor)
    return then(rising, rise, falling)


def cosine_restarts(
    start: float, steps: int, *, end: float = 0.0, growth: float = 1.0, decay: float = 1.0
) -> Schedule:
    """Half cosines from `start` to `end`, one after the other.

    Args:
        start: the first value.
        steps: the length of the first cycle.
        end: the value that the first cycle approaches.
        growth: the factor of the length of a cycle, at least 1.
        decay: the factor of the values of a cycle.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.cosine_restarts(1.0, steps=2, growth=2)
        >>> [round(float(schedule(count)), 3) for count in range(7)]
        [1.0, 0.5, 1.0, 0.854, 0.5, 0.146, 1.0]

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.CosineAnnealingWarmRestarts.html
        Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts. ICLR 2017.
    """
    return restarts(cosine(start, steps, end=end), steps, growth=growth, decay=decay)


def cyclic(
    low: float,
    high: float,
    up: int,
    down: int | None = None,
    *,
    decay: float = 1.0,
) -> Schedule:
    """From `low` to `high` and back on lines, again and again.

    Args:
        low: the smallest value.
        high: the largest value of the first cycle.
        up: the number of rising steps.
        down: the number of falling steps; None: as many.
        decay: the factor of the amplitude of a cycle; ½ is torch's ``"triangular2"``.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.cyclic(0.0, 1.0, up=1, down=2, decay=0.5)
        >>> [float(schedule(count)) for count in range(7)]
        [0.0, 1.0, 0.5, 0.0, 0.5, 0.25, 0.0]

    References:
        Smith, Cyclical learning rates for training neural networks. https://arxiv.org/abs/1506.01186
    """
    down = up if down is None else down
    check_steps("cyclic", up, "up")
    check_steps("cyclic", down, "down")
    wave = then(linear(0.0, high - low, up), up, linear(high - low, 0.0, down))
    return partial(_raised, low, restarts(wave, up + down, decay=decay))


def _raised(low: float, schedule: Schedule, count: Array | int) -> Array:
    return low + schedule(as_float(count))


def warmup_stable_decay(
    peak: float,
    *,
    warmup: int,
    stable: int,
    decay: int,
    start: float = 0.0,
    end: float = 0.0,
    shape: str = "linear",
) -> Schedule:
    """Rise to `peak` on a line, stay there, fall to `end`.

    Args:
        peak: the largest value.
        warmup, stable, decay: the numbers of steps of the three phases; `warmup` and `stable` may be 0.
        start: the first value.
        end: the last value.
        shape: of the decay: ``"linear"``, ``"cosine"``, or ``"sqrt"``: peak · (1 − √share) for the
            share of the decay that is done.

    Example:
        >>> import nestarray as na
        >>> schedule = na.nn.schedules.warmup_stable_decay(1.0, warmup=2, stable=2, decay=2)
        >>> [float(schedule(count)) for count in range(8)]
        [0.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0]

    References:
        Hu et al., MiniCPM. https://arxiv.org/abs/2404.06395
        Hägele et al., Scaling laws and compute-optimal training beyond fixed training durations.
        https://arxiv.org/abs/2405.18392
    """
    check_steps("warmup_stable_decay", warmup, "warmup", least=0)
    check_steps("warmup_stable_decay", stable, "stable", least=0)
    check_steps("warmup_stable_decay", decay, "decay")
    if shape == "linear":
        falling = linear(peak, end, decay)
    elif shape == "cosine":
        falling = cosine(peak, decay, end=end)
    elif shape == "sqrt":
        falling = partial(_sqrt, peak, polynomial(0.0, 1.0, decay), end)
    else:
        raise ArgumentError(
            f"warmup_stable_decay: shape: got {shape!r}, expected 'linear', 'cosine' or 'sqrt'"
        )
    schedule = then(constant(peak), stable, falling)
    return with_warmup(schedule, warmup, start=start) if warmup else schedule


def _sqrt(peak: float, share: Schedule, end: float, count: Array | int) -> Array:
    return end + (peak - end) * (1.0 - ops.sqrt(share(count)))
