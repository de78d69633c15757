"""Optimizers as functions: ``v, state = optimizer.step(v, grads, state)``.

An optimizer holds settings only. Its state is a Container that `init` makes: a counter,
and moments in the structure of the variables. Nothing is changed in place, so a step may
stand under ``jit``, in ``scan``, or be kept for later.

Bias correction divides the moments by 1 − βᵗ, which is the moving average of ones with
the weights of the moments: c ← β c + (1 − β). Kept as an array in the state it needs no
power, has no cancellation where t is small, and rounds alike on every backend.

Leaves that are not floating are handed through unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from nestarray import dtypes, ops, tree
from nestarray.container import Container
from nestarray.container.access import line_up
from nestarray.errors import ArgumentError, StructureError
from nestarray.typing import Array, Nest

#: A number, or a function of the number of steps done, an int32 array `()`.
Rate: TypeAlias = float | Callable[[Array], Any]


class Optimizer:
    """What optimizers share. Subclasses define `_slots` and `_update`.

    Args:
        learning_rate: a number, or a function of the number of steps done before.
    """

    def __init__(self, learning_rate: Rate) -> None:
        if not callable(learning_rate) and learning_rate < 0:
            raise ArgumentError(
                f"{type(self).__name__}: learning_rate: got {learning_rate}, expected a number "
                "that is not negative, or a function of the step"
            )
        self.learning_rate = learning_rate

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"

    def init(self, v: Nest) -> Container:
        """The state to begin with, on the backend of `v`.

        Args:
            v: Container, or any nest, of arrays.

        Raises:
            ArgumentError: there is no floating array in `v`.
        """
        like = next((x for x in tree.flatten(v)[0] if _is_floating(x)), None)
        if like is None:
            raise ArgumentError(
                f"{type(self).__name__}.init: v: got no floating array, expected variables"
            )
        return Container(step=ops.zeros((), dtype="int32", like=like), **self._begin(v, like))

    def step(self, v: Nest, grads: Nest, state: Container) -> tuple[Nest, Container]:
        """The variables and the state after one step.

        Args:
            v: the variables.
            grads: the gradients, in the structure of `v`.
            state: what `init` or the last step returned.

        Returns:
            ``(v, state)``, new ones.

        Raises:
            StructureError: the structures do not match.
        """
        leaves, structure = tree.flatten(v)
        slopes = _lined_up(v, grads, len(leaves), type(self).__name__)
        rate = (
            self.learning_rate(state.step) if callable(self.learning_rate) else self.learning_rate
        )
        scalars = self._advance(state)
        slots = [name for name in state if name not in scalars and name != "step"]
        columns = [_lined_up(v, state[name], len(leaves), type(self).__name__) for name in slots]
        new_leaves: list[Any] = []
        new_columns: list[list[Any]] = [[] for _ in slots]
        for leaf, slope, *moments in zip(leaves, slopes, *columns, strict=True):
            if _is_floating(leaf):
                change, moments = self._update(leaf, slope, moments, rate, scalars)
                leaf = ops.subtract(leaf, ops.astype(change, leaf.dtype, copy=False))
            new_leaves.append(leaf)
            for column, moment in zip(new_columns, moments, strict=True):
                column.append(moment)
        trees = {
            name: tree.unflatten(structure, column)
            for name, column in zip(slots, new_columns, strict=True)
        }
        new_state = Container(step=ops.add(state.step, 1), **scalars, **trees)
        return tree.unflatten(structure, new_leaves), new_state

    def _begin(self, v: Nest, like: Array) -> dict[str, Any]:
        """The entries of the state besides the counter."""
        return {}

    def _advance(self, state: Container) -> dict[str, Array]:
        """The scalars of the state after this step."""
        return {}

    def _update(
        self, leaf: Array, slope: Array, moments: list[Array], rate: Any, scalars: dict[str, Array]
    ) -> tuple[Array, list[Array]]:
        """(what to subtract from the leaf, its new moments)."""
        raise ArgumentError(f"{type(self).__name__}: defines no _update")


def _is_floating(x: Any) -> bool:
    return hasattr(x, "dtype") and dtypes.dtype_of(x).is_inexact


def _lined_up(v: Nest, other: Nest, number: int, name: str) -> tuple[Any, ...]:
    """The leaves of `other` for those of `v`, by key between Containers."""
    if isinstance(v, Container) and isinstance(other, Container):
        return line_up(v.spec, other, f"{name}.step")
    leaves = tree.flatten(other)[0]
    if len(leaves) != number:
        raise StructureError(
            f"{name}.step: got {len(leaves)} leaves, expected {number}, as in the variables"
        )
    return leaves


def _zeros(v: Nest) -> Nest:
    return tree.map(lambda x: ops.zeros_like(x) if _is_floating(x) else x, v)


class SGD(Optimizer):
    """Gradient descent: v ← v − rate · (g + weight_decay · v), or with momentum.

    With momentum μ: m ← μ m + g, v ← v − rate · m; Nesterov's takes g + μ m for m.

    Args:
        learning_rate: a number, or a function of the number of steps done before.
        momentum: μ; 0 keeps no moments.
        nesterov: whether to look ahead.
        weight_decay: what of v is added to its gradient.

    Raises:
        ArgumentError: `nesterov` without momentum.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(w=np.asarray([1.0, 2.0]))
        >>> optimizer = na.nn.SGD(0.1)
        >>> v, state = optimizer.step(v, v * 2, optimizer.init(v))
        >>> v.w
        array([0.8, 1.6])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    def __init__(
        self,
        learning_rate: Rate,
        momentum: float = 0.0,
        *,
        nesterov: bool = False,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate)
        if nesterov and not momentum:
            raise ArgumentError("SGD: nesterov: got True, expected a momentum above 0 with it")
        self.momentum, self.nesterov, self.weight_decay = momentum, nesterov, weight_decay

    def _begin(self, v: Nest, like: Array) -> dict[str, Any]:
        return {"momentum": _zeros(v)} if self.momentum else {}

    def _update(
        self, leaf: Array, slope: Array, moments: list[Array], rate: Any, scalars: dict[str, Array]
    ) -> tuple[Array, list[Array]]:
        if self.weight_decay:
            slope = ops.add(slope, ops.multiply(leaf, self.weight_decay))
        if not self.momentum:
            return ops.multiply(slope, rate), []
        moment = ops.add(ops.multiply(moments[0], self.momentum), slope)
        ahead = ops.add(slope, ops.multiply(moment, self.momentum)) if self.nesterov else moment
        return ops.multiply(ahead, rate), [moment]


class Adam(Optimizer):
    """Adaptive moments: v ← v − rate · m̂ / (√n̂ + eps).

    m ← β₁ m + (1 − β₁) g and n ← β₂ n + (1 − β₂) g², divided by 1 − βᵗ to give m̂ and n̂.

    Args:
        learning_rate: a number, or a function of the number of steps done before.
        beta1: how much of m stays in a step.
        beta2: how much of n stays in a step.
        eps: added to the root.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(w=np.asarray([1.0, -2.0]))
        >>> optimizer = na.nn.Adam(0.5)
        >>> v, state = optimizer.step(v, v * 2, optimizer.init(v))
        >>> v.w.round(5)
        array([ 0.5, -1.5])

    References:
        https://arxiv.org/abs/1412.6980
        https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
    """

    def __init__(
        self,
        learning_rate: Rate = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate)
        for name, beta in (("beta1", beta1), ("beta2", beta2)):
            if not 0.0 <= beta < 1.0:
                raise ArgumentError(
                    f"{type(self).__name__}: {name}: got {beta}, expected a number from 0 to "
                    "below 1"
                )
        self.beta1, self.beta2, self.eps = beta1, beta2, eps

    def _begin(self, v: Nest, like: Array) -> dict[str, Any]:
        found = [dtypes.dtype_of(x) for x in tree.flatten(v)[0] if _is_floating(x)]
        is_double = any(d in (dtypes.float64, dtypes.complex128) for d in found)
        zero = ops.zeros((), dtype="float64" if is_double else "float32", like=like)
        return {"correction1": zero, "correction2": zero, "m": _zeros(v), "n": _zeros(v)}

    def _advance(self, state: Container) -> dict[str, Array]:
        return {
            "correction1": _average(state.correction1, 1.0, self.beta1),
            "correction2": _average(state.correction2, 1.0, self.beta2),
        }

    def _update(
        self, leaf: Array, slope: Array, moments: list[Array], rate: Any, scalars: dict[str, Array]
    ) -> tuple[Array, list[Array]]:
        m, n = moments
        square = ops.real(ops.multiply(slope, ops.conj(slope))) if _is_complex(slope) else None
        square = ops.multiply(slope, slope) if square is None else ops.astype(square, slope.dtype)
        m = _average(m, slope, self.beta1)
        n = _average(n, square, self.beta2)
        root = ops.sqrt(ops.divide(n, scalars["correction2"]))
        change = ops.divide(ops.divide(m, scalars["correction1"]), ops.add(root, self.eps))
        return ops.multiply(self._decayed(change, leaf), rate), [m, n]

    def _decayed(self, change: Array, leaf: Array) -> Array:
        return change


class AdamW(Adam):
    """`Adam` with weight decay beside the moments: v ← v − rate · (m̂ / (√n̂ + eps) + decay · v).

    Args:
        learning_rate: a number, or a function of the number of steps done before.
        beta1: how much of m stays in a step.
        beta2: how much of n stays in a step.
        eps: added to the root.
        weight_decay: the share of v that is subtracted, times the rate.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(w=np.asarray([1.0, -2.0]))
        >>> optimizer = na.nn.AdamW(0.5, weight_decay=0.1)
        >>> v, state = optimizer.step(v, v * 2, optimizer.init(v))
        >>> v.w.round(5)
        array([ 0.45, -1.4 ])

    References:
        https://arxiv.org/abs/1711.05101
        https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html
    """

    def __init__(
        self,
        learning_rate: Rate = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, eps)
        self.weight_decay = weight_decay

    def _decayed(self, change: Array, leaf: Array) -> Array:
        return ops.add(change, ops.multiply(leaf, self.weight_decay))


def _average(old: Array, new: Any, beta: float) -> Array:
    """β old + (1 − β) new."""
    scaled = (1.0 - beta) * new if isinstance(new, float) else ops.multiply(new, 1.0 - beta)
    return ops.add(ops.multiply(old, beta), scaled)


def _is_complex(x: Array) -> bool:
    return dtypes.dtype_of(x).kind == "complex"
