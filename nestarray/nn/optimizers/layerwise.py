"""Steps scaled by the norms of each leaf, for large batches: LAMB, LARS, NovoGrad."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.adam import Adam
from nestarray.nn.optimizers.optimizer import Optimizer, average
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import check_decays, check_not_negative


class LAMB(Adam):
    """Adam with steps in proportion to each leaf: v ← v − η (‖v‖ / ‖u‖) u.

    u = m̂ / (√n̂ + ε) + λ v is the direction of `AdamW`. The ratio is 1 if a norm is 0.

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m; m̂ = m / (1 − b1ᵗ).
        b2: decay of n; n̂ = n / (1 − b2ᵗ).
        eps: ε, outside the root.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.

    Raises:
        ArgumentError: `b1` or `b2` is outside [0, 1), or another setting is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.LAMB(1e-2).eps
        1e-06

    References:
        You et al., Large batch optimization for deep learning: training BERT in 76 minutes. ICLR 2020.
    """

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-3,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        decay: Any = "**",
    ) -> None:
        super().__init__(learning_rate, b1=b1, b2=b2, eps=eps)
        check_not_negative(self, weight_decay=weight_decay)
        self.weight_decay, self.decay = weight_decay, decay

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        direction, moments = self._direction(grads, state, scale)
        direction = self.with_decay(direction, v)
        return v - direction * _trust_ratios(v, direction) * scale.rate(v), moments


class LARS(Optimizer):
    """Momentum with steps in proportion to each leaf: v ← v − m, m ← μ m + η c (‖v‖ / ‖u‖) u.

    u = g + λ v. The factor c ‖v‖ / ‖u‖ is 1 if a norm is 0.

    Args:
        learning_rate: η; see `Optimizer`.
        momentum: μ.
        nesterov: subtract μ m + η … instead of m.
        trust_coefficient: c.
        eps: added to ‖u‖.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.

    Raises:
        ArgumentError: a negative setting.

    Example:
        >>> from nestarray import nn
        >>> nn.LARS(0.1).trust_coefficient
        0.001

    References:
        You, Gitman and Ginsburg, Large batch training of convolutional networks.
        https://arxiv.org/abs/1708.03888
    """

    moments = ("trace",)

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate,
        *,
        momentum: float = 0.9,
        nesterov: bool = False,
        trust_coefficient: float = 1e-3,
        eps: float = 0.0,
        weight_decay: float = 0.0,
        decay: Any = "**",
    ) -> None:
        super().__init__(learning_rate)
        check_not_negative(
            self, momentum=momentum, trust_coefficient=trust_coefficient, eps=eps,
            weight_decay=weight_decay,
        )  # fmt: skip
        self.momentum, self.nesterov = momentum, nesterov
        self.trust_coefficient, self.eps = trust_coefficient, eps
        self.weight_decay, self.decay = weight_decay, decay

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        direction = self.with_decay(grads, v)
        ratios = _trust_ratios(v, direction, self.trust_coefficient, self.eps)
        change = direction * ratios * scale.rate(v)
        trace = state["trace"] * self.momentum + change
        step = trace * self.momentum + change if self.nesterov else trace
        return v - step, {"trace": trace}


def _trust_ratios(
    v: Container, direction: Container, coefficient: float = 1.0, eps: float = 0.0
) -> Container:
    """coefficient · ‖v‖ / (‖direction‖ + eps) for each leaf, 1 if a norm is 0."""
    size, length = ops.sqrt(_square_norms(v)), ops.sqrt(_square_norms(direction))
    ones = ops.ones_like(size)
    is_zero = ops.logical_or(size == 0, length == 0)
    return ops.where(is_zero, ones, size * coefficient / ops.where(is_zero, ones, length + eps))


def _square_norms(c: Container) -> Container:
    return ops.sum(ops.square(c))


class NovoGrad(Optimizer):
    """Adam with one second moment for each leaf: v ← v − η m, m ← b1 m + g / (√n + ε) + λ v.

    n is the running mean of ‖g‖², from the first one.

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m.
        b2: decay of n.
        eps: ε, outside the root.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.

    Raises:
        ArgumentError: `b1` or `b2` is outside [0, 1), or another setting is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.nn.NovoGrad(1e-3).init(na.Container(w=np.ones(2)))["nu"].w)
        0.0

    References:
        Ginsburg et al., Stochastic gradient methods with layer-wise adaptive moments for training of
        deep networks. https://arxiv.org/abs/1905.11286
    """

    moments = ("mu", "nu")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-3,
        *,
        b1: float = 0.9,
        b2: float = 0.25,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        decay: Any = "**",
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2)
        check_not_negative(self, eps=eps, weight_decay=weight_decay)
        self.b1, self.b2, self.eps = b1, b2, eps
        self.weight_decay, self.decay = weight_decay, decay

    def init_moments(self, v: Container) -> dict[str, Any]:
        """Zeros, one number for each leaf of n."""
        zeros = ops.zeros_like(v)
        return {"mu": zeros, "nu": ops.sum(zeros)}

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        square = _square_norms(grads)
        nu = ops.where(scale.count == 1, square, average(state["nu"], square, self.b2))
        direction = self.with_decay(grads / (ops.sqrt(nu) + self.eps), v)
        mu = state["mu"] * self.b1 + direction
        return v - mu * scale.rate(v), {"mu": mu, "nu": nu}
