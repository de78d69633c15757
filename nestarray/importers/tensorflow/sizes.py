"""Open sizes of TensorFlow programs, whose shapes have None in their place.

A `Size` stands for the number in shape arithmetic; the size of an array whose shape is unknown is a
name too. The shapes of results are found by abstract evaluation
(`nestarray.importers.tensorflow.shapes`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from nestarray import ops
from nestarray.errors import ShapeError
from nestarray.graph.builder import GraphBuilder
from nestarray.graph.node import Node
from nestarray.graph.size_nodes import written
from nestarray.graph.sizes import Sizes
from nestarray.sizes import IntOrSize, Size, named
from nestarray.transforms.abstract import Scope


class OpenSizes:
    """The names of a program's sizes, their nodes, and their relations."""

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        #: name → an array and the axis that has the size
        self.axes: dict[str, tuple[Node, int]] = {}
        self._nodes: dict[str, Node] = {}
        self._example: dict[str, int] = {}
        #: node of a number → the size
        self.expressions: dict[Node, Size] = {}

    def read(self, argument: Node, axes: Mapping[int, str], shape: Sequence[int]) -> None:
        """Take the named sizes of an argument."""
        for axis, name in axes.items():
            self.axes.setdefault(name, (argument, axis))
            self._example.setdefault(name, int(shape[axis]))

    @property
    def is_open(self) -> bool:
        """Whether any size has a name."""
        return bool(self._example)

    @functools.cached_property
    def scope(self) -> Scope:
        """The relations of the sizes; asked after all arguments are read."""
        ranges = dict.fromkeys(self._example, (1, None))
        return Scope(ranges, (), self._example, lambda: str(self._builder.place))

    def of_array(self, array: Node, axis: int) -> Size:
        """The size of an axis of a computed array whose shape is unknown."""
        name = f"_{array.name}_{axis}"
        self.axes[name] = array, axis
        return named(name)

    def shape(self, *sizes: IntOrSize) -> tuple[IntOrSize, ...] | None:
        """A shape as in an `Aval`; None if an unknown size is part of it."""
        names = {name for size in sizes if isinstance(size, Size) for name in size.names}
        return sizes if names <= self._example.keys() else None

    def node(self, size: IntOrSize) -> Any:
        """The number, or the node that computes the size."""
        if not isinstance(size, Size):
            return int(size)
        node = written(self._builder, size, self._of_name, {})
        if self.shape(size) is not None:
            self.expressions[node] = size
        return node

    def _of_name(self, name: str) -> Node:
        if name in self._nodes:
            return self._nodes[name]
        array, axis = self.axes[name]
        shape = self._builder.call("shape", ops.shape, "na.shape", (array,))
        node = self._builder.item(shape, axis, name if name in self._example else "size")
        if self._builder.depth == 1:  # nodes of a body are of that body
            self._nodes[name] = node
        return node

    def check(self, operation: str) -> None:
        """Raise a ShapeError if an operation takes one number only for a size."""
        for condition in self.scope.conditions:
            size, number = condition.left, condition.right
            if condition.sign == "==" and isinstance(number, int) and getattr(size, "name", ""):
                raise ShapeError(f"{operation} needs {condition}")

    def sizes(self) -> Sizes:
        """The sizes of the graph, and the comparisons that its program asks."""
        return Sizes.of_scope(self.scope) if self.is_open else Sizes()
