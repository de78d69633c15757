"""The base class of optimizers whose moments have other shapes than the leaves."""

from __future__ import annotations

from typing import Any

from nestarray import dtypes, ops, tree
from nestarray.container import Container
from nestarray.nn.optimizers.optimizer import Optimizer
from nestarray.nn.optimizers.scale import Scale
from nestarray.typing import Array

_HALF = (dtypes.float16, dtypes.bfloat16)


class LeafwiseOptimizer(Optimizer):
    """Computes each leaf alone; its state has ``leaves``, a node of arrays at the path of each leaf."""

    moments = ("leaves",)

    def init_leaf(self, x: Array) -> dict[Any, Any]:
        """The moments of a leaf by name."""
        raise TypeError(f"{type(self).__name__} defines no init_leaf")

    def leaf_direction(
        self, x: Array, grad: Array, state: Container, scale: Scale
    ) -> tuple[Array, dict[Any, Any]]:
        """(direction of the step, new moments of the leaf by name).

        Args:
            x: the leaf.
            grad: its gradient.
            state: its moments.
            scale: the numbers of the step.
        """
        raise TypeError(f"{type(self).__name__} defines no leaf_direction")

    def init_moments(self, v: Container) -> dict[str, Any]:
        """The moments of all leaves."""
        return {"leaves": _nested(v, [self.init_leaf(x) for x in v.leaves()])}

    def directions(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, Container]:
        """(directions, new moments) of all leaves."""
        leaves = tree.spread(grads, v, "optimizer.step")
        results = [
            self._wide_direction(x, grad, state["leaves"][path], scale)
            for path, x, grad in zip(v.paths(), v.leaves(), leaves, strict=True)
        ]
        structure = tree.flatten(v, unfused=True)[1]
        directions = tree.unflatten(structure, [direction for direction, _ in results])
        return directions, _nested(v, [moments for _, moments in results])

    def _wide_direction(
        self, x: Array, grad: Array, state: Container, scale: Scale
    ) -> tuple[Array, Any]:
        """`leaf_direction`, computed in float32 for leaves of 16 bits."""
        dtype = dtypes.dtype_of(x)
        if dtype not in _HALF:
            return self.leaf_direction(x, grad, state, scale)
        wide = state.map(lambda a: ops.astype(a, dtypes.float32))
        direction, moments = self.leaf_direction(widened(x), widened(grad), wide, scale)
        narrow = Container(moments).map(lambda a: ops.astype(a, dtype))
        return ops.astype(direction, dtype), narrow

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """v ← v − η (direction + λ v)."""
        direction, leaves = self.directions(v, grads, state, scale)
        return v - self.with_decay(direction, v) * scale.rate(v), {"leaves": leaves}


def widened(x: Array) -> Array:
    """The array in float32 if it has 16 bits."""
    return ops.astype(x, dtypes.float32) if dtypes.dtype_of(x) in _HALF else x


def _nested(v: Container, nodes: list[Any]) -> Container:
    """The Container with a node in the place of each leaf of `v`."""
    return tree.grafted(tree.flatten(v, unfused=True)[1], nodes)
