"""Optimizers as pairs of pure functions: ``init(v) -> state`` and ``step(v, grads, state)``.

Variables, gradients and states are Containers of one backend, so a step can be compiled
with `na.jit`, stored, moved to another framework and continued there. Results
equal ``optax`` and ``torch.optim``. Leaves that are not floating do not change.

Example:
    >>> import nestarray as na
    >>> from nestarray import nn
    >>> v = na.Container(w=na.ones((2,)))
    >>> optimizer = nn.SGD(0.5)
    >>> v, state = optimizer.step(v, na.Container(w=na.ones((2,))), optimizer.init(v))
    >>> v.w
    array([0.5, 0.5], dtype=float32)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nestarray import backends, dtypes, ops, tree
from nestarray.container import Container, FusedContainer
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.random.arguments import is_number
from nestarray.typing import Array

#: A number, or a function of the number of steps done (an int32 array of shape `()`).
LearningRate = float | Callable[[Array], Any]


class Optimizer:
    """Base class: counts steps, and applies `update` to the floating leaves.

    A subclass declares its moments (`moments`) and computes a step (`update`).

    Args:
        learning_rate: a number, or a schedule: a function of the number of steps done.

    Example:
        >>> import numpy as np, nestarray as na
        >>> class Signs(na.nn.Optimizer):
        ...     def update(self, v, grads, state, scale):
        ...         return v - scale.rate(v) * na.sign(grads), {}
        >>> v, optimizer = na.Container(w=np.ones(2, "float32")), Signs(0.25)
        >>> optimizer.step(v, v * 7, optimizer.init(v))[0].w
        array([0.75, 0.75], dtype=float32)
    """

    #: Names of the Containers of zeros, of the structure of `v`, that the state holds.
    moments: tuple[str, ...] = ()

    @signature_errors()
    def __init__(self, learning_rate: LearningRate) -> None:
        if not (
            callable(learning_rate) or is_number(learning_rate) or backends.is_array(learning_rate)
        ):
            raise ArgumentError(
                f"{type(self).__name__}: learning_rate: got {learning_rate!r}, expected a number, or a "
                "function of the number of steps done"
            )
        self.learning_rate = learning_rate

    def init(self, v: Container) -> Container:
        """The state before the first step: ``count`` and the moments, on the backend of `v`.

        Args:
            v: the variables to train, for example a part, ``v.select("head")``.

        Returns:
            a Container: ``count``, int32 of shape `()`, and for each moment zeros like the
            floating leaves of `v`.

        Raises:
            ArgumentError: `v` is not a Container with a floating leaf.

        Example:
            >>> import numpy as np, nestarray as na
            >>> na.nn.Adam(1e-3).init(na.Container(w=np.ones(2, "float32"))).paths()
            ('count', 'mu/w', 'nu/w')
        """
        floating = _floating(v, "init", "v")
        like = next(iter(tree.flatten(floating)[0]), None)
        if like is None:
            raise ArgumentError(
                f"{self!r}.init: v has no floating leaf, so there is nothing to train"
            )
        count = ops.zeros((), dtype=dtypes.int32, like=like)
        zeros = {name: ops.zeros_like(floating) for name in self.moments}
        return Container(count=count, **zeros)

    def step(self, v: Container, grads: Container, state: Container) -> tuple[Container, Container]:
        """One optimization step.

        Args:
            v: variables.
            grads: gradients, with the keys of `v`.
            state: from `init`, or from the step before.

        Returns:
            (new variables, new state).

        Raises:
            StructureError: `v`, `grads` and `state` do not match; names the first path.
            ArgumentError: an argument is not a Container, or `state` does not come from `init`.

        Example:
            >>> import numpy as np, nestarray as na
            >>> v, optimizer = na.Container(w=np.ones(2, "float32")), na.nn.SGD(0.5)
            >>> v, state = optimizer.step(v, v, optimizer.init(v))
            >>> v.w, int(state["count"])
            (array([0.5, 0.5], dtype=float32), 1)
        """
        old = _floating(v, "step", "v")
        gradients = _floating(grads, "step", "grads")
        self._check_state(state)
        count = state["count"] + 1
        rate = self.learning_rate
        scale = _Scale(rate(state["count"]) if callable(rate) else rate, count)
        new, kept = self.update(old, gradients, state, scale)
        changed = new if old.spec is v.spec else v.update(new)
        return changed, Container(count=count, **kept)

    def update(
        self, v: Container, grads: Container, state: Container, scale: _Scale
    ) -> tuple[Container, dict[str, Container]]:
        """One step: (new variables, new moments by name). Subclasses define it.

        Args:
            v: the floating variables.
            grads: their gradients.
            state: the moments before, by name.
            scale: ``scale.rate(c)`` is the learning rate in the dtypes of `c`.
        """
        raise TypeError(f"{type(self).__name__} defines no update")

    def _check_state(self, state: Any) -> None:
        names = ("count", *self.moments)
        own = state.spec.index if isinstance(state, Container) else ()
        if any(name not in own for name in names):
            shown = f"a Container of {', '.join(map(str, own))}" if own else type(state).__name__
            raise ArgumentError(
                f"optimizer.step: state: got {shown}, expected a Container of {', '.join(names)}, as "
                "optimizer.init(v) makes it; the call is step(v, grads, state)"
            )

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


class _Scale:
    """The numbers of one step, in the dtypes of the leaves that they multiply."""

    def __init__(self, rate: Any, count: Array) -> None:
        self._rate, self._count = rate, count

    def rate(self, c: Container) -> Any:
        """The learning rate, to multiply `c` with."""
        return self._rate if isinstance(self._rate, (int, float)) else _in_dtypes(self._rate, c)

    def correction(self, decay: float, c: Container) -> Container:
        """1 − decayᵗ for the t-th step, to divide `c` by.

        Computed as −expm1(t ln decay): the difference would lose four float32 digits in the first
        steps, and differently on each backend.
        """
        rate = math.log(decay) if decay else -math.inf
        made = {}
        for dtype in _dtypes(c):
            wide = dtypes.float64 if dtype is dtypes.float64 else dtypes.float32
            power = ops.expm1(ops.multiply(ops.astype(self._count, wide), rate))
            made[dtype] = ops.astype(ops.negative(power), dtype)
        return tree.map(lambda leaf: made[dtypes.dtype_of(leaf)], c)


def _in_dtypes(number: Array, c: Container) -> Container:
    """A 0-d array for each leaf of `c`, in its dtype; one array for all leaves of a dtype."""
    made = {dtype: ops.astype(number, dtype) for dtype in _dtypes(c)}
    return tree.map(lambda leaf: made[dtypes.dtype_of(leaf)], c)


def _dtypes(c: Container) -> set[dtypes.DType]:
    return {dtypes.dtype_of(leaf) for leaf in tree.flatten(c)[0]}


def _floating(c: Any, method: str, name: str) -> Container:
    if not isinstance(c, Container):
        raise ArgumentError(
            f"optimizer.{method}: {name}: got {type(c).__name__}, expected a Container; "
            "convert it with na.Container(tree)"
        )
    if all(map(_is_floating, tree.flatten(c)[0])):
        return c
    return c.select(lambda path, leaf: _is_floating(leaf))


def _is_floating(leaf: Any) -> bool:
    return backends.is_array(leaf) and dtypes.dtype_of(leaf).is_floating


class SGD(Optimizer):
    """Gradient descent, v ← v − η g, or with momentum v ← v − η m, m ← μ m + g.

    Args:
        learning_rate: η, a number or a schedule.
        momentum: μ; 0 keeps no moments.
        nesterov: descend along g + μ m.

    Example:
        >>> from nestarray import nn
        >>> nn.SGD(0.1, momentum=0.9)
        SGD(learning_rate=0.1, momentum=0.9, nesterov=False)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    @signature_errors()
    def __init__(
        self, learning_rate: LearningRate, *, momentum: float = 0.0, nesterov: bool = False
    ) -> None:
        super().__init__(learning_rate)
        self.momentum, self.nesterov = momentum, nesterov

    @property
    def moments(self) -> tuple[str, ...]:  # type: ignore[override]
        """The name of the momentum, if μ > 0."""
        return ("trace",) if self.momentum else ()

    def update(
        self, v: Container, grads: Container, state: Container, scale: _Scale
    ) -> tuple[Container, dict[str, Container]]:
        """One step; see the class."""
        if not self.momentum:
            return v - grads * scale.rate(v), {}
        trace = grads + state["trace"] * self.momentum
        direction = grads + trace * self.momentum if self.nesterov else trace
        return v - direction * scale.rate(v), {"trace": trace}


class Adam(Optimizer):
    """Adaptive moments: v ← v − η m̂ / (√n̂ + ε), with running means m of g and n of g².

    Args:
        learning_rate: η, a number or a schedule.
        b1: decay of m; m̂ = m / (1 − b1ᵗ).
        b2: decay of n; n̂ = n / (1 − b2ᵗ).
        eps: ε, outside the root.

    Example:
        >>> from nestarray import nn
        >>> nn.Adam(1e-3).b2
        0.999

    References:
        Kingma and Ba, Adam: a method for stochastic optimization. ICLR 2015.
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
    ) -> None:
        super().__init__(learning_rate)
        self.b1, self.b2, self.eps = b1, b2, eps

    def update(
        self, v: Container, grads: Container, state: Container, scale: _Scale
    ) -> tuple[Container, dict[str, Container]]:
        """One step; see the class."""
        direction, kept = self._direction(v, grads, state, scale)
        return v - direction * scale.rate(v), kept

    def _direction(
        self, v: Container, grads: Container, state: Container, scale: _Scale
    ) -> tuple[Container, dict[str, Container]]:
        mu = state["mu"] * self.b1 + grads * (1 - self.b1)
        nu = state["nu"] * self.b2 + grads * grads * (1 - self.b2)
        mean, square = mu / scale.correction(self.b1, mu), nu / scale.correction(self.b2, nu)
        return mean / (ops.sqrt(square) + self.eps), {"mu": mu, "nu": nu}


class AdamW(Adam):
    """Adam with decoupled weight decay: v ← v − η (m̂ / (√n̂ + ε) + λ v).

    Args:
        learning_rate: η, a number or a schedule.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.
        b1, b2, eps: as in `Adam`.

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
    ) -> None:
        super().__init__(learning_rate, b1=b1, b2=b2, eps=eps)
        self.weight_decay, self.decay = weight_decay, decay

    def update(
        self, v: Container, grads: Container, state: Container, scale: _Scale
    ) -> tuple[Container, dict[str, Container]]:
        """One step; see the class."""
        direction, kept = self._direction(v, grads, state, scale)
        return v - (direction + v * self._decays(v)) * scale.rate(v), kept

    def _decays(self, v: Container) -> Any:
        hits = v.mask(self.decay)
        if all(hits.leaves()):
            return self.weight_decay
        decays = hits.map(lambda hit: self.weight_decay if hit else 0.0)
        return (
            decays.map(lambda x, like: ops.full_like(like, x), v).fuse()
            if isinstance(v, FusedContainer)
            else decays
        )
