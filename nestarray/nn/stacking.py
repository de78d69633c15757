"""One layer with several sets of variables, stacked along a new first axis."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from nestarray import ops, random
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.nn.initializers import Initializer
from nestarray.nn.module import Module, Variable
from nestarray.typing import Array, DTypeLike, Shape


class Stacked(Module):
    """Base class of modules that apply one layer with several sets of variables.

    It declares the variables and states of the layer under `name`, with a first axis of `count`. A
    subclass maps or scans `_applied` over `_sets`.

    Args:
        name: the path of the layer.
        layer: the layer.
        count: the number of sets.

    Raises:
        ArgumentError: `layer` is not a module, or `count` is not positive.
    """

    def __init__(self, name: str, layer: Module, count: int) -> None:
        owner = type(self).__name__
        if not isinstance(layer, Module):
            raise ArgumentError(f"{owner}: layer: got {type(layer).__name__}, expected a Module")
        if count < 1:
            raise ArgumentError(f"{owner}: got {count} {name}, expected one at least")
        self._name, self._layer, self._count = name, layer, count

    def variables(self) -> Mapping[str, Variable]:
        """The variables of the layer, stacked."""
        return self._stacked(0)

    def states(self) -> Mapping[str, Variable]:
        """The states of the layer, stacked."""
        return self._stacked(1)

    def _stacked(self, group: int) -> dict[str, Variable]:
        return {
            f"{self._name}/{path}": Variable(
                (self._count, *declared.shape),
                partial(_stack_of, declared.initializer),
                declared.dtype,
            )
            for path, declared in self._layer._declared()[group].items()
        }

    def _sets(self) -> tuple[Container, Container, Array | None]:
        """The stacked variables and states, and keys `(count, 2)` if the call has a key."""
        v, s = (
            Container.from_flat_dict({
                path: self._running(f"{self._name}/{path}") for path in group
            })
            for group in self._layer._declared()
        )  # fmt: skip
        if not self.training or self._place("a key")[0].key is None:
            return v, s, None
        return v, s, random.split(self.key_for("its layers"), self._count)

    def _applied(self, sets: tuple[Any, Any, Any], *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The result and the new states of the layer with one of the `_sets`."""
        v, s, key = sets
        if not self.training:
            return self._layer(*args, v=v, s=s, **kwargs), s
        return self._layer(*args, v=v, s=s, train=True, key=key, **kwargs)

    def _update(self, s: Container) -> None:
        """Set the states, stacked."""
        if self.training and len(s):
            self.update_state(**{f"{self._name}/{path}": x for path, x in s.flat_items()})

    def __repr__(self) -> str:
        layer = repr(self._layer).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {self._name}: {self._count} × {layer}\n)"


def _stack_of(initializer: Initializer, key: Array, shape: Shape, dtype: DTypeLike) -> Array:
    keys = [random.fold_in(key, i) for i in range(shape[0])]
    return ops.stack([initializer(k, tuple(shape[1:]), dtype) for k in keys])
