"""Variants of Adam with another momentum: NAdam, Adan, AdEMAMix."""

from __future__ import annotations

import math
from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, average
from nestarray.nn.optimizers.scale import LearningRate, Scale, number_like
from nestarray.nn.optimizers.settings import check_decays, check_not_negative


class NAdam(Optimizer):
    """Adam with Nesterov's momentum, which grows with the steps.

    v ← v − η ((1 − μₜ) g / (1 − Πμ) + μₜ₊₁ m / (1 − μₜ₊₁ Πμ)) / (√n̂ + ε), where
    μₜ = b1 (1 − 0.96^(ψ t) / 2) and Πμ is the product of μ₁ … μₜ. ``Adam(nesterov=True)`` has a
    constant momentum.

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m, and the limit of μ.
        b2: decay of n; n̂ = n / (1 − b2ᵗ).
        eps: ε, outside the root.
        momentum_decay: ψ.

    Raises:
        ArgumentError: `b1` or `b2` is outside [0, 1), or another setting is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nn.NAdam().init(na.Container(w=np.ones(2))).paths()
        ('count', 'mu/w', 'nu/w', 'mu_product')

    References:
        Dozat, Incorporating Nesterov momentum into Adam. ICLR workshop, 2016.
        https://docs.pytorch.org/docs/stable/generated/torch.optim.NAdam.html
    """

    moments = ("mu", "nu", "mu_product")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 2e-3,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        momentum_decay: float = 4e-3,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2)
        check_not_negative(self, eps=eps, momentum_decay=momentum_decay)
        self.b1, self.b2, self.eps, self.momentum_decay = b1, b2, eps, momentum_decay

    def init_moments(self, v: Container) -> dict[str, Any]:
        """Zeros, and the empty product 1."""
        zeros = ops.zeros_like(v)
        return {"mu": zeros, "nu": zeros, "mu_product": number_like(1.0, v)}

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        mu = average(state["mu"], grads, self.b1)
        nu = average(state["nu"], grads * grads, self.b2)
        momentum, following = self._momentum(scale.t), self._momentum(scale.t + 1)
        product = state["mu_product"] * momentum
        of_gradient = scale.spread((1 - momentum) / (1 - product), v)
        of_mean = scale.spread(following / (1 - product * following), v)
        root = ops.sqrt(nu / scale.correction(self.b2, nu)) + self.eps
        direction = (grads * of_gradient + mu * of_mean) / root
        moments = {"mu": mu, "nu": nu, "mu_product": product}
        return v - direction * scale.rate(v), moments

    def _momentum(self, t: Any) -> Any:
        return self.b1 * (1 - 0.5 * ops.exp(t * (math.log(0.96) * self.momentum_decay)))


class Adan(Optimizer):
    """Adaptive Nesterov momentum: v ← v − η ((m̂ + (1 − b2) d̂) / (√n̂ + ε) + λ v).

    Running means m of g, d of the differences Δ of gradients, n of (g + (1 − b2) Δ)²; each is
    divided by 1 − bᵗ.

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m.
        b2: decay of d.
        b3: decay of n.
        eps: ε, outside the root.
        eps_root: added to n̂ in the root.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.

    Raises:
        ArgumentError: `b1`, `b2` or `b3` is outside [0, 1), or another setting is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.Adan().b3
        0.99

    References:
        Xie et al., Adan: adaptive Nesterov momentum algorithm. IEEE TPAMI, 2024.
    """

    moments = ("m", "v", "n", "g")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-3,
        *,
        b1: float = 0.98,
        b2: float = 0.92,
        b3: float = 0.99,
        eps: float = 1e-8,
        eps_root: float = 1e-8,
        weight_decay: float = 0.0,
        decay: Any = "**",
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2, b3=b3)
        check_not_negative(self, eps=eps, eps_root=eps_root, weight_decay=weight_decay)
        self.b1, self.b2, self.b3, self.eps, self.eps_root = b1, b2, b3, eps, eps_root
        self.weight_decay, self.decay = weight_decay, decay

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        difference = ops.where(scale.count == 1, ops.zeros_like(grads), grads - state["g"])
        ahead = grads + difference * (1 - self.b2)
        m = average(state["m"], grads, self.b1)
        d = average(state["v"], difference, self.b2)
        n = average(state["n"], ahead * ahead, self.b3)
        mean = m / scale.correction(self.b1, m) + d / scale.correction(self.b2, d) * (1 - self.b2)
        root = ops.sqrt(n / scale.correction(self.b3, n) + self.eps_root) + self.eps
        new = v - self.with_decay(mean / root, v) * scale.rate(v)
        return new, {"m": m, "v": d, "n": n, "g": grads}


class AdEMAMix(Optimizer):
    """Adam with a second, slow mean: v ← v − η ((m̂ + α s) / (√n̂ + ε) + λ v).

    Running means m and s of g, with decays b1 and b3, and n of g².

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m; m̂ = m / (1 − b1ᵗ).
        b2: decay of n; n̂ = n / (1 − b2ᵗ).
        b3: decay of s.
        alpha: α.
        eps: ε, outside the root.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.

    Raises:
        ArgumentError: `b1`, `b2` or `b3` is outside [0, 1), or another setting is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.AdEMAMix().b3
        0.9999

    References:
        Pagliardini, Ablin and Grangier, The AdEMAMix optimizer: better, faster, older. ICLR 2025.
    """

    moments = ("m1", "m2", "nu")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-3,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        b3: float = 0.9999,
        alpha: float = 5.0,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decay: Any = "**",
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2, b3=b3)
        check_not_negative(self, alpha=alpha, eps=eps, weight_decay=weight_decay)
        self.b1, self.b2, self.b3, self.alpha, self.eps = b1, b2, b3, alpha, eps
        self.weight_decay, self.decay = weight_decay, decay

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        fast = average(state["m1"], grads, self.b1)
        slow = average(state["m2"], grads, self.b3)
        nu = average(state["nu"], grads * grads, self.b2)
        root = ops.sqrt(nu / scale.correction(self.b2, nu)) + self.eps
        direction = (fast / scale.correction(self.b1, fast) + slow * self.alpha) / root
        new = v - self.with_decay(direction, v) * scale.rate(v)
        return new, {"m1": fast, "m2": slow, "nu": nu}
