"""The source of a graph that was derived from another graph: the source of that graph.

Calls that compute the same value have the same name in both graphs, so intermediate values are
compared by name. Gradients are compared if the parameters are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nestarray.container import Container
from nestarray.errors import UnsupportedError
from nestarray.graph.execution import Override, Steps, identity

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph
    from nestarray.graph.node import Node


def derived_source(original: Graph, *, is_folded: bool = False) -> DerivedSource | None:
    """The reference of a graph that a pass makes of `original`; None if that has none.

    Args:
        original: a graph.
        is_folded: the new graph has other variables than `original`.
    """
    reference = original.reference
    if isinstance(reference, DerivedSource):
        return reference.folded() if is_folded else reference
    return None if reference is None else DerivedSource(original, reference, is_folded)


class DerivedSource:
    """The source of the graph that was traced, asked for the values of a graph made of it.

    Args:
        original: the traced graph.
        source: its reference, a `nestarray.proof.source.Source`.
        is_folded: whether the derived graph has different variables.
    """

    def __init__(self, original: Graph, source: Any, is_folded: bool) -> None:
        self._source, self._original, self._is_folded = source, original, is_folded
        self.backend, self.args, self.kwargs = source.backend, source.args, source.kwargs

    def folded(self) -> DerivedSource:
        """The source of a derived graph with different variables."""
        return DerivedSource(self._original, self._source, True)

    def _own(self) -> Graph:
        if self._original.backend != self.backend:
            self._original = self._original.to_backend(self.backend)
        return self._original

    def traced(self) -> tuple[Any, Graph]:
        """The source, and the graph that was traced, on the source's backend."""
        return self._source, self._own()

    def steps(
        self,
        graph: Graph,
        inputs: list[Any],
        v: Container,
        s: Container,
        key: Any,
        override: Override = identity,
    ) -> Steps:
        """Run the source; values belong to the calls of the same name."""
        own = self._own()
        if self._is_folded:
            v, s = own.v, own.s
        calls = {node.name: node for node in graph.calls}
        run = self._source.steps(own, inputs, v, s, key, override)
        while True:
            try:
                node, value = next(run)
            except StopIteration as end:
                return end.value
            twin = calls.get(node.name)
            if twin is not None and twin.aval == node.aval:
                yield twin, value

    def gradients(
        self,
        graph: Graph,
        inputs: list[Any],
        key: Any,
        loss: Callable[[Any], Any],
        override: Override = identity,
    ) -> list[Any]:
        """∂loss(output)/∂v for each leaf of ``graph.v``; None for integers."""
        if self._is_folded:
            raise UnsupportedError(
                "the parameters are not those of the source: a pass has folded some"
            )
        own = self._own().replace(v=graph.v)
        return self._source.gradients(own, inputs, key, loss, override)

    def call_gradients(
        self,
        graph: Graph,
        node: Node,
        values: Mapping[Node, Any],
        key: Any,
        loss: Callable[[Any], Any],
    ) -> dict[Node, Any]:
        """∂loss(value of a call)/∂x, of a call of the graph that was traced."""
        return self._source.call_gradients(self._own(), node, values, key, loss)
