"""Gradient descent with momentum, and its average."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, with_floating
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import check_not_negative, refuse_setting


class SGD(Optimizer):
    """Gradient descent, v ← v − η g, or with momentum v ← v − η m, m ← μ m + (1 − τ) g.

    Args:
        learning_rate: η; see `Optimizer`.
        momentum: μ; 0 keeps no moments. The first m is g.
        dampening: τ.
        nesterov: descend along g + μ m.
        weight_decay: λ; g ← g + λ v.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.

    Raises:
        ArgumentError: a negative setting, or Nesterov's momentum without momentum or with dampening.

    Example:
        >>> from nestarray import nn
        >>> nn.SGD(0.1, momentum=0.9).nesterov
        False

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate,
        *,
        momentum: float = 0.0,
        dampening: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
        decay: Any = "**",
    ) -> None:
        super().__init__(learning_rate)
        check_not_negative(self, momentum=momentum, dampening=dampening, weight_decay=weight_decay)
        if nesterov and (not momentum or dampening):
            refuse_setting(self, "nesterov", nesterov, "momentum above 0 and no dampening with it")
        self.momentum, self.dampening, self.nesterov = momentum, dampening, nesterov
        self.weight_decay, self.decay = weight_decay, decay

    @property
    def moments(self) -> tuple[str, ...]:  # type: ignore[override]
        """The name of the momentum, if μ > 0."""
        return ("trace",) if self.momentum else ()

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        grads = self.with_decay(grads, v)
        if not self.momentum:
            return v - grads * scale.rate(v), {}
        trace = state["trace"] * self.momentum + grads * (1 - self.dampening)
        if self.dampening:
            trace = ops.where(scale.count == 1, grads, trace)
        direction = grads + trace * self.momentum if self.nesterov else trace
        return v - direction * scale.rate(v), {"trace": trace}


class ASGD(Optimizer):
    """Averaged gradient descent: v ← (1 − λ η) v − η g, whose average a ← a + μ (v − a) is evaluated.

    ηₜ = η / (1 + λ η t)^α and μₜ = 1 / max(1, t − t₀) for the step t + 1; η and 1 for the first.

    Args:
        learning_rate: η.
        lambd: λ.
        alpha: α.
        t0: t₀, the step after which averaging starts.
        weight_decay: another λ; g ← g + λ v.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.

    Raises:
        ArgumentError: a negative setting.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v, optimizer = na.Container(w=np.ones(2)), na.nn.ASGD(0.5, t0=1.0)
        >>> optimizer.init(v).paths()
        ('count', 'average/w')

    References:
        Polyak and Juditsky, Acceleration of stochastic approximation by averaging. SIAM Journal on
        Control and Optimization 30, 1992.
        https://docs.pytorch.org/docs/stable/generated/torch.optim.ASGD.html
    """

    moments = ("average",)
    has_one_rate = True

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-2,
        *,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        decay: Any = "**",
    ) -> None:
        super().__init__(learning_rate)
        check_not_negative(self, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay)
        self.lambd, self.alpha, self.t0 = lambd, alpha, t0
        self.weight_decay, self.decay = weight_decay, decay

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        done = scale.t - 1
        rate = scale.number * (1 + self.lambd * scale.number * done) ** -self.alpha
        weight = ops.reciprocal(ops.maximum(done - self.t0, ops.ones_like(done)))
        new = v * scale.spread(1 - self.lambd * rate, v)
        new = new - self.with_decay(grads, v) * scale.spread(rate, v)
        mean = state["average"]
        return new, {"average": mean + (new - mean) * scale.spread(weight, v)}

    def evaluation_variables(self, v: Container, state: Container) -> Container:
        """The average of the variables."""
        return with_floating(v, state["average"])
