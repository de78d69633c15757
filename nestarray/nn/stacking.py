"""Layers that are called as pure functions, with variables that the module around them declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from nestarray import ops, random
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.nn.frame import Frame
from nestarray.nn.initializers import Initializer
from nestarray.nn.module import Module, Variable
from nestarray.transforms.control_flow import scan
from nestarray.typing import Array, DTypeLike, Shape


class Enclosing(Module):
    """A module that declares the variables of a layer, which is not its child.

    Sizes of the layer that are None are read from the inputs of the module.
    """

    def __init__(self, layer: Module) -> None:
        if not isinstance(layer, Module):
            raise ArgumentError(
                f"{type(self).__name__}: layer: got {type(layer).__name__}, expected a module"
            )
        self.layer = layer

    def children(self) -> Mapping[str, Module]:
        """The modules among the attributes but the layer, which is called as a pure function."""
        return {name: child for name, child in super().children().items() if name != "layer"}

    def _lacks_size(self) -> bool:
        return any(module._lacks_size() for _, module in self.layer.named_modules())

    def _complete(self, frame: Frame, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._lacks_size():
            self.layer = self.layer._completed(frame.key, args, kwargs)
            frame.draw_variables(self)

    def _values(self, paths: Iterable[str]) -> dict[str, Array]:
        """Variables or states of this module in the running call."""
        return {path: self._running(path) for path in paths}

    def _key(self) -> Array | None:
        """A new key for the layer, if the running call has one."""
        frame, _ = self._place("a key")
        return None if frame.key is None else self.key_for("its layers")


class Stacked(Enclosing):
    """A module that applies one layer with several sets of variables.

    It declares the variables and states of the layer with a first axis of `count`. A subclass maps
    or scans `_applied` over `_sets`.

    Args:
        layer: the layer.
        count: the number of sets.
        name: the path of the layer; empty if its variables are those of the module itself.

    Raises:
        ArgumentError: `layer` is not a module, or `count` is not positive.
    """

    def __init__(self, layer: Module, count: int, name: str = "") -> None:
        super().__init__(layer)
        if count < 1:
            raise ArgumentError(
                f"{type(self).__name__}: got {count} {name or 'repetitions'}, expected at least 1"
            )
        self._count, self._inside = count, f"{name}/" if name else ""

    def variables(self) -> Mapping[str, Variable]:
        """The variables of the layer, stacked."""
        return self._stacked(0)

    def states(self) -> Mapping[str, Variable]:
        """The states of the layer, stacked."""
        return self._stacked(1)

    def _stacked(self, group: int) -> dict[str, Variable]:
        return {
            self._inside + path: Variable(
                (self._count, *d.shape), partial(_stack, d.initializer), d.dtype
            )
            for path, d in self.layer._declared()[group].items()
        }

    def _initial_values(
        self, key: Array, prefix: str
    ) -> tuple[Mapping[str, Array], Mapping[str, Array]]:
        path = (prefix + self._inside).rstrip("/")
        keys = random.split(random.fold_in(key, path), self._count)
        _, groups = scan(lambda _, key: ((), self.layer._drawn(key)), (), keys)
        v, s = ({self._inside + path: x for path, x in group.items()} for group in groups)
        return v, s

    def _sets(self) -> tuple[Container, Container, Array | None]:
        """The stacked variables and states, and keys `(count, 2)` if the call has a key."""
        v, s = (
            Container.from_flat_dict({path: self._running(self._inside + path) for path in group})
            for group in self.layer._declared()
        )
        key = self._key() if self.training else None
        return v, s, None if key is None else random.split(key, self._count)

    def _applied(self, sets: tuple[Any, Any, Any], *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The result and the new states of the layer with one of the `_sets`."""
        v, s, key = sets
        if not self.training:
            return self.layer(*args, v=v, s=s, **kwargs), None
        return self.layer(*args, v=v, s=s, train=True, key=key, **kwargs)

    def _update(self, s: Container | None) -> None:
        """Set the states, stacked."""
        if s is not None and len(s):
            self.update_state(**{self._inside + path: x for path, x in s.flat_items()})

    def __repr__(self) -> str:
        layer = repr(self.layer).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {self._count} × {layer}\n)"


def _stack(
    initializer: Initializer, key: Array, shape: Shape, dtype: DTypeLike = "float32"
) -> Array:
    count, *sizes = shape
    return ops.stack([initializer(k, tuple(sizes), dtype) for k in random.split(key, count)])
