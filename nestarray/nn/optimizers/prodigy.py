"""Prodigy: Adam that estimates its learning rate."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, average
from nestarray.nn.optimizers.scale import LearningRate, Scale, number_like
from nestarray.nn.optimizers.settings import check_decays, check_not_negative, refuse_setting
from nestarray.tree_math.reductions import tree_dot, tree_sum


class Prodigy(Optimizer):
    """Adam with the estimate d of the distance to the minimum as its rate: v ← v − η̂ (m / (√n + d ε) + λ v).

    η̂ = η d √(1 − b2ᵗ) / (1 − b1ᵗ), with running means m of d g and n of (d g)². d is the largest
    c r / ‖s‖₁ so far, where r and s accumulate ⟨g, v₀ − v⟩ and g with the decay b3.

    Args:
        learning_rate: η, a number or a schedule; 1 leaves it to the estimate.
        b1: decay of m.
        b2: decay of n.
        b3: decay of r and s; √b2 by default.
        eps: ε.
        estim_lr0: the first d.
        estim_lr_coef: c.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.
        safeguard_warmup: leave η̂ out of s, for schedules with a long warm-up.

    Raises:
        ArgumentError: a decay is outside [0, 1), `estim_lr0` is 0, or another setting is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.nn.Prodigy().init(na.Container(w=np.ones(2)))["estim_lr"])
        1e-06

    References:
        Mishchenko and Defazio, Prodigy: an expeditiously adaptive parameter-free learner. ICML 2024.
    """

    moments = ("exp_avg", "exp_avg_sq", "grad_sum", "params0", "estim_lr", "numerator_weighted")
    has_one_rate = True

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1.0,
        *,
        b1: float = 0.9,
        b2: float = 0.999,
        b3: float | None = None,
        eps: float = 1e-8,
        estim_lr0: float = 1e-6,
        estim_lr_coef: float = 1.0,
        weight_decay: float = 0.0,
        decay: Any = "**",
        safeguard_warmup: bool = False,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2, b3=0.0 if b3 is None else b3)
        check_not_negative(
            self, eps=eps, estim_lr0=estim_lr0, estim_lr_coef=estim_lr_coef,
            weight_decay=weight_decay,
        )  # fmt: skip
        if not estim_lr0:
            refuse_setting(self, "estim_lr0", estim_lr0, "a number above 0")
        self.b1, self.b2, self.b3, self.eps = b1, b2, b2**0.5 if b3 is None else b3, eps
        self.estim_lr0, self.estim_lr_coef = estim_lr0, estim_lr_coef
        self.weight_decay, self.decay = weight_decay, decay
        self.safeguard_warmup = safeguard_warmup

    def init_moments(self, v: Container) -> dict[str, Any]:
        """Zeros, `v`, and the first d."""
        zeros = ops.zeros_like(v)
        return {
            "exp_avg": zeros, "exp_avg_sq": zeros, "grad_sum": zeros, "params0": v,
            "estim_lr": number_like(self.estim_lr0, v), "numerator_weighted": number_like(0.0, v),
        }  # fmt: skip

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        d = state["estim_lr"]
        rate = d * scale.number * ops.sqrt(scale.bias(self.b2)) / scale.bias(self.b1)
        scaled = grads * scale.spread(d, grads)
        mean = average(state["exp_avg"], scaled, self.b1)
        square = average(state["exp_avg_sq"], scaled * scaled, self.b2)
        weight = (d if self.safeguard_warmup else rate) / self.estim_lr0
        total = state["grad_sum"] * self.b3 + scaled * scale.spread(weight, grads)
        progress = ops.astype(tree_dot(grads, state["params0"] - v), scale.wide)
        numerator = state["numerator_weighted"] * self.b3 + d / self.estim_lr0 * rate * progress
        denominator = ops.astype(tree_sum(ops.abs(total)), scale.wide)
        denominator = ops.where(denominator == 0, ops.ones_like(denominator), denominator)
        estimate = ops.maximum(d, numerator * self.estim_lr_coef / denominator)
        direction = mean / (ops.sqrt(square) + scale.spread(estimate * self.eps, square))
        new = v - self.with_decay(direction, v) * scale.spread(rate, v)
        return new, {
            "exp_avg": mean, "exp_avg_sq": square, "grad_sum": total, "params0": state["params0"],
            "estim_lr": estimate, "numerator_weighted": numerator,
        }  # fmt: skip
