"""Variants of Adam with another second moment: RAdam, AdaBelief, Yogi."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, average
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import check_decays, check_not_negative


class RAdam(Optimizer):
    """Rectified Adam: v ← v − η r m̂ / (√n̂ + ε), and v ← v − η m̂ while n̂ has a large variance.

    r² = (ρₜ − 4) (ρₜ − 2) ρ / ((ρ − 4) (ρ − 2) ρₜ) for the length ρₜ = ρ − 2 t b2ᵗ / (1 − b2ᵗ) of the
    mean, ρ = 2 / (1 − b2) − 1.

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m; m̂ = m / (1 − b1ᵗ).
        b2: decay of n; n̂ = n / (1 − b2ᵗ).
        eps: ε, outside the root and after the correction. (PyTorch adds it before.)
        threshold: the least ρₜ for which r is used.

    Raises:
        ArgumentError: `b1` or `b2` is outside [0, 1), or another setting is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.RAdam().threshold
        5.0

    References:
        Liu et al., On the variance of the adaptive learning rate and beyond. ICLR 2020.
    """

    moments = ("mu", "nu")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-3,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        threshold: float = 5.0,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2)
        check_not_negative(self, eps=eps, threshold=threshold)
        self.b1, self.b2, self.eps, self.threshold = b1, b2, eps, threshold

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        mu = average(state["mu"], grads, self.b1)
        nu = average(state["nu"], grads * grads, self.b2)
        limit = 2 / (1 - self.b2) - 1
        bias = scale.bias(self.b2)
        length = limit - 2 * scale.t * (1 - bias) / bias
        long = ops.maximum(length, max(self.threshold, 4.0) * ops.ones_like(length))
        factor = ops.sqrt((long - 4) * (long - 2) * limit / ((limit - 4) * (limit - 2) * long))
        mean = mu / scale.correction(self.b1, mu)
        root = ops.sqrt(nu / scale.correction(self.b2, nu)) + self.eps
        direction = ops.where(length >= self.threshold, mean / root * scale.spread(factor, v), mean)
        return v - direction * scale.rate(v), {"mu": mu, "nu": nu}


class AdaBelief(Optimizer):
    """Adam with the variance of the gradient: v ← v − η m̂ / (√n̂ + ε), n a mean of (g − m)².

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m; m̂ = m / (1 − b1ᵗ).
        b2: decay of n; n̂ = n / (1 − b2ᵗ).
        eps: ε, outside the root.
        eps_root: added to n in each step.

    Raises:
        ArgumentError: `b1` or `b2` is outside [0, 1), or another setting is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.AdaBelief().eps
        1e-16

    References:
        Zhuang et al., AdaBelief optimizer: adapting stepsizes by the belief in observed gradients.
        NeurIPS 2020.
    """

    moments = ("mu", "nu")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-3,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-16,
        eps_root: float = 1e-16,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2)
        check_not_negative(self, eps=eps, eps_root=eps_root)
        self.b1, self.b2, self.eps, self.eps_root = b1, b2, eps, eps_root

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        mu = average(state["mu"], grads, self.b1)
        surprise = grads - mu
        nu = average(state["nu"], surprise * surprise, self.b2) + self.eps_root
        root = ops.sqrt(nu / scale.correction(self.b2, nu)) + self.eps
        direction = mu / scale.correction(self.b1, mu) / root
        return v - direction * scale.rate(v), {"mu": mu, "nu": nu}


class Yogi(Optimizer):
    """Adam with an additive second moment: n ← n − (1 − b2) sign(n − g²) g².

    v ← v − η m̂ / (√n̂ + ε), with the running mean m of g.

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m; m̂ = m / (1 − b1ᵗ).
        b2: of n; n̂ = n / (1 − b2ᵗ).
        eps: ε, outside the root.
        initial_accumulator_value: the first m and n.

    Raises:
        ArgumentError: `b1` or `b2` is outside [0, 1), or another setting is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.Yogi().eps
        0.001

    References:
        Zaheer et al., Adaptive methods for nonconvex optimization. NeurIPS 2018.
    """

    moments = ("mu", "nu")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-2,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-3,
        initial_accumulator_value: float = 1e-6,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2)
        check_not_negative(self, eps=eps, initial_accumulator_value=initial_accumulator_value)
        self.b1, self.b2, self.eps = b1, b2, eps
        self.initial_accumulator_value = initial_accumulator_value

    def init_moments(self, v: Container) -> dict[str, Any]:
        """`initial_accumulator_value` for each moment."""
        full = ops.full_like(v, self.initial_accumulator_value)
        return {"mu": full, "nu": full}

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        mu = average(state["mu"], grads, self.b1)
        square, nu = grads * grads, state["nu"]
        nu = nu - ops.sign(nu - square) * square * (1 - self.b2)
        root = ops.sqrt(nu / scale.correction(self.b2, nu)) + self.eps
        direction = mu / scale.correction(self.b1, mu) / root
        return v - direction * scale.rate(v), {"mu": mu, "nu": nu}
