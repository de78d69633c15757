"""The source of a Graph, kept to compare with: an exported program, or Python code.

A reference has the `backend` on which it runs, the `args` and `kwargs` of the example, and
two methods: `run` gives its output, its new state and, node by node, its values; `gradients`
differentiates a scalar of its output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nestarray import backends, dtypes, random, tree
from nestarray.config import use_backend
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.errors import ArgumentError
from nestarray.nn.module import Module
from nestarray.transforms import execute_with_gradients

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph, Node


class TorchReference:
    """An exported program and the arguments with which it was traced.

    Every operation runs natively, except that draws of random numbers come from the
    graph's own key, so that both sides see the same dropout masks.
    """

    backend = "torch"

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

    def gradients(
        self, graph: Graph, inputs: list[Any], key: Any, loss: Callable[[Any], Any]
    ) -> list[Any]:
        """∂loss(output)/∂v for each leaf of ``graph.v``, by torch.autograd; None for integers."""
        import torch

        leaves = [
            x.detach().clone().requires_grad_(x.is_floating_point()) for x in graph.v.leaves()
        ]
        v = from_leaves(graph.v.spec, tuple(leaves))
        output, _ = self.run(graph, inputs, v, graph.s, key)
        wanted = [x for x in leaves if x.requires_grad]
        found = torch.autograd.grad(loss(output), wanted, allow_unused=True)
        grads = iter(torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found))
        return [next(grads) if x.requires_grad else None for x in leaves]


class PythonReference:
    """A function over `na.*`, or a `nestarray.nn.Module`, and the arguments of the example."""

    def __init__(
        self,
        source: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        train: bool = False,
        key: Any = None,
    ) -> None:
        self.args, self.kwargs, self.train, self.key = args, kwargs, train, key
        self.source = source
        self.v = self.s = Container()
        #: the function whose parameters name the graph's arguments
        self.signed: Callable[..., Any] = source
        if isinstance(source, Module):
            self.v, self.s, self.signed = source.v, source.s, source.forward
            self.name = type(source).__name__
        else:
            self.name = getattr(source, "__name__", type(source).__name__)
        backend = backends.find_backend((args, kwargs, self.v, self.s))
        if backend is None:
            raise ArgumentError(
                f"trace_graph: {self.name}: there is no array among the arguments; pass an "
                "example of each"
            )
        self.backend = backend
        if train and key is None:
            self.key = random.key(0, backend=backend)
        self._leaves, self._structure = tree.flatten((args, kwargs))

    def call(
        self, inputs: list[Any], v: Container, s: Container, key: Any
    ) -> tuple[Any, dict[str, Any]]:
        """(result, new state by path) of the code for flat inputs."""
        given = iter(inputs)
        leaves = [
            x if backends.backend_of_type(type(x)) is None else next(given) for x in self._leaves
        ]
        args, kwargs = tree.unflatten(self._structure, leaves)
        with use_backend(self.backend):
            if not isinstance(self.source, Module):
                return self.source(*args, **kwargs), {}
            if not self.train:
                return self.source(*args, v=v, s=s, **kwargs), {}
            out, new = self.source(*args, v=v, s=s, train=True, key=key, **kwargs)
        return out, dict(new.flat_items())

    def run(
        self,
        graph: Graph,
        inputs: list[Any],
        v: Container,
        s: Container,
        key: Any,
        on_node: Callable[[Node, Any], None] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """(output, new state by path) of the code; `on_node` sees the graph on the code's backend."""
        from nestarray.graph.verify import interpret

        if on_node is not None:
            interpret(graph.replace(v=v, s=s), inputs, key, on_node)
        output, state = self.call(inputs, v, s, key)
        return output, {path: state[path] for path in graph.state_updates}

    def gradients(
        self, graph: Graph, inputs: list[Any], key: Any, loss: Callable[[Any], Any]
    ) -> list[Any]:
        """∂loss(output)/∂v for each leaf of ``graph.v``; None for integers."""
        call = lambda v: loss(self.call(inputs, v, graph.s, key)[0])  # noqa: E731
        _, found = execute_with_gradients(call, graph.v)
        return [
            g if dtypes.dtype_of(x).is_inexact else None
            for x, g in zip(graph.v.leaves(), found.leaves(), strict=True)
        ]


def strideless(target: Callable[..., Any]) -> Callable[..., Any]:
    """`target`, or the operation of the same value that takes any strides.

    A view is exported for the strides of the trace; under autograd an operation before it
    may choose others.
    """
    import torch

    aten = torch.ops.aten
    views = (aten.view.default, aten._unsafe_view.default)
    return aten.reshape.default if target in views else target
