"""Second moments in less memory than the variables: Adafactor, SM3."""

from __future__ import annotations

from functools import reduce
from typing import Any

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.leafwise import LeafwiseOptimizer
from nestarray.nn.optimizers.optimizer import average
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import check_counts, check_decays, check_not_negative
from nestarray.typing import Array


class Adafactor(LeafwiseOptimizer):
    """Adam whose second moment is the product of a row and a column: v ← v − η s u.

    u = g / √n, where n is estimated from the means of g² along the two largest axes; u is divided by
    max(1, RMS(u) / d), and s = max(RMS(v), 10⁻³) is the size of the leaf. The decay of the means is
    1 − t^(−γ).

    Args:
        learning_rate: η; see `Optimizer`.
        min_dim_size_to_factor: leaves whose second largest axis is shorter keep all of n.
        decay_rate: γ.
        multiply_by_parameter_scale: False sets s to 1.
        clipping_threshold: d; None leaves u.
        momentum: decay of a running mean of the steps; None has none.
        weight_decay_rate: λ; subtracts λ v, without η.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.
        eps: added to g².

    Raises:
        ArgumentError: a setting is outside its range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> state = na.nn.Adafactor(min_dim_size_to_factor=2).init(na.Container(w=np.ones((2, 3))))
        >>> {name: x.shape for name, x in state["leaves/w"].items()}
        {'row': (2,), 'column': (3,)}

    References:
        Shazeer and Stern, Adafactor: adaptive learning rates with sublinear memory cost. ICML 2018.
    """

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 1e-2,
        *,
        min_dim_size_to_factor: int = 128,
        decay_rate: float = 0.8,
        multiply_by_parameter_scale: bool = True,
        clipping_threshold: float | None = 1.0,
        momentum: float | None = None,
        weight_decay_rate: float = 0.0,
        decay: Any = "**",
        eps: float = 1e-30,
    ) -> None:
        super().__init__(learning_rate)
        check_counts(self, min_dim_size_to_factor=min_dim_size_to_factor)
        check_decays(self, momentum=momentum or 0.0)
        check_not_negative(
            self, decay_rate=decay_rate, clipping_threshold=clipping_threshold or 0.0,
            weight_decay_rate=weight_decay_rate, eps=eps,
        )  # fmt: skip
        self.min_dim_size_to_factor, self.decay_rate = min_dim_size_to_factor, decay_rate
        self.multiply_by_parameter_scale = multiply_by_parameter_scale
        self.clipping_threshold, self.momentum = clipping_threshold, momentum
        self.weight_decay_rate, self.decay, self.eps = weight_decay_rate, decay, eps

    @property
    def moments(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the factors and of the mean of the steps."""
        return ("leaves",) if self.momentum is None else ("leaves", "mu")

    @property
    def weight_decay(self) -> float:  # type: ignore[override]
        """λ."""
        return self.weight_decay_rate

    def init_moments(self, v: Container) -> dict[str, Any]:
        """Zeros."""
        moments = super().init_moments(v)
        return moments if self.momentum is None else {**moments, "mu": ops.zeros_like(v)}

    def init_leaf(self, x: Array) -> dict[str, Any]:
        """``row`` and ``column``, or ``square`` if the leaf is not factored."""
        zeros, axes = ops.zeros_like(x), self._axes(x)
        if axes is None:
            return {"square": zeros}
        return {"row": ops.mean(zeros, axis=axes[1]), "column": ops.mean(zeros, axis=axes[0])}

    def leaf_direction(
        self, x: Array, grad: Array, state: Container, scale: Scale
    ) -> tuple[Array, dict[str, Any]]:
        """u, and the means of g²."""
        weight = ops.astype(scale.t**-self.decay_rate, dtypes.dtype_of(x))
        square, axes = ops.square(grad) + self.eps, self._axes(x)
        if axes is None:
            mean = ops.lerp(state["square"], square, weight)
            return self._clipped(grad * ops.rsqrt(mean)), {"square": mean}
        first, last = axes
        row = ops.lerp(state["row"], ops.mean(square, axis=last), weight)
        column = ops.lerp(state["column"], ops.mean(square, axis=first), weight)
        total = ops.mean(row, axis=first - (first > last), keepdims=True)
        direction = grad * ops.expand_dims(ops.rsqrt(row / total), last)
        direction = direction * ops.expand_dims(ops.rsqrt(column), first)
        return self._clipped(direction), {"row": row, "column": column}

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        direction, leaves = self.directions(v, grads, state, scale)
        moments = {"leaves": leaves}
        change = direction * scale.rate(v)
        if self.multiply_by_parameter_scale:
            change = change * ops.maximum(ops.sqrt(ops.mean(ops.square(v))), 1e-3)
        if self.momentum is not None:
            change = moments["mu"] = average(state["mu"], change, self.momentum)
        return v - self.with_decay(change, v), moments

    def _axes(self, x: Array) -> tuple[int, int] | None:
        """The second largest and the largest axis, if the leaf is factored."""
        sizes = tuple(x.shape)
        if len(sizes) < 2:
            return None
        *_, first, last = sorted(range(len(sizes)), key=sizes.__getitem__)
        return (first, last) if sizes[first] >= self.min_dim_size_to_factor else None

    def _clipped(self, direction: Array) -> Array:
        if self.clipping_threshold is None:
            return direction
        size = ops.sqrt(ops.mean(ops.square(direction)))
        return direction / ops.maximum(size / self.clipping_threshold, ops.ones_like(size))


class SM3(LeafwiseOptimizer):
    """Adagrad with one accumulator for each index of each axis: v ← v − η m.

    m is the running mean of g / √(n + ε), where n is g² plus the least accumulator of the row, the
    column, …; the new accumulators are the largest n along the other axes.

    Args:
        learning_rate: η; see `Optimizer`.
        momentum: decay of m.
        eps: ε.

    Raises:
        ArgumentError: `momentum` is outside [0, 1), or `eps` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> state = na.nn.SM3(0.1).init(na.Container(w=np.ones((2, 3))))
        >>> [x.shape for x in state["leaves/w"].leaves()]
        [(2,), (3,)]

    References:
        Anil, Gupta, Koren and Singer, Memory-efficient adaptive optimization. NeurIPS 2019.
    """

    moments = ("leaves", "mu")

    @signature_errors()
    def __init__(
        self, learning_rate: LearningRate, *, momentum: float = 0.9, eps: float = 1e-8
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, momentum=momentum)
        check_not_negative(self, eps=eps)
        self.momentum, self.eps = momentum, eps

    def init_moments(self, v: Container) -> dict[str, Any]:
        """Zeros."""
        return {**super().init_moments(v), "mu": ops.zeros_like(v)}

    def init_leaf(self, x: Array) -> Any:
        """A vector for each axis."""
        return _largest(ops.zeros_like(x))

    def leaf_direction(
        self, x: Array, grad: Array, state: Container, scale: Scale
    ) -> tuple[Array, Any]:
        """g / √(n + ε), and the accumulators."""
        rank = len(x.shape)
        columns = [
            ops.reshape(s, tuple([-1 if i == axis else 1 for i in range(rank)]))
            for axis, s in enumerate(state.leaves())
        ]
        total = ops.square(grad) + reduce(ops.minimum, columns)
        return grad * ops.rsqrt(total + self.eps), _largest(total)

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        direction, leaves = self.directions(v, grads, state, scale)
        mu = average(state["mu"], direction, self.momentum)
        return v - mu * scale.rate(v), {"leaves": leaves, "mu": mu}


def _largest(x: Array) -> list[Array]:
    """The largest elements along all axes but one, for each axis."""
    rank = len(x.shape)
    if rank < 2:
        return [x]
    others = [tuple([i for i in range(rank) if i != axis]) for axis in range(rank)]
    return [ops.max(x, axis=axes) for axes in others]
