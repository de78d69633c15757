"""Adam and its relatives: running means of gradients and of their squares."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, average
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import check_decays, check_not_negative


class Adam(Optimizer):
    """Adaptive moments: v ← v − η m̂ / (√n̂ + ε), with running means m of g and n of g².

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m; m̂ = m / (1 − b1ᵗ).
        b2: decay of n; n̂ = n / (1 − b2ᵗ).
        eps: ε, outside the root.
        amsgrad: the largest n so far replaces n, as in PyTorch and Keras. (optax takes the largest
            n̂.)
        nesterov: m̂ = b1 m / (1 − b1ᵗ⁺¹) + (1 − b1) g / (1 − b1ᵗ), as ``optax.nadam``.
        eps_hat: divide by (√n + ε) / √(1 − b2ᵗ) instead, as Keras: ε is the ε̂ of the paper.

    Raises:
        ArgumentError: `b1` or `b2` is outside [0, 1), or `eps` is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.Adam(1e-3).b2
        0.999

    References:
        Kingma and Ba, Adam: a method for stochastic optimization. ICLR 2015.
        Reddi, Kale and Kumar, On the convergence of Adam and beyond. ICLR 2018.
    """

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-3,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        amsgrad: bool = False,
        nesterov: bool = False,
        eps_hat: bool = False,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2)
        check_not_negative(self, eps=eps)
        self.b1, self.b2, self.eps = b1, b2, eps
        self.amsgrad, self.nesterov, self.eps_hat = amsgrad, nesterov, eps_hat

    @property
    def moments(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of m, n and the largest n."""
        return ("mu", "nu", "nu_max") if self.amsgrad else ("mu", "nu")

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        direction, moments = self._direction(grads, state, scale)
        return v - self.with_decay(direction, v) * scale.rate(v), moments

    def _direction(
        self, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        moments = {
            "mu": average(state["mu"], grads, self.b1),
            "nu": average(state["nu"], grads * grads, self.b2),
        }
        square = moments["nu"]
        if self.amsgrad:
            square = moments["nu_max"] = ops.maximum(state["nu_max"], square)
        mean = corrected_mean(moments["mu"], grads, self, scale)
        correction = scale.correction(self.b2, square)
        if self.eps_hat:
            return mean / (ops.sqrt(square) + self.eps) * ops.sqrt(correction), moments
        return mean / (ops.sqrt(square / correction) + self.eps), moments


def corrected_mean(mu: Container, grads: Container, optimizer: Any, scale: Scale) -> Container:
    """m̂, or with the next momentum if the optimizer has Nesterov's."""
    correction = scale.correction(optimizer.b1, mu)
    if not optimizer.nesterov:
        return mu / correction
    ahead = mu / scale.correction(optimizer.b1, mu, ahead=1)
    return average(ahead, grads / correction, optimizer.b1)


class AdamW(Adam):
    """Adam with decoupled weight decay: v ← v − η (m̂ / (√n̂ + ε) + λ v).

    Args:
        learning_rate: η; see `Optimizer`.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.
        b1, b2, eps, amsgrad, nesterov, eps_hat: as in `Adam`.

    Raises:
        ArgumentError: as `Adam`, or `weight_decay` is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.AdamW(1e-3, decay="**/weight").weight_decay
        0.01

    References:
        Loshchilov and Hutter, Decoupled weight decay regularization. ICLR 2019.
    """

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-3,
        *,
        weight_decay: float = 1e-2,
        decay: Any = "**",
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        amsgrad: bool = False,
        nesterov: bool = False,
        eps_hat: bool = False,
    ) -> None:
        super().__init__(
            learning_rate,
            b1=b1, b2=b2, eps=eps, amsgrad=amsgrad, nesterov=nesterov, eps_hat=eps_hat,
        )  # fmt: skip
        check_not_negative(self, weight_decay=weight_decay)
        self.weight_decay, self.decay = weight_decay, decay


class Adamax(Optimizer):
    """Adam with the largest gradient: v ← v − η m̂ / n, n ← max(b2 n, |g| + ε).

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m; m̂ = m / (1 − b1ᵗ).
        b2: decay of n.
        eps: ε.

    Raises:
        ArgumentError: `b1` or `b2` is outside [0, 1), or `eps` is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.Adamax().learning_rate
        0.002

    References:
        Kingma and Ba, Adam: a method for stochastic optimization. ICLR 2015, section 7.1.
    """

    moments = ("mu", "nu")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 2e-3,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2)
        check_not_negative(self, eps=eps)
        self.b1, self.b2, self.eps = b1, b2, eps

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        mu = average(state["mu"], grads, self.b1)
        nu = ops.maximum(state["nu"] * self.b2, ops.abs(grads) + self.eps)
        direction = mu / scale.correction(self.b1, mu) / nu
        return v - direction * scale.rate(v), {"mu": mu, "nu": nu}
