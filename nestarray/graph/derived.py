"""The source of a graph that was derived from another graph: the source of that graph.

Calls that compute the same value have the same name in both graphs, so intermediate values are
compared by name. Gradients are compared if the parameters are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from nestarray import dtypes, ops, tree
from nestarray.container import Container
from nestarray.dtypes import DType
from nestarray.errors import UnsupportedError
from nestarray.graph.execution import Override, Steps, identity
from nestarray.graph.node import Call
from nestarray.typing import Array, Nest

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph
    from nestarray.graph.node import Node
    from nestarray.proof.source import Source


def derived_source(
    original: Graph, *, is_folded: bool = False, changes: Mapping[DType, DType] | None = None
) -> DerivedSource | None:
    """The reference of a graph that a pass makes of `original`; None if that has none.

    Args:
        original: a graph.
        is_folded: the new graph has other variables than `original`.
        changes: dtype of a result of `original` → its dtype in the new graph.
    """
    reference = original.reference
    if reference is None:
        return None
    if not isinstance(reference, DerivedSource):
        reference = DerivedSource(original, reference, False, {})
    return reference.changed(is_folded, changes or {})


class DerivedSource:
    """The source of the graph that was traced, asked for the values of a graph made of it.

    Args:
        original: the traced graph.
        source: its reference, a `nestarray.proof.source.Source`.
        is_folded: whether the derived graph has different variables.
        changes: dtype of a result of the source → its dtype in the derived graph, if it differs.

    Attributes:
        dtypes: `changes`.
    """

    def __init__(
        self, original: Graph, source: Source, is_folded: bool, changes: Mapping[DType, DType]
    ) -> None:
        self._source, self._original, self._is_folded = source, original, is_folded
        self.backend, self.args, self.kwargs = source.backend, source.args, source.kwargs
        self.dtypes = changes

    def changed(self, is_folded: bool, changes: Mapping[DType, DType]) -> DerivedSource:
        """The source of a graph that is derived from the derived graph; see `derived_source`."""
        total = {old: changes.get(new, new) for old, new in self.dtypes.items()}
        return DerivedSource(
            self._original, self._source, self._is_folded or is_folded, {**changes, **total}
        )

    def _own(self) -> Graph:
        if self._original.backend != self.backend:
            self._original = self._original.to_backend(self.backend, copy=None)
        return self._original

    def traced(self) -> tuple[Nest, Graph]:
        """The source, and the graph that was traced, on the source's backend."""
        return self._source, self._own()

    def steps(
        self,
        graph: Graph,
        inputs: list[Array],
        v: Container,
        s: Container,
        key: Array,
        override: Override = identity,
    ) -> Steps:
        """Run the source; values belong to the calls of the same name."""
        own = self._own()
        if self._is_folded:
            v, s = own.v, own.s
        inputs, v, s = _as_traced(own, inputs, v, s)
        calls = {node.name: node for node in graph.calls}
        run = self._source.steps(own, inputs, v, s, key, override)
        while True:
            try:
                node, value = next(run)
            except StopIteration as end:
                return end.value
            twin = calls.get(node.name)
            if twin is not None and _shape(twin) == _shape(node):
                yield twin, value

    def result(
        self,
        graph: Graph,
        inputs: list[Array],
        key: Array,
        loss: Callable[[Nest], Nest] | None,
        override: Override = identity,
    ) -> Nest:
        """The result of the source; see `nestarray.proof.source.Source.result`."""
        own = self._own()
        if self._is_folded and loss is not None:
            raise UnsupportedError(
                "the parameters are not those of the source: a pass has folded some"
            )
        v = own.v if self._is_folded else graph.v
        inputs, v, s = _as_traced(own, inputs, v, own.s)
        own = own.replace(v=v, s=s)
        return self._source.result(own, inputs, key, loss, override)

    def call_gradients(
        self,
        graph: Graph,
        node: Call,
        values: Mapping[Node, Nest],
        key: Array,
        loss: Callable[[Nest], Nest],
    ) -> dict[Node, Nest]:
        """∂loss(value of a call)/∂x, of a call of the graph that was traced."""
        return self._source.call_gradients(self._own(), node, values, key, loss)


def _shape(node: Node) -> object:
    return None if node.aval is None else node.aval.shape


def _as_traced(
    own: Graph, inputs: list[Array], v: Container, s: Container
) -> tuple[list[Nest], Container, Container]:
    """Inputs and variables in the dtypes of the trace, which a derived graph may narrow."""

    def like(c: Container, traced: Container) -> Container:
        return tree.map(lambda x, y: ops.astype(x, dtypes.dtype_of(y), copy=False), c, traced)

    return inputs_of(own, inputs), like(v, own.v), like(s, own.s)


def traced_graph(graph: Graph) -> Graph:
    """The graph that was traced, on the source's backend, for a graph with a reference."""
    source = graph.reference
    if isinstance(source, DerivedSource):
        return source.traced()[1]
    assert source is not None
    return graph.to_backend(source.backend, copy=None)


def inputs_of(graph: Graph, inputs: list[Array]) -> list[Nest]:
    """Flat inputs in the dtypes that a graph takes."""
    return [
        x if node.aval is None else ops.astype(x, node.aval.dtype, copy=False)
        for x, node in zip(inputs, graph.inputs, strict=True)
    ]
