"""The source's gradient at the values that the graph has computed.

At a kink, rounding decides between two derivatives: of relu near zero, or of the maximum of two
nearly equal numbers. Source and graph may choose different ones, and both are correct. So the
source is differentiated again at the graph's values: each of its calls gets the graph's values as
inputs, and later calls use the graph's result with the derivative of the source's result. If each
call agrees on these inputs, the graph's gradient must equal this gradient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nestarray import dtypes, ops
from nestarray.frontends.derivatives import with_derivative_of

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph
    from nestarray.graph.node import Call, Node


class Along:
    """Overrides the values of a source by the values of a graph, call by call.

    Args:
        graph: the graph.
        values: of its calls, by name, on the backend of the source.
    """

    def __init__(self, graph: Graph, values: dict[str, Any]) -> None:
        self._values, self._calls = values, {n.name: n for n in graph.calls if n.name in values}

    def twin(self, node: Node) -> Call | None:
        """The call of the graph with the same value as a call of the source, or None."""
        found = self._calls.get(node.name)
        return None if found is None or found.aval != node.aval else found

    def __getitem__(self, node: Node) -> Any:
        """The value of a call of the graph."""
        return self._values[node.name]

    def value(self, node: Node, value: Any) -> Any:
        """The graph's value.

        Several results of one call are replaced individually, where they are unpacked.
        """
        twin = self.twin(node)
        if twin is None or twin.aval is None or dtypes.is_key(value):
            return value
        return ops.astype(self[twin], value.dtype)  # JAX's integers may be shorter

    def __call__(self, node: Node, value: Any) -> Any:
        """The graph's value with the derivative of the source's value."""
        own = self.value(node, value)
        if own is value or not dtypes.dtype_of(own).is_inexact:
            return own
        return with_derivative_of(value, own)
