"""Tolerances of the comparison, by dtype.

The dtype of the model decides, except that values computed from half precision, as under
``torch.autocast``, get the tolerance of half precision, whatever their own dtype.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from nestarray import dtypes
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node, bodies, iter_nodes


class Tolerance(NamedTuple):
    """Largest relative errors that pass, and the unit in the last place of the dtype behind them."""

    value: float
    gradient: float
    eps: float


#: Rounding errors in single and double precision are far below the errors of wrong calls, so these
#: are round numbers. In half precision a few roundings add up to a few ulps: 10 ulps pass for
#: float16 and 6 for bfloat16; for gradients 50 and 13.
_OF_DTYPE = {
    dtypes.float64: Tolerance(1e-10, 1e-8, 2.0**-52),
    dtypes.float32: Tolerance(1e-4, 1e-3, 2.0**-23),
    dtypes.float16: Tolerance(1e-2, 5e-2, 2.0**-10),
    dtypes.bfloat16: Tolerance(5e-2, 1e-1, 2.0**-7),
}


class Tolerances:
    """The tolerances of the calls of one graph.

    Args:
        graph: the graph.
        is_double: whether an input or a parameter is float64.
        rtol, gradient_rtol: the same for all values and gradients, or None.

    Attributes:
        value, gradient: the largest relative error of any value, and of gradients.
        state: the largest relative error of new state.
        eps: unit in the last place of the coarsest dtype.
        is_own_value, is_own_gradient: whether the tolerance is the default.
    """

    def __init__(
        self, graph: Graph, is_double: bool, rtol: float | None, gradient_rtol: float | None
    ) -> None:
        self._own = _OF_DTYPE[dtypes.float64 if is_double else dtypes.float32]
        self._of_node: dict[Node, Tolerance] = {}
        for node in graph.calls:
            self._of_node[node] = self._coarsest(
                self._found([node, *_inside(node)]), iter_nodes((node.args, node.kwargs))
            )
        everything = self._coarsest([], graph.calls)
        self.eps = everything.eps
        self.gradient = gradient_rtol or everything.gradient
        self.value = rtol or everything.value
        self.state = rtol or self._coarsest([], graph.state_updates.values()).value
        self.is_own_value, self.is_own_gradient = rtol is None, gradient_rtol is None
        self._rtol = rtol

    def of(self, node: Node) -> float:
        """The largest relative error of a node's value."""
        return self._rtol or self._of_node.get(node, self._own).value

    def _found(self, nodes: Iterable[Node]) -> list[Tolerance]:
        known = [_OF_DTYPE.get(node.aval.dtype) for node in nodes if node.aval is not None]
        return [t for t in known if t is not None]

    def _coarsest(self, found: list[Tolerance], nodes: Iterable[Any]) -> Tolerance:
        before = [self._of_node[node] for node in nodes if node in self._of_node]
        return max([self._own, *found, *before], key=lambda t: t.eps)


def _inside(node: Call) -> Iterator[Call]:
    """The calls in the functions that a call is given."""
    for body in bodies([*node.args, *node.kwargs.values()]):
        for inner in body.nodes:
            yield inner
            yield from _inside(inner)
