"""Steps along the signs of gradients: Lion, Rprop."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, average
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import check_decays, check_not_negative, refuse_setting
from nestarray.random.arguments import is_number


class Lion(Optimizer):
    """Signs of a mean: v ← v − η (sign(b1 m + (1 − b1) g) + λ v), with the running mean m of g.

    Args:
        learning_rate: η; see `Optimizer`. A tenth of the rate of `AdamW` is usual.
        b1: the share of m in the direction.
        b2: decay of m.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.

    Raises:
        ArgumentError: `b1` or `b2` is outside [0, 1), or `weight_decay` is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.Lion(1e-4).b2
        0.99

    References:
        Chen et al., Symbolic discovery of optimization algorithms. NeurIPS 2023.
    """

    moments = ("mu",)

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-4,
        *,
        b1: float = 0.9,
        b2: float = 0.99,
        weight_decay: float = 1e-3,
        decay: Any = "**",
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2)
        check_not_negative(self, weight_decay=weight_decay)
        self.b1, self.b2, self.weight_decay, self.decay = b1, b2, weight_decay, decay

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        direction = ops.sign(average(state["mu"], grads, self.b1))
        new = v - self.with_decay(direction, v) * scale.rate(v)
        return new, {"mu": average(state["mu"], grads, self.b2)}


class Rprop(Optimizer):
    """A step length s for each element, of gradients of the whole data: v ← v − s sign(g).

    s is multiplied by η₊ if g has kept its sign since the last step, and by η₋ if it has changed; then the
    element stays.

    Args:
        learning_rate: the first s; a number.
        eta_minus: η₋.
        eta_plus: η₊.
        min_step_size: the least s.
        max_step_size: the largest s.

    Raises:
        ArgumentError: `learning_rate` is not a number, or the others are not 0 < η₋ < 1 < η₊ and
            0 ≤ min ≤ max.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nn.Rprop(0.1).init(na.Container(w=np.ones(2)))["step_sizes"].w
        array([0.1, 0.1])

    References:
        Riedmiller and Braun, A direct adaptive method for faster backpropagation learning: the RPROP
        algorithm. ICNN 1993.
    """

    moments = ("step_sizes", "previous")
    has_one_rate = True

    @signature_errors()
    def __init__(
        self,
        learning_rate: float = 1e-2,
        *,
        eta_minus: float = 0.5,
        eta_plus: float = 1.2,
        min_step_size: float = 1e-6,
        max_step_size: float = 50.0,
    ) -> None:
        super().__init__(learning_rate)
        if not is_number(learning_rate):
            refuse_setting(self, "learning_rate", learning_rate, "a number, the first step length")
        if not 0 < eta_minus < 1 < eta_plus:
            refuse_setting(self, "eta_minus, eta_plus", (eta_minus, eta_plus), "0 < η₋ < 1 < η₊")
        if not 0 <= min_step_size <= max_step_size:
            lengths = (min_step_size, max_step_size)
            refuse_setting(self, "min_step_size, max_step_size", lengths, "0 ≤ min ≤ max")
        self.eta_minus, self.eta_plus = eta_minus, eta_plus
        self.min_step_size, self.max_step_size = min_step_size, max_step_size

    def init_moments(self, v: Container) -> dict[str, Any]:
        """The first lengths, and no gradient."""
        first: Any = self.learning_rate
        lengths = ops.full_like(v, first)
        return {"step_sizes": lengths, "previous": ops.zeros_like(v)}

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        agreement, lengths = grads * state["previous"], state["step_sizes"]
        has_turned = agreement < 0
        lengths = ops.where(
            has_turned,
            lengths * self.eta_minus,
            ops.where(agreement > 0, lengths * self.eta_plus, lengths),
        )
        lengths = ops.clip(lengths, self.min_step_size, self.max_step_size)
        grads = ops.where(has_turned, ops.zeros_like(grads), grads)
        return v - ops.sign(grads) * lengths, {"step_sizes": lengths, "previous": grads}
