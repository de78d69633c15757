"""Layers that are called as pure functions, with variables that the enclosing module computes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from nestarray import ops, random
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.initializers import Initializer
from nestarray.nn.module import Module, Variable
from nestarray.transforms.batching import vmap
from nestarray.transforms.control_flow import scan
from nestarray.typing import Array, DTypeLike, Nest, Shape


class Enclosing(Module):
    """A module that declares the variables of a layer, which is not its child."""

    def __init__(self, layer: Module) -> None:
        if not isinstance(layer, Module):
            raise ArgumentError(
                f"{type(self).__name__}: layer: got {type(layer).__name__}, expected a module"
            )
        self.layer = layer

    def children(self) -> Mapping[str, Module]:
        """None; the layer is called as a pure function."""
        return {}

    def _values(self, paths: Iterable[str]) -> dict[str, Array]:
        """Variables or states of this module in the running call."""
        return {path: self._running(path) for path in paths}

    def _key(self) -> Array | None:
        """A new key for the layer, if the running call has one."""
        frame, _ = self._place("a key")
        return None if frame.key is None else self.key_for("its layers")


class Repeat(Enclosing):
    """A layer applied `n` times in sequence, each time with its own variables, by one `na.scan`.

    The compiled program contains the layer once.

    Args:
        layer: a module whose result has the structure, shapes and dtypes of its first argument.
        n: number of repetitions.

    Variables and state: of the layer, with a first axis of size `n`.

    Raises:
        ArgumentError: `layer` is not a module, or `n` is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> block = na.nn.Residual(na.nn.Sequential(na.nn.Linear(3, 3), na.tanh))
        >>> net = na.nn.Repeat(block, 5).init(na.random.key(0))
        >>> net.v["layer/0/weight"].shape, net(np.ones((4, 3), np.float32)).shape
        ((5, 3, 3), (4, 3))

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html
        https://dm-haiku.readthedocs.io/en/latest/api.html#layer-stack
    """

    @signature_errors()
    def __init__(self, layer: Module, n: int) -> None:
        super().__init__(layer)
        if n < 1:
            raise ArgumentError(f"Repeat: n: got {n}, expected at least 1")
        self.n = n

    def variables(self) -> Mapping[str, Variable]:
        """Stacked variables of the layer."""
        return self._stacked(0)

    def states(self) -> Mapping[str, Variable]:
        """Stacked states of the layer."""
        return self._stacked(1)

    def _stacked(self, group: int) -> dict[str, Variable]:
        return {
            path: Variable((self.n, *d.shape), partial(_stack, d.initializer), d.dtype)
            for path, d in self.layer._declared()[group].items()
        }

    def _initial_values(
        self, key: Array, prefix: str
    ) -> tuple[Mapping[str, Array], Mapping[str, Array]]:
        keys = random.split(random.fold_in(key, prefix.rstrip("/")), self.n)
        v, s = vmap(self.layer._drawn)(keys)
        return v, s

    def forward(self, x: Nest, *args: Any, **kwargs: Any) -> Nest:
        """Apply the layer `n` times.

        Args:
            x: the first argument of the first layer; each layer gets the result of the previous.
            *args: for each layer, with the keywords.
            **kwargs: for each layer.

        Returns:
            the result of the last layer.
        """
        train, key = self.training, self._key()
        v, s = [Container.from_flat_dict(self._values(paths)) for paths in self.layer._declared()]
        keys = None if key is None else random.split(key, self.n)

        def step(x: Nest, slices: Any) -> tuple[Nest, Nest]:
            v, s, key = slices
            out = self.layer(x, *args, v=v, s=s, train=train, key=key, **kwargs)
            return out if train else (out, None)

        x, s = scan(step, x, (v, s, keys), length=self.n)
        if train:
            self.update_state(**s.to_flat_dict())
        return x


def _stack(
    initializer: Initializer, key: Array, shape: Shape, dtype: DTypeLike = "float32"
) -> Array:
    count, *sizes = shape
    return ops.stack([initializer(k, tuple(sizes), dtype) for k in random.split(key, count)])
