"""Weights that are computed from other variables: normalized, or orthogonal.

`weight_norm`, `spectral_norm` and `orthogonal` return a module with the variables of a layer, in
which one weight is replaced by the variables that determine it. A call computes the weight and calls
the layer as a pure function. The paths are the ones of ``torch.nn.utils.parametrizations``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from nestarray import ops, random
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.errors.text import listed
from nestarray.nn import initializers
from nestarray.nn.module import Module, Variable
from nestarray.nn.stacking import Enclosing
from nestarray.typing import Array

#: Variables and states by name, or their declarations.
Groups = tuple[dict[str, Any], dict[str, Any]]


class Parametrization(Protocol):
    """The map from variables and states to a weight."""

    #: the name of the function that makes it
    function: ClassVar[str]

    def declared(self, weight: Variable) -> Groups:
        """The declarations of the variables and states.

        Raises:
            ArgumentError: the weight has too few axes.
        """
        ...

    def inverse(self, weight: Array, key: Array) -> Groups:
        """Variables and states of a weight; `key` is for the states."""
        ...

    def weight(self, values: Mapping[str, Array], train: bool) -> tuple[Array, dict[str, Array]]:
        """The weight, and new states in training mode."""
        ...


class Parametrized(Enclosing):
    """A layer with a computed weight.

    Args:
        layer: the module.
        name: path of the weight below it.
        parametrization: how the weight is computed.

    Variables: of the layer, with ``parametrizations/weight/…`` in place of ``weight``.

    Raises:
        ArgumentError: `layer` is not a module, or has no variable `name`.
    """

    def __init__(self, layer: Module, name: str, parametrization: Parametrization) -> None:
        super().__init__(layer)
        self.name, self.parametrization = name, parametrization
        self._inside = _path(name)
        if not self._lacks_size():
            self._declared()  # checks the weight

    def variables(self) -> Mapping[str, Variable]:
        """Variables of the layer without the weight, and the variables that determine it."""
        return self._replaced(0)

    def states(self) -> Mapping[str, Variable]:
        """States of the layer and of the weight."""
        return self._replaced(1)

    def _replaced(self, group: int) -> dict[str, Variable]:
        groups = self.layer._declared()
        if self.name not in groups[0]:
            raise ArgumentError(
                f"{self.parametrization.function}: name: got {self.name!r}, expected a variable of the "
                f"layer: {listed(map(repr, groups[0]))}"
            )
        added = self.parametrization.declared(groups[0][self.name])[group]
        others = {path: d for path, d in groups[group].items() if path != self.name}
        return others | {self._inside + name: d for name, d in added.items()}

    def inverse(self, v: Mapping[str, Array], s: Mapping[str, Array], key: Array) -> Groups:
        """Variables and states with which the layer has the variables `v` and states `s`."""
        added = self.parametrization.inverse(v[self.name], key)
        variables, states = (
            {self._inside + name: x for name, x in group.items()} for group in added
        )
        return {p: x for p, x in v.items() if p != self.name} | variables, {**s, **states}

    def _initial_values(
        self, key: Array, prefix: str
    ) -> tuple[Mapping[str, Array], Mapping[str, Array]]:
        self._declared()  # checks the weight, whose size may have been None
        key_of_states = random.fold_in(key, prefix + self._inside)
        return self.inverse(*self.layer._drawn(key, prefix), key_of_states)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the weight and call the layer."""
        v, s = self.layer._declared()
        groups = self.parametrization.declared(v[self.name])
        values = {name: self._running(self._inside + name) for g in groups for name in g}
        v, s = self._values([path for path in v if path != self.name]), self._values(s)
        v[self.name], new = self.parametrization.weight(values, self.training)
        if new:
            self.update_state(**{self._inside + name: x for name, x in new.items()})
        v, s = Container.from_flat_dict(v), Container.from_flat_dict(s)
        if not self.training:
            return self.layer(*args, v=v, s=s, **kwargs)
        out, s = self.layer(*args, v=v, s=s, train=True, key=self._key(), **kwargs)
        self.update_state(**s.to_flat_dict())
        return out


def _path(name: str) -> str:
    parent, slash, leaf = name.rpartition("/")
    return f"{parent}{slash}parametrizations/{leaf}/"


@signature_errors()
def weight_norm(layer: Module, name: str = "weight", dim: int | None = 0) -> Parametrized:
    """A layer whose weight is g · v / ‖v‖, with the norm over all axes except `dim`.

    Args:
        layer: the module; if it has values, the result has too, and computes the same.
        name: path of the weight below it.
        dim: the axis with a separate norm for each index; None or −1: one norm.

    Variables: of the layer, with parametrizations/weight/original0 (g, the size of `dim` and 1 for
    the other axes; `()` for one norm) and original1 (v) in place of the weight.

    Raises:
        ArgumentError: the layer has no variable `name`, or it has no axis `dim`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.weight_norm(na.nn.Linear(2, 3)).init(na.random.key(0))
        >>> net.v.paths()
        ('bias', 'parametrizations/weight/original0', 'parametrizations/weight/original1')
        >>> plain = na.nn.Linear(2, 3).init(na.random.key(0))
        >>> x = np.ones((4, 2), np.float32)
        >>> np.allclose(net(x), plain(x))
        True

    References:
        https://arxiv.org/abs/1602.07868
        https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html
    """
    return parametrized(layer, name, WeightNorm(None if dim == -1 else dim))


@signature_errors()
def spectral_norm(
    layer: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Parametrized:
    """A layer whose weight is divided by its largest singular value, by power iteration.

    Each call in training mode makes `n_power_iterations` steps; the vectors are states. The first
    vectors come from 15 steps.

    Args:
        layer: the module; if it has values, the result has too.
        name: path of the weight below it. All axes but `dim` are the columns of a matrix; a weight
            of one axis is divided by its norm.
        n_power_iterations: number of steps.
        eps: the smallest norm to divide by.
        dim: the axis of the rows; None: 0, or 1 for transposed convolutions.

    Variables: of the layer, with parametrizations/weight/original in place of the weight. State:
    parametrizations/weight/0/_u `(rows,)` and _v `(columns,)`.

    Raises:
        ArgumentError: the layer has no variable `name`, it has no axis `dim`, or
            `n_power_iterations` is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.spectral_norm(na.nn.Linear(3, 3, bias=False)).init(na.random.key(0))
        >>> weight = net(np.eye(3, dtype="float32"))
        >>> float(np.linalg.norm(weight, 2).round(2))
        1.0

    References:
        https://arxiv.org/abs/1802.05957
        https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.spectral_norm.html
    """
    if n_power_iterations < 1:
        raise ArgumentError(
            f"spectral_norm: n_power_iterations: got {n_power_iterations}, expected at least 1"
        )
    if dim is None:
        dim = 1 if type(layer).__name__.startswith("ConvTranspose") else 0
    return parametrized(layer, name, SpectralNorm(n_power_iterations, eps, dim))


def parametrized(layer: Module, name: str, parametrization: Parametrization) -> Parametrized:
    """The layer with the parametrization, and with values if it has some.

    Raises:
        ArgumentError: the layer is not a module, has no variable `name`, or one of too few axes.
    """
    if not isinstance(layer, Module):
        raise ArgumentError(
            f"{parametrization.function}: layer: got {type(layer).__name__}, expected a module"
        )
    module = Parametrized(layer, name, parametrization)
    if "_v" not in vars(layer):
        return module
    key = random.key(0, like=layer.v[name])
    v, s = module.inverse(layer.v.to_flat_dict(), layer.s.to_flat_dict(), key)
    return module.with_variables(Container.from_flat_dict(v), Container.from_flat_dict(s))


@dataclass(frozen=True)
class WeightNorm:
    """g · v / ‖v‖."""

    function: ClassVar[str] = "weight_norm"
    axis: int | None

    def declared(self, weight: Variable) -> Groups:
        """Norms and direction."""
        rank = len(weight.shape)
        if self.axis is not None and not 0 <= self.axis < rank:
            raise ArgumentError(
                f"weight_norm: dim: got {self.axis}, expected None or -1 to {rank - 1}"
            )
        shape = () if self.axis is None else _only(weight.shape, self.axis)
        norms = Variable(shape, initializers.ones, weight.dtype)
        return {"original0": norms, "original1": weight}, {}

    def inverse(self, weight: Array, key: Array) -> Groups:
        """The norms of a weight, and the weight."""
        others = tuple(i for i in range(len(weight.shape)) if i != self.axis)
        square = ops.sum(ops.square(weight), axis=others, keepdims=self.axis is not None)
        return {"original0": ops.sqrt(square), "original1": weight}, {}

    def weight(self, values: Mapping[str, Array], train: bool) -> tuple[Array, dict[str, Array]]:
        """The weight."""
        return ops.weight_norm(values["original1"], values["original0"], axis=self.axis), {}


@dataclass(frozen=True)
class SpectralNorm:
    """W / (uᵀ W v) with u ← W v / ‖W v‖ and v ← Wᵀ u / ‖Wᵀ u‖."""

    function: ClassVar[str] = "spectral_norm"
    num_steps: int
    eps: float
    axis: int

    def declared(self, weight: Variable) -> Groups:
        """The weight and both vectors."""
        rank = len(weight.shape)
        if not -rank <= self.axis < rank:
            raise ArgumentError(
                f"spectral_norm: dim: got {self.axis}, expected {-rank} to {rank - 1}"
            )
        if len(weight.shape) == 1:
            return {"original": weight}, {}
        rows = weight.shape[self.axis]
        lengths = {"0/_u": rows, "0/_v": math.prod(weight.shape) // rows}
        normal = initializers.normal(1.0)
        states = {name: Variable((n,), normal, weight.dtype) for name, n in lengths.items()}
        return {"original": weight}, states

    def inverse(self, weight: Array, key: Array) -> Groups:
        """The weight, and vectors after 15 steps."""
        if len(weight.shape) == 1:
            return {"original": weight}, {}
        matrix = self._matrix(weight)
        start = random.normal(key, (matrix.shape[1],), weight.dtype)
        u, v = self._iterated(matrix, ops.normalize(start, eps=self.eps), 15)
        return {"original": weight}, {"0/_u": u, "0/_v": v}

    def weight(self, values: Mapping[str, Array], train: bool) -> tuple[Array, dict[str, Array]]:
        """The weight, and new vectors."""
        weight = values["original"]
        if len(weight.shape) == 1:
            return ops.normalize(weight, eps=self.eps), {}
        matrix, new = self._matrix(weight), {}
        u, v = values["0/_u"], values["0/_v"]
        if train:
            u, v = self._iterated(ops.stop_gradient(matrix), v, self.num_steps)
            new = {"0/_u": u, "0/_v": v}
        return ops.divide(weight, ops.vecdot(u, ops.matmul(matrix, v))), new

    def _matrix(self, weight: Array) -> Array:
        rows = weight.shape[self.axis]
        return ops.reshape(ops.moveaxis(weight, self.axis, 0), (rows, -1))

    def _iterated(self, matrix: Array, v: Array, num_steps: int) -> tuple[Array, Array]:
        u = v
        for _ in range(num_steps):
            u = ops.normalize(ops.matmul(matrix, v), eps=self.eps)
            v = ops.normalize(ops.matmul(u, matrix), eps=self.eps)
        return u, v


def _only(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(n if i == axis else 1 for i, n in enumerate(shape))
