"""Steps divided by the size of past gradients: Adagrad, Adadelta, RMSprop."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, average
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import check_decays, check_not_negative


class Adagrad(Optimizer):
    """Steps divided by all past gradients: v ← v − η g / √(n + ε), with the sum n of g².

    Args:
        learning_rate: η; see `Optimizer`.
        initial_accumulator_value: the first n.
        eps: ε.
        eps_in_sqrt: False divides by √n + ε, as PyTorch.

    Raises:
        ArgumentError: a negative setting.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nn.Adagrad(0.1).init(na.Container(w=np.ones(2)))["sum_of_squares"].w
        array([0.1, 0.1])

    References:
        Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic
        optimization. JMLR 12, 2011.
    """

    moments = ("sum_of_squares",)

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-2,
        *,
        initial_accumulator_value: float = 0.1,
        eps: float = 1e-7,
        eps_in_sqrt: bool = True,
    ) -> None:
        super().__init__(learning_rate)
        check_not_negative(self, initial_accumulator_value=initial_accumulator_value, eps=eps)
        self.initial_accumulator_value = initial_accumulator_value
        self.eps, self.eps_in_sqrt = eps, eps_in_sqrt

    def init_moments(self, v: Container) -> dict[str, Any]:
        """`initial_accumulator_value` for each element."""
        return {"sum_of_squares": ops.full_like(v, self.initial_accumulator_value)}

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        total = state["sum_of_squares"] + grads * grads
        direction = grads / _root(total, self.eps, self.eps_in_sqrt)
        return v - direction * scale.rate(v), {"sum_of_squares": total}


def _root(square: Container, eps: float, eps_in_sqrt: bool) -> Container:
    return ops.sqrt(square + eps) if eps_in_sqrt else ops.sqrt(square) + eps


class Adadelta(Optimizer):
    """Steps in the unit of the variables: v ← v − η u, u = g √(e + ε) / √(n + ε).

    Running means n of g² and e of u².

    Args:
        learning_rate: η; see `Optimizer`.
        rho: the decay of both means.
        eps: ε.

    Raises:
        ArgumentError: `rho` is outside [0, 1), or `eps` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nn.Adadelta().init(na.Container(w=np.ones(2))).paths()
        ('count', 'e_g/w', 'e_x/w')

    References:
        Zeiler, ADADELTA: an adaptive learning rate method. https://arxiv.org/abs/1212.5701
    """

    moments = ("e_g", "e_x")

    @signature_errors()
    def __init__(
        self, learning_rate: LearningRate = 1.0, *, rho: float = 0.9, eps: float = 1e-6
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, rho=rho)
        check_not_negative(self, eps=eps)
        self.rho, self.eps = rho, eps

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        e_g = average(state["e_g"], grads * grads, self.rho)
        direction = ops.sqrt(state["e_x"] + self.eps) / ops.sqrt(e_g + self.eps) * grads
        e_x = average(state["e_x"], direction * direction, self.rho)
        return v - direction * scale.rate(v), {"e_g": e_g, "e_x": e_x}


class RMSprop(Optimizer):
    """Steps divided by recent gradients: v ← v − η g / √(n + ε), with the running mean n of g².

    Args:
        learning_rate: η; see `Optimizer`.
        decay_rate: the decay of n, ``decay`` in optax.
        eps: ε.
        eps_in_sqrt: False divides by √n + ε, as PyTorch.
        centered: subtract the square of the running mean of g from n: a variance.
        momentum: μ; v ← v − m, m ← μ m + η g / √(n + ε). The rate is inside of m, as in optax and
            Keras; outside in PyTorch.

    Raises:
        ArgumentError: `decay_rate` is outside [0, 1), or another setting is negative.

    Example:
        >>> from nestarray import nn
        >>> nn.RMSprop(momentum=0.9).moments
        ('nu', 'trace')

    References:
        Hinton, Lecture 6.5: divide the gradient by a running average of its recent magnitude. 2012.
        https://docs.pytorch.org/docs/stable/generated/torch.optim.RMSprop.html
    """

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-3,
        *,
        decay_rate: float = 0.9,
        eps: float = 1e-8,
        eps_in_sqrt: bool = True,
        centered: bool = False,
        momentum: float = 0.0,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, decay_rate=decay_rate)
        check_not_negative(self, eps=eps, momentum=momentum)
        self.decay_rate, self.eps, self.eps_in_sqrt = decay_rate, eps, eps_in_sqrt
        self.centered, self.momentum = centered, momentum

    @property
    def moments(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of n, the mean of g and the momentum."""
        return ("nu", *(["mu"] if self.centered else []), *(["trace"] if self.momentum else []))

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        moments = {"nu": average(state["nu"], grads * grads, self.decay_rate)}
        square = moments["nu"]
        if self.centered:
            mean = moments["mu"] = average(state["mu"], grads, self.decay_rate)
            square = square - mean * mean
        change = grads / _root(square, self.eps, self.eps_in_sqrt) * scale.rate(v)
        if self.momentum:
            change = moments["trace"] = state["trace"] * self.momentum + change
        return v - change, moments
