"""Averages of the variables around an optimizer: EMA, lookahead."""

from __future__ import annotations

from typing import Any

from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.chains import OptimizerChain
from nestarray.nn.optimizers.optimizer import Optimizer, with_floating
from nestarray.nn.optimizers.scale import Scale
from nestarray.nn.optimizers.settings import check_counts, check_decays, check_not_negative
from nestarray.transforms import cond


class EMA(OptimizerChain):
    """Exponential moving average of the variables, which is evaluated; training continues without it.

    a ← a + (1 − d) / (1 − dᵗ) (v − a), so that a is v after the first step.

    Args:
        decay: d.
        optimizer: the inner optimizer.

    Raises:
        ArgumentError: `decay` is outside [0, 1).

    Example:
        >>> import numpy as np, nestarray as na
        >>> v, optimizer = na.Container(w=np.zeros(1)), na.nn.EMA(0.5, na.nn.SGD(1.0))
        >>> state = optimizer.init(v)
        >>> for _ in range(2):
        ...     v, state = optimizer.step(v, v * 0 - 1, state)
        >>> v.w, optimizer.evaluation_variables(v, state).w
        (array([2.]), array([1.66666667]))

    References:
        Polyak and Juditsky, Acceleration of stochastic approximation by averaging. SIAM Journal on
        Control and Optimization 30, 1992.
    """

    moments = ("ema",)

    @signature_errors()
    def __init__(self, decay: float, optimizer: Optimizer) -> None:
        super().__init__(optimizer)
        check_decays(self, decay=decay)
        self.decay = decay

    def update_around(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        new, inner = self.optimizer.step(v, grads, state["inner"])
        weight = scale.spread((1 - self.decay) / scale.bias(self.decay), v)
        ema = state["ema"] + (new - state["ema"]) * weight
        return new, {"ema": ema, "inner": inner}

    def evaluation_variables(self, v: Container, state: Container) -> Container:
        """The average."""
        return with_floating(v, state["ema"])


class Lookahead(OptimizerChain):
    """k steps forward, one back: each k steps, s ← s + α (v − s) and v ← s. s is evaluated.

    Args:
        steps: k.
        optimizer: the inner optimizer.
        slow_step_size: α.

    Raises:
        ArgumentError: `steps` is not an integer of at least 1, or `slow_step_size` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v, optimizer = na.Container(w=np.zeros(1)), na.nn.Lookahead(2, na.nn.SGD(1.0))
        >>> state = optimizer.init(v)
        >>> for _ in range(2):
        ...     v, state = optimizer.step(v, v * 0 - 1, state)
        ...     print(v.w)
        [1.]
        [1.]

    References:
        Zhang et al., Lookahead optimizer: k steps forward, 1 step back. NeurIPS 2019.
    """

    moments = ("slow",)

    @signature_errors()
    def __init__(self, steps: int, optimizer: Optimizer, *, slow_step_size: float = 0.5) -> None:
        super().__init__(optimizer)
        check_counts(self, steps=steps)
        check_not_negative(self, slow_step_size=slow_step_size)
        self.steps, self.slow_step_size = steps, slow_step_size

    def init_moments(self, v: Container) -> dict[str, Any]:
        """s = `v`."""
        return {"slow": v}

    def update_around(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        fast, inner = self.optimizer.step(v, grads, state["inner"])

        def synchronize(fast: Container, slow: Container) -> tuple[Container, Container]:
            slow = slow + (fast - slow) * self.slow_step_size
            return slow, slow

        is_due = scale.count % self.steps == 0
        fast, slow = cond(is_due, synchronize, _unchanged, fast, state["slow"])
        return fast, {"slow": slow, "inner": inner}

    def evaluation_variables(self, v: Container, state: Container) -> Container:
        """The slow variables."""
        return with_floating(v, state["slow"])


def _unchanged(fast: Container, slow: Container) -> tuple[Container, Container]:
    return fast, slow
