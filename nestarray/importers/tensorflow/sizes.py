"""Open sizes of TensorFlow programs, whose shapes have None in their place.

A `Dim` is a size in shape arithmetic. TensorFlow infers the shapes of each operation at a few
points, which assign numbers to the names; `fitted` finds the expression with these values.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from nestarray import ops
from nestarray.errors import ConversionError
from nestarray.graph.builder import GraphBuilder
from nestarray.graph.node import Node
from nestarray.graph.sizes import Sizes

#: Numbers of the names by their order, at the first points. One number of each name is far from the
#: others, so that no two expressions have the same values; each row has other parities, and a
#: product that is an int32.
_NUMBERS = (
    (67, 73, 79, 683), (702, 111, 116, 126), (137, 740, 109, 120), (128, 141, 751, 97)
)  # fmt: skip
_DIVISORS = range(2, 17)
#: Consecutive numbers from these on, as many as a divisor has remainders, tell quotients.
_STARTS = (90, 117, 149, 176)
#: Added if there are less than four names: windows fit more often, and the product is an int32 still.
_MORE = 64
FIRST_POINTS = len(_NUMBERS)
POINTS = FIRST_POINTS + max(_DIVISORS)
_SIGNS = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.floordiv: "//",
    operator.mod: "%",
}  # fmt: skip


class Dim:
    """A size in shape arithmetic.

    Attributes:
        text: the expression in names; empty if an array's unknown size is part of it.
        values: at each point; empty if unknown.
        made: (function, operands); or (None, (Node, axis)) for the size of an array.
    """

    __slots__ = ("made", "text", "values")

    def __init__(self, text: str, values: Sequence[int], made: tuple[Any, tuple[Any, ...]]) -> None:
        self.text, self.values, self.made = text, tuple(values), made

    def __repr__(self) -> str:
        return self.text or "?"

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


def _computed(function: Callable[..., Any], a: Any, b: Any) -> Dim:
    texts = [x.text if isinstance(x, Dim) else str(int(x)) for x in (a, b)]
    text = _written(f"({texts[0]}) {_SIGNS[function]} ({texts[1]})") if all(texts) else ""
    numbers = [x.values if isinstance(x, Dim) else (int(x),) * POINTS for x in (a, b)]
    return Dim(text, [function(*pair) for pair in zip(*numbers)], (function, (a, b)))


@functools.cache
def _written(text: str) -> str:
    """An expression with parentheses only where Python needs them."""
    return ast.unparse(ast.parse(text, mode="eval"))


class OpenSizes:
    """The names of a program's sizes, their nodes, and the numbers at which shapes are inferred.

    Args:
        builder: of the graph.
    """

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self._arguments: dict[str, tuple[Node, int]] = {}  # name → an argument and its axis
        self._nodes: dict[str, Node] = {}
        self._known: dict[str, Dim] = {}
        self._example: dict[str, int] = {}

    def read(self, argument: Node, axes: Mapping[int, str], shape: Sequence[int]) -> None:
        """Take the named sizes of an argument."""
        if len({*self._arguments, *axes.values()}) > len(_NUMBERS[0]):
            raise ConversionError(
                f"trace_graph: dynamic: got {len({*self._arguments, *axes.values()})} names, expected at "
                f"most {len(_NUMBERS[0])} for a TensorFlow program"
            )
        for axis, name in axes.items():
            self._arguments.setdefault(name, (argument, axis))
            self._example.setdefault(name, int(shape[axis]))

    @property
    def is_open(self) -> bool:
        """Whether any size has a name."""
        return bool(self._arguments)

    def named(self, name: str) -> Dim:
        """The size of a name."""
        place = list(self._arguments).index(name)
        numbers = [row[place] for row in _NUMBERS]
        numbers += range(_STARTS[place], _STARTS[place] + max(_DIVISORS))
        more = 0 if len(self._arguments) > 3 else _MORE
        return Dim(name, [n + more for n in numbers], (None, self._arguments[name]))

    def dim(self, text: str) -> Dim:
        """The size of an expression in a shape."""
        return self.named(text) if text in self._arguments else self._known[text]

    def node(self, size: Any) -> Any:
        """The number, or the node that computes the size."""
        if not isinstance(size, Dim):
            return int(size)
        function, operands = size.made
        if function is not None:
            given = tuple(map(self.node, operands))
            name = function.__name__
            return self._builder.call(name, function, f"operator.{name}", given)
        if size.text not in self._nodes:
            shape = self._builder.call("shape", ops.shape, "na.shape", operands[:1])
            node = self._builder.item(shape, operands[1], size.text or "size")
            if not size.text or self._builder.depth > 1:  # nodes of a body are of that body
                return node
            self._nodes[size.text] = node
        return self._nodes[size.text]

    def fitted(self, numbers: Sequence[int | None], near: Sequence[Dim] = ()) -> int | Dim | None:
        """The size that has these numbers at the points; None if there is none, or several.

        Args:
            numbers: one for each point; or for each of the first ones, which tell no quotients.
            near: sizes from which it may follow, in addition to the names.
        """
        return self.known(self._fitted(numbers, near))

    def known(self, size: Any) -> Any:
        """The size, whose expression `dim` finds from now on."""
        if isinstance(size, Dim) and size.text:
            self._known[size.text] = size
        return size

    def _fitted(self, numbers: Sequence[int | None], near: Sequence[Dim]) -> int | Dim | None:
        if None in numbers:
            return None
        found = [int(n) for n in numbers if n is not None]
        if len(set(found)) == 1:
            return found[0]
        names = [self.named(name) for name in self._arguments]
        for size in (*names, *near):
            made = _affine(size, found)
            if made is None and len(found) == POINTS:
                made = _quotient(size, found)
            if made is not None:
                return made
        for a, b in combinations_with_replacement(names, 2):
            made = _affine(a * b, found)
            if made is not None:
                return made
        return None

    def sizes(self) -> Sizes:
        """The sizes of the graph."""
        return Sizes(dict.fromkeys(self._arguments, (1, None)), (), self._example)


def size_of(node: Node, axis: int) -> Dim:
    """The size of a computed array."""
    return Dim("", (), (None, (node, axis)))


def _affine(size: Dim, numbers: list[int]) -> Dim | None:
    """a · size + b with these numbers."""
    first, second, *_ = size.values
    if first == second:
        return None
    factor = Fraction(numbers[1] - numbers[0], second - first)
    if factor.denominator != 1 or factor == 0:
        return None
    shift = numbers[0] - int(factor) * size.values[0]
    if any(int(factor) * n + shift != m for n, m in zip(size.values, numbers)):
        return None
    return _shifted(size if factor == 1 else size * int(factor), shift)


def _quotient(size: Dim, numbers: list[int]) -> Dim | None:
    """(size + a) // b with these numbers, if only one a has them."""
    for divisor in _DIVISORS:
        shifts = [
            shift
            for shift in range(-3 * divisor, 3 * divisor)
            if all((n + shift) // divisor == m for n, m in zip(size.values, numbers))
        ]
        if len(shifts) == 1:
            return _shifted(size, *shifts) // divisor
    return None


def _shifted(size: Dim, shift: int) -> Dim:
    return size + shift if shift > 0 else size - -shift if shift else size


def at_point(values: np.ndarray, point: int) -> np.ndarray:
    """Shape arithmetic's value with numbers in place of Dims."""
    numbers = [x.values[point] if isinstance(x, Dim) else x for x in values.reshape(-1)]
    return np.asarray(numbers).reshape(values.shape)
