"""The schedule that depends on a metric, and so has a state."""

from __future__ import annotations

import math

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.nn.schedules.count import check_steps
from nestarray.typing import Array


class Plateau:
    """A factor of the learning rate that falls when a metric stops improving.

    Pure functions over a state, as of an `Optimizer`; both compile with `na.jit`. The numbers are those
    of ``torch.optim.lr_scheduler.ReduceLROnPlateau``.

    Args:
        factor: of the learning rate, after more than `patience` updates without an improvement.
        patience: the number of updates without an improvement that are tolerated.
        mode: ``"min"``: smaller is better; ``"max"``: larger is better.
        threshold: the smallest change that is an improvement, relative to the best value, or absolute.
        relative: the meaning of `threshold`.
        cooldown: the number of updates after a reduction in which none counts.
        minimum: the smallest factor.

    Raises:
        ArgumentError: a setting is out of range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> plateau = na.nn.schedules.Plateau(factor=0.5, patience=1)
        >>> state = plateau.init()
        >>> for loss in (1.0, 0.5, 0.5, 0.5):
        ...     state = plateau.update(state, loss)
        >>> float(state["scale"])
        0.5
        >>> optimizer = na.nn.SGD(0.1 * state["scale"])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.ReduceLROnPlateau.html
    """

    def __init__(
        self,
        factor: float = 0.1,
        patience: int = 10,
        *,
        mode: str = "min",
        threshold: float = 1e-4,
        relative: bool = True,
        cooldown: int = 0,
        minimum: float = 0.0,
    ) -> None:
        if not 0 < factor < 1:
            raise ArgumentError(
                f"Plateau: factor: got {factor!r}, expected a number between 0 and 1"
            )
        if mode not in ("min", "max"):
            raise ArgumentError(f"Plateau: mode: got {mode!r}, expected 'min' or 'max'")
        check_steps("Plateau", patience, "patience", least=0)
        check_steps("Plateau", cooldown, "cooldown", least=0)
        self.factor, self.patience, self.mode = factor, patience, mode
        self.threshold, self.relative = threshold, relative
        self.cooldown, self.minimum = cooldown, minimum

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"Plateau({settings})"

    def init(self, *, like: Array | None = None) -> Container:
        """The state before the first update.

        Args:
            like: an array of the backend and device of the state; None: the current backend.

        Returns:
            a Container of arrays of shape `()`: ``scale`` and ``best``, float32; ``waited`` and
            ``cooldown``, int32.
        """
        worst = math.inf if self.mode == "min" else -math.inf
        zero = ops.zeros((), dtype=dtypes.int32, like=like)
        return Container(
            scale=ops.ones((), dtype=dtypes.float32, like=like),
            best=ops.full((), worst, dtype=dtypes.float32, like=like),
            waited=zero,
            cooldown=ops.zeros_like(zero),
        )

    def update(self, state: Container, metric: Array | float) -> Container:
        """The state after one more value of the metric.

        Args:
            state: from `init` or `update`.
            metric: `()`, for example the loss of an epoch on validation data.
        """
        best, scale = state["best"], state["scale"]
        metric = ops.asarray(metric, dtype=dtypes.float32, like=best)
        is_better = self._is_better(metric, best)
        zero = ops.zeros_like(state["waited"])
        waited = ops.where(is_better, zero, state["waited"] + 1)
        cooling = state["cooldown"]
        is_cooling = ops.greater(cooling, 0)
        waited = ops.where(is_cooling, zero, waited)
        cooling = ops.where(is_cooling, cooling - 1, cooling)
        is_due = ops.greater(waited, self.patience)
        smaller = ops.maximum(scale * self.factor, ops.full_like(scale, self.minimum))
        return Container(
            scale=ops.where(is_due, smaller, scale),
            best=ops.where(is_better, metric, best),
            waited=ops.where(is_due, zero, waited),
            cooldown=ops.where(is_due, ops.full_like(cooling, self.cooldown), cooling),
        )

    def _is_better(self, metric: Array, best: Array) -> Array:
        sign = -1.0 if self.mode == "min" else 1.0
        margin = (
            best * (1.0 + sign * self.threshold) if self.relative else best + sign * self.threshold
        )
        return ops.less(metric, margin) if self.mode == "min" else ops.greater(metric, margin)
