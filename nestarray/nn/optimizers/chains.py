"""Optimizers around optimizers: they change the gradients before, or the variables after a step.

Chains read from the outside: ``nn.ClipByGlobalNorm(1.0, nn.Accumulate(4, nn.AdamW(1e-3)))`` clips
each gradient, averages four of them and makes a step of AdamW. A chain without memory has the state
of its inner optimizer; the others have it as ``inner``.
"""

from __future__ import annotations

from typing import Any

from nestarray import backends, dtypes, ops, random
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, check_state, floating_part, with_floating
from nestarray.nn.optimizers.scale import Scale
from nestarray.nn.optimizers.settings import check_counts, check_not_negative, refuse_setting
from nestarray.transforms import cond
from nestarray.typing import Array


class OptimizerChain(Optimizer):
    """Base class: an optimizer around another, whose state is the entry ``inner`` of its state.

    A subclass declares its moments and computes a step (`update_around`).
    """

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            refuse_setting(self, "optimizer", optimizer, "an optimizer such as nn.Adam(1e-3)")
        self.optimizer = optimizer

    def init(self, v: Container) -> Container:
        """``count``, the moments, and ``inner``; see `Optimizer.init`."""
        return Container({**super().init(v), "inner": self.optimizer.init(v)})

    def step(self, v: Container, grads: Container, state: Container) -> tuple[Container, Container]:
        """One step; see `Optimizer.step`."""
        old = floating_part(v, "step", "v")
        gradients = floating_part(grads, "step", "grads")
        check_state(state, ("count", *self.moments, "inner"))
        scale = Scale(0.0, state["count"], old)
        new, entries = self.update_around(old, gradients, state, scale)
        return with_floating(v, new), Container(count=scale.count, **entries)

    def update_around(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step: (new variables, new moments and ``inner`` by name). Subclasses define it.

        Args:
            v: the floating variables.
            grads: their gradients.
            state: the moments before, by name, and ``inner``.
            scale: the number of steps, without a learning rate.
        """
        raise TypeError(f"{type(self).__name__} defines no update_around")

    def evaluation_variables(self, v: Container, state: Container) -> Container:
        """As the inner optimizer's."""
        return self.optimizer.evaluation_variables(v, state["inner"])


class GradientTransformation(OptimizerChain):
    """Base class: the step of an optimizer with other gradients, and its state.

    A subclass computes the gradients (`transform`).

    Example:
        >>> import numpy as np, nestarray as na
        >>> class Centralized(na.nn.GradientTransformation):
        ...     def transform(self, grads, v):
        ...         return grads - na.mean(grads)
        >>> v, optimizer = na.Container(w=np.zeros(2)), Centralized(na.nn.SGD(1.0))
        >>> optimizer.step(v, na.Container(w=np.asarray([1.0, 3.0])), optimizer.init(v))[0].w
        array([ 1., -1.])
    """

    def transform(self, grads: Container, v: Container) -> Container:
        """The gradients for the inner optimizer.

        Args:
            grads: the floating gradients.
            v: the floating variables.
        """
        raise TypeError(f"{type(self).__name__} defines no transform")

    def init(self, v: Container) -> Container:
        """The state of the inner optimizer; see `Optimizer.init`."""
        return self.optimizer.init(v)

    def step(self, v: Container, grads: Container, state: Container) -> tuple[Container, Container]:
        """One step; see `Optimizer.step`."""
        old = floating_part(v, "step", "v")
        new = self.transform(floating_part(grads, "step", "grads"), old)
        return self.optimizer.step(v, new, state)

    def evaluation_variables(self, v: Container, state: Container) -> Container:
        """As the inner optimizer's."""
        return self.optimizer.evaluation_variables(v, state)


class WeightDecay(GradientTransformation):
    """Adds λ v to the gradients: the gradient of λ ‖v‖² / 2.

    `AdamW` and other optimizers with ``weight_decay`` add it to the direction instead.

    Args:
        weight_decay: λ.
        optimizer: the inner optimizer.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.

    Raises:
        ArgumentError: `weight_decay` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(w=np.ones(2), b=np.ones(2))
        >>> optimizer = na.nn.WeightDecay(0.5, na.nn.SGD(1.0), decay="w")
        >>> optimizer.step(v, v * 0, optimizer.init(v))[0].to_dict()
        {'w': array([0.5, 0.5]), 'b': array([1., 1.])}
    """

    @signature_errors()
    def __init__(self, weight_decay: float, optimizer: Optimizer, *, decay: Any = "**") -> None:
        super().__init__(optimizer)
        check_not_negative(self, weight_decay=weight_decay)
        self.weight_decay, self.decay = weight_decay, decay

    def transform(self, grads: Container, v: Container) -> Container:
        """See the class."""
        return self.with_decay(grads, v)


class GradientNoise(OptimizerChain):
    """Adds normal noise to the gradients, of the variance η / tᵞ at the step t.

    The noise follows from the seed, the step and the path of the leaf: it is the same on every
    backend, and after a restart.

    Args:
        eta: η.
        optimizer: the inner optimizer.
        gamma: γ.
        seed: of the noise.

    Raises:
        ArgumentError: `eta` or `gamma` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nn.GradientNoise(0.01, na.nn.SGD(0.1)).init(na.Container(w=np.ones(2))).paths()
        ('count', 'inner/count')

    References:
        Neelakantan et al., Adding gradient noise improves learning for very deep networks.
        https://arxiv.org/abs/1511.06807
    """

    @signature_errors()
    def __init__(
        self, eta: float, optimizer: Optimizer, *, gamma: float = 0.55, seed: int = 0
    ) -> None:
        super().__init__(optimizer)
        check_not_negative(self, eta=eta, gamma=gamma)
        self.eta, self.gamma, self.seed = eta, gamma, seed

    def update_around(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        key = random.key(self.seed, backend=backends.backend_of(scale.count))
        key = random.fold_in(key, scale.count)
        deviation = self.eta**0.5 * scale.t ** (-self.gamma / 2)

        def noisy(path: str, grad: Array) -> Array:
            dtype = dtypes.dtype_of(grad)
            noise = random.normal(random.fold_in(key, path), tuple(grad.shape), dtype=dtype)
            return grad + noise * ops.astype(deviation, dtype)

        new, inner = self.optimizer.step(v, grads.map(noisy, with_path=True), state["inner"])
        return new, {"inner": inner}


class Accumulate(OptimizerChain):
    """A step with the mean of the gradients of k calls; the calls between change nothing.

    Args:
        steps: k.
        optimizer: the inner optimizer.

    Raises:
        ArgumentError: `steps` is not an integer of at least 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v, optimizer = na.Container(w=np.zeros(1)), na.nn.Accumulate(2, na.nn.SGD(1.0))
        >>> state = optimizer.init(v)
        >>> for grad in (1.0, 3.0):
        ...     v, state = optimizer.step(v, na.Container(w=np.asarray([grad])), state)
        ...     print(v.w)
        [0.]
        [-2.]

    References:
        https://optax.readthedocs.io/en/latest/api/optimizer_wrappers.html#optax.MultiSteps
    """

    moments = ("grads",)

    @signature_errors()
    def __init__(self, steps: int, optimizer: Optimizer) -> None:
        super().__init__(optimizer)
        check_counts(self, steps=steps)
        self.steps = steps

    def update_around(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        total = state["grads"] + grads

        def apply(
            v: Container, total: Container, inner: Container
        ) -> tuple[Container, Container, Container]:
            v, inner = self.optimizer.step(v, total / self.steps, inner)
            return v, ops.zeros_like(total), inner

        def wait(*arguments: Container) -> tuple[Container, ...]:
            return arguments

        is_due = scale.count % self.steps == 0
        v, total, inner = cond(is_due, apply, wait, v, total, state["inner"])
        return v, {"grads": total, "inner": inner}
