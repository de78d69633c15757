"""Different optimizers for parts of the variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray.container import Container
from nestarray.errors import ArgumentError, StructureError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.optimizer import Optimizer, check_state, floating_part, with_floating


class PartitionedOptimizer(Optimizer):
    """Base class: each leaf belongs to one of several optimizers, whose states are nested by name."""

    def parts(self) -> dict[str, Optimizer]:
        """The optimizers by name."""
        raise TypeError(f"{type(self).__name__} defines no parts")

    def labels(self, v: Container) -> list[str]:
        """The name of the optimizer of each leaf of `v`."""
        raise TypeError(f"{type(self).__name__} defines no labels")

    def init(self, v: Container) -> Container:
        """The states of the optimizers that have a leaf, by name; see `Optimizer.init`."""
        floating = floating_part(v, "init", "v")
        if not floating.leaves():
            return super().init(v)  # raises its error
        parts, labels = self.parts(), self.labels(floating)
        names = [name for name in parts if name in labels]
        return Container({name: parts[name].init(_part(floating, labels, name)) for name in names})

    def step(self, v: Container, grads: Container, state: Container) -> tuple[Container, Container]:
        """One step of each optimizer with its leaves; see `Optimizer.step`."""
        old = floating_part(v, "step", "v")
        gradients = floating_part(grads, "step", "grads")
        parts, labels = self.parts(), self.labels(old)
        names = [name for name in parts if name in labels]
        check_state(state, tuple(names))
        if gradients.spec is not old.spec:
            gradients = old.map(lambda x, grad: grad, gradients)  # raises its error
        new, states = old, {}
        for name in names:
            changed, states[name] = parts[name].step(
                _part(old, labels, name), _part(gradients, labels, name), state[name]
            )
            new = new.update(changed)
        return with_floating(v, new), Container(states)

    def evaluation_variables(self, v: Container, state: Container) -> Container:
        """The evaluation variables of each optimizer."""
        old = floating_part(v, "evaluation_variables", "v")
        parts, labels, new = self.parts(), self.labels(old), old
        for name in state:
            new = new.update(
                parts[name].evaluation_variables(_part(old, labels, name), state[name])
            )
        return with_floating(v, new)


def _part(c: Container, labels: list[str], name: str) -> Container:
    hits = dict(zip(c.paths(), [label == name for label in labels], strict=True))
    return c.select(lambda path, leaf: hits[path])


class Partition(PartitionedOptimizer):
    """Optimizers by path pattern; a leaf has the optimizer of the first pattern that matches.

    Args:
        optimizers: pattern (see `Container.select`) → optimizer. The states are nested by the
            numbers of the patterns, from ``"0"``.

    Raises:
        ArgumentError: `optimizers` is not a mapping of patterns to optimizers.
        StructureError: (by `init` and `step`) no pattern matches a leaf.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(head=np.ones(2), body=np.ones(2))
        >>> optimizer = na.nn.Partition({"head": na.nn.Adam(1e-2), "**": na.nn.SGD(0.1)})
        >>> optimizer.init(v).paths()
        ('0/count', '0/mu/head', '0/nu/head', '1/count')

    References:
        https://optax.readthedocs.io/en/latest/api/combining_optimizers.html#optax.partition
    """

    @signature_errors()
    def __init__(self, optimizers: Mapping[Any, Optimizer]) -> None:
        if (
            not isinstance(optimizers, Mapping)
            or not optimizers
            or not all(isinstance(optimizer, Optimizer) for optimizer in optimizers.values())
        ):
            raise ArgumentError(
                f"Partition: optimizers: got {optimizers!r}, expected a mapping of path patterns to "
                "optimizers"
            )
        self.optimizers = dict(optimizers)

    def parts(self) -> dict[str, Optimizer]:
        """The optimizers by number."""
        return {str(i): optimizer for i, optimizer in enumerate(self.optimizers.values())}

    def labels(self, v: Container) -> list[str]:
        """The number of the pattern of each leaf."""
        masks = [v.mask(pattern).leaves() for pattern in self.optimizers]
        labels = []
        for path, *hits in zip(v.paths(), *masks, strict=True):
            if True not in hits:
                patterns = ", ".join(map(repr, self.optimizers))
                raise StructureError(
                    f"Partition: no pattern matches {path!r}, expected an optimizer for each leaf; the "
                    f"patterns are {patterns}; '**' matches the rest"
                )
            labels.append(str(hits.index(True)))
        return labels
