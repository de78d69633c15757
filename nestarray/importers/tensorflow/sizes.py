"""Open sizes of TensorFlow programs, whose shapes have None in their place.

A `Dim` is a size in shape arithmetic. The shapes of results are found by abstract evaluation
(`nestarray.importers.tensorflow.shapes`).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nestarray import ops
from nestarray.errors import ShapeError
from nestarray.graph.builder import GraphBuilder
from nestarray.graph.node import Node
from nestarray.graph.size_nodes import written
from nestarray.graph.sizes import Sizes
from nestarray.sizes import IntOrSize, Size, named
from nestarray.transforms.abstract import Scope


class Dim:
    """A size in shape arithmetic.

    Attributes:
        expression: the size in names; None if an array's unknown size is part of it.
        made: (function, operands); or (None, (Node, axis)) for the size of an array.
    """

    __slots__ = ("expression", "made")

    def __init__(self, expression: IntOrSize | None, made: tuple[Any, tuple[Any, ...]]) -> None:
        self.expression, self.made = expression, made

    def __repr__(self) -> str:
        return str(self.expression or "?")

    def __add__(self, other: Any) -> Dim:
        return _computed(operator.add, self, other)

    def __radd__(self, other: Any) -> Dim:
        return _computed(operator.add, other, self)

    def __sub__(self, other: Any) -> Dim:
        return _computed(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Dim:
        return _computed(operator.sub, other, self)

    def __mul__(self, other: Any) -> Dim:
        return _computed(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Dim:
        return _computed(operator.mul, other, self)

    def __floordiv__(self, other: Any) -> Dim:
        return _computed(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Dim:
        return _computed(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Dim:
        return _computed(operator.mod, self, other)


def _computed(function: Callable[..., Any], a: Any, b: Any) -> Any:
    sizes = [x.expression if isinstance(x, Dim) else int(x) for x in (a, b)]
    expression = None if None in sizes else function(*sizes)
    return expression if isinstance(expression, int) else Dim(expression, (function, (a, b)))


class OpenSizes:
    """The names of a program's sizes, their nodes, and their relations.

    Args:
        builder: of the graph.
    """

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self._arguments: dict[str, tuple[Node, int]] = {}  # name → an argument and its axis
        self._nodes: dict[str, Node] = {}
        self._example: dict[str, int] = {}
        #: node of a number → the size
        self.expressions: dict[Node, Size] = {}

    def read(self, argument: Node, axes: Mapping[int, str], shape: Sequence[int]) -> None:
        """Take the named sizes of an argument."""
        for axis, name in axes.items():
            self._arguments.setdefault(name, (argument, axis))
            self._example.setdefault(name, int(shape[axis]))

    @property
    def is_open(self) -> bool:
        """Whether any size has a name."""
        return bool(self._arguments)

    @functools.cached_property
    def scope(self) -> Scope:
        """The relations of the sizes; asked after all arguments are read."""
        ranges = dict.fromkeys(self._arguments, (1, None))
        return Scope(ranges, (), self._example, lambda: str(self._builder.place))

    def of(self, size: IntOrSize) -> Any:
        """The Dim of an expression."""
        if isinstance(size, int):
            return size
        if size.name:
            return Dim(size, (None, self._arguments[size.name]))
        names = sorted(size.names)
        return Dim(size, (_Value(size, names), tuple([self.of(named(name)) for name in names])))

    def node(self, size: Any) -> Any:
        """The number, or the node that computes the size."""
        if not isinstance(size, Dim):
            return int(size)
        node = self._node(size)
        if isinstance(size.expression, Size) and isinstance(node, Node):
            self.expressions[node] = size.expression
        return node

    def _node(self, size: Dim) -> Any:
        if isinstance(size.made[0], _Value):
            expression = size.made[0].size
            return written(
                self._builder, expression, lambda name: self.node(self.of(named(name))), {}
            )
        function, operands = size.made
        if function is not None:
            given = tuple(map(self.node, operands))
            name = function.__name__
            return self._builder.call(name, function, f"operator.{name}", given)
        name = "" if size.expression is None else str(size.expression)
        if name not in self._nodes:
            shape = self._builder.call("shape", ops.shape, "na.shape", operands[:1])
            node = self._builder.item(shape, operands[1], name or "size")
            if not name or self._builder.depth > 1:  # nodes of a body are of that body
                return node
            self._nodes[name] = node
        return self._nodes[name]

    def check(self, operation: str) -> None:
        """Raise a ShapeError if an operation takes one number only for a size."""
        for condition in self.scope.conditions:
            size, number = condition.left, condition.right
            if condition.sign == "==" and isinstance(number, int) and getattr(size, "name", ""):
                raise ShapeError(f"{operation} needs {condition}")

    def sizes(self) -> Sizes:
        """The sizes of the graph, and the comparisons that its program asks."""
        return Sizes.of_scope(self.scope) if self.is_open else Sizes()


class _Value(NamedTuple):
    """The number that a size is for the numbers of its names."""

    size: Size
    names: list[str]

    def __call__(self, *numbers: int) -> int:
        return self.size.at(dict(zip(self.names, numbers, strict=True)))


def size_of(node: Node, axis: int) -> Dim:
    """The size of a computed array."""
    return Dim(None, (None, (node, axis)))
