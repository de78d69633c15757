"""The source of a Graph, kept to compare with: the exported program, run by torch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nestarray.config import use_backend
from nestarray.container import Container

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph, Node


class TorchReference:
    """An exported program and the arguments with which it was traced.

    Every operation runs natively, except that draws of random numbers come from the
    graph's own key, so that both sides see the same dropout masks.
    """

    def __init__(
        self, program: Any, nodes: dict[Any, Node], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.program, self.nodes = program, nodes
        self.args, self.kwargs = args, kwargs

    def run(
        self,
        graph: Graph,
        inputs: list[Any],
        v: Container,
        s: Container,
        key: Any,
        on_node: Callable[[Node, Any], None] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """(output nest, new state by path) computed by torch from torch tensors.

        Args:
            graph: a graph that was made from this program, moved to torch.
            inputs: flat inputs.
            v, s: variables.
            key: random key on torch.
            on_node: called with each of the graph's calls and its value.
        """
        from torch.fx.node import map_arg

        from nestarray import random
        from nestarray.graph.graph import map_nodes

        containers = {"v": v, "s": s, "constants": graph.constants}
        arguments = dict(zip(graph.inputs, inputs, strict=True))
        values: dict[Any, Any] = {}
        results: dict[Node, Any] = {}
        wanted = set(graph.calls)
        for theirs in self.program.graph.nodes:
            ours = self.nodes.get(theirs)
            if theirs.op == "placeholder":
                if ours is None:
                    continue  # a constant argument
                if ours.source == "x":
                    values[theirs] = arguments[ours]
                else:
                    values[theirs] = containers[ours.source][ours.path]
                results[ours] = values[theirs]
            elif theirs.op == "call_function":
                get = values.__getitem__
                if ours is not None and ours.is_random:
                    number = graph.random_numbers.get(ours, 0)
                    args, kwargs = map_nodes(results.__getitem__, [list(ours.args), ours.kwargs])
                    assert ours.target is not None
                    with use_backend("torch"):
                        value = ours.target(*args, **kwargs, key=random.fold_in(key, number))
                else:
                    args = map_arg(theirs.args, get)
                    kwargs = map_arg(theirs.kwargs, get)
                    value = strideless(theirs.target)(*args, **kwargs)
                values[theirs] = value
                if ours is not None:
                    results[ours] = value
                    if on_node is not None and ours in wanted:
                        on_node(ours, value)
        output = map_nodes(results.__getitem__, graph.output)
        return output, {path: results[node] for path, node in graph.state_updates.items()}


def strideless(target: Callable[..., Any]) -> Callable[..., Any]:
    """`target`, or the operation of the same value that takes any strides.

    A view is exported for the strides of the trace; under autograd an operation before it
    may choose others.
    """
    import torch

    aten = torch.ops.aten
    views = (aten.view.default, aten._unsafe_view.default)
    return aten.reshape.default if target in views else target
