"""The source's gradient at the values that a graph has computed.

At a kink rounding decides which of two derivatives is taken: of a number next to zero that is
rectified, of two numbers that are nearly equal and one of which is the maximum. Source and graph
may take one each, and be right both. So the source is differentiated once more, along the graph:
each of its calls computes on the graph's values, and what the graph has computed is handed on in
place of the result. If each call gives what the graph has, this is a gradient of the source that
is as good as its own, and that of the graph has to be the same within the tolerance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nestarray import dtypes, ops
from nestarray.frontends.torch.promotion import with_derivative_of
from nestarray.graph.execution import steps

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph
    from nestarray.graph.node import Node


def values_of_run(
    graph: Graph, inputs: list[Any], key: Any, wanted: set[Node]
) -> tuple[Any, dict[str, Any]]:
    """(output, the values of the calls that are wanted, by name)."""
    run = steps(graph, inputs, key)
    values: dict[str, Any] = {}
    while True:
        try:
            node, value = next(run)
        except StopIteration as end:
            return end.value[0], values
        if node in wanted:
            values[node.name] = value


class Along:
    """Puts the values of a graph into the place of its source's, call by call.

    Args:
        graph: the graph.
        values: of its calls, by name, on the backend of the source.
    """

    def __init__(self, graph: Graph, values: dict[str, Any]) -> None:
        self._values, self._calls = values, {n.name: n for n in graph.calls if n.name in values}

    def twin(self, node: Node) -> Node | None:
        """The graph's own call whose value is that of a call of the source; None if there is none."""
        found = self._calls.get(node.name)
        return None if found is None or found.aval != node.aval else found

    def __getitem__(self, node: Node) -> Any:
        """The value of a call of the graph."""
        return self._values[node.name]

    def __call__(self, node: Node, value: Any) -> Any:
        """What is handed on for the value that the source's call gives: its derivative is kept.

        Of a call with several results these are replaced where they are taken apart.
        """
        twin = self.twin(node)
        if twin is None or twin.aval is None:
            return value
        own = ops.astype(self[twin], value.dtype)  # JAX's integers may be shorter
        return with_derivative_of(value, own) if dtypes.dtype_of(own).is_inexact else own
