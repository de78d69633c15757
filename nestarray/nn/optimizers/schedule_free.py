"""Schedule-free optimizers: averages of the steps in the place of a decreasing learning rate."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, average, floating_part, with_floating
from nestarray.nn.optimizers.scale import LearningRate, Scale, number_like
from nestarray.nn.optimizers.settings import check_decays, check_not_negative, refuse_setting


class ScheduleFreeSGD(Optimizer):
    """Gradient descent at y = b1 x + (1 − b1) z: z ← z − η u, and x is the mean of z.

    `step` takes and returns y, the point of the gradients; `evaluation_variables` returns x.
    u = g + λ y. The weight of a z in the mean is (the largest η so far)^r.

    Args:
        learning_rate: η, a number or a schedule with a warm-up alone.
        b1: the share of x in y; above 0.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.
        weight_lr_power: r.

    Raises:
        ArgumentError: `b1` is outside (0, 1), or another setting is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v, optimizer = na.Container(w=np.ones(2)), na.nn.ScheduleFreeSGD(0.5)
        >>> state = optimizer.init(v)
        >>> for _ in range(2):
        ...     v, state = optimizer.step(v, v, state)
        >>> v.w, optimizer.evaluation_variables(v, state).w
        (array([0.3625, 0.3625]), array([0.375, 0.375]))

    References:
        Defazio et al., The road less scheduled. NeurIPS 2024.
    """

    moments = ("z", "weight_sum", "max_lr")
    has_one_rate = True

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1.0,
        *,
        b1: float = 0.9,
        weight_decay: float = 0.0,
        decay: Any = "**",
        weight_lr_power: float = 2.0,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1)
        if not b1:
            refuse_setting(self, "b1", b1, "a number above 0")
        check_not_negative(self, weight_decay=weight_decay, weight_lr_power=weight_lr_power)
        self.b1, self.weight_decay, self.decay = b1, weight_decay, decay
        self.weight_lr_power = weight_lr_power

    def init_moments(self, v: Container) -> dict[str, Any]:
        """z = `v`, and zeros."""
        zero = number_like(0.0, v)
        return {"z": v, "weight_sum": zero, "max_lr": zero}

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        direction, moments = self._direction(grads, state, scale)
        rate = ops.maximum(state["max_lr"], scale.number * ops.ones_like(state["max_lr"]))
        weight = rate**self.weight_lr_power
        total = state["weight_sum"] + weight
        share = weight / ops.where(total == 0, ops.ones_like(total), total)
        z = state["z"] - self.with_decay(direction, v) * scale.rate(v)
        x = self._mean(v, state["z"])
        x = x + (z - x) * scale.spread(share, x)
        return average(x, z, self.b1), {"z": z, "weight_sum": total, "max_lr": rate, **moments}

    def evaluation_variables(self, v: Container, state: Container) -> Container:
        """x, the mean of the steps."""
        y = floating_part(v, "evaluation_variables", "v")
        return with_floating(v, self._mean(y, state["z"]))

    def _direction(
        self, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        return grads, {}

    def _mean(self, y: Container, z: Container) -> Container:
        return (y - z * (1 - self.b1)) / self.b1


class ScheduleFreeAdamW(ScheduleFreeSGD):
    """AdamW at y = b1 x + (1 − b1) z: z ← z − η (g / (√n̂ + ε) + λ y), and x is the mean of z.

    `step` takes and returns y, the point of the gradients; `evaluation_variables` returns x. The
    weight of a z in the mean is (the largest η so far)^r.

    Args:
        learning_rate: η, a number or a schedule with a warm-up alone.
        b1: the share of x in y; above 0.
        b2: decay of the running mean n of g²; n̂ = n / (1 − b2ᵗ).
        eps: ε, outside the root.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.
        weight_lr_power: r.

    Raises:
        ArgumentError: `b1` is outside (0, 1), `b2` outside [0, 1), or another setting is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.ScheduleFreeAdamW().learning_rate
        0.0025

    References:
        Defazio et al., The road less scheduled. NeurIPS 2024.
    """

    moments = ("z", "weight_sum", "max_lr", "nu")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 2.5e-3,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decay: Any = "**",
        weight_lr_power: float = 2.0,
    ) -> None:
        super().__init__(
            learning_rate,
            b1=b1, weight_decay=weight_decay, decay=decay, weight_lr_power=weight_lr_power,
        )  # fmt: skip
        check_decays(self, b2=b2)
        check_not_negative(self, eps=eps)
        self.b2, self.eps = b2, eps

    def init_moments(self, v: Container) -> dict[str, Any]:
        """z = `v`, and zeros."""
        return {**super().init_moments(v), "nu": ops.zeros_like(v)}

    def _direction(
        self, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        nu = average(state["nu"], grads * grads, self.b2)
        root = ops.sqrt(nu / scale.correction(self.b2, nu)) + self.eps
        return grads / root, {"nu": nu}
