"""The source of a Graph, kept to compare with: an exported program, or Python code.

A reference has the `backend` on which it runs, the `args` and `kwargs` of the example, and
three methods: `steps` gives its values call by call, and its output and new state at the end;
`gradients` differentiates a scalar of its output, `slopes` one of the value of a single call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nestarray import backends, dtypes, random, tree
from nestarray.config import use_backend
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.graph.node import Node, iter_nodes, map_nodes
from nestarray.nn.module import Module
from nestarray.proof.execution import At, Steps, as_it_is, compute, result_of, steps
from nestarray.transforms import execute_with_gradients

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph


#: What torch says of operations that have none.
_NO_DERIVATIVE = ("is not implemented", "does not support automatic differentiation")


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

    def steps(
        self,
        graph: Graph,
        inputs: list[Any],
        v: Container,
        s: Container,
        key: Any,
        at: At = as_it_is,
    ) -> Steps:
        """Run the program in torch, on torch tensors; see `execution.steps`.

        Args:
            graph: a graph that was made from this program, moved to torch.
            inputs: flat inputs.
            v, s: variables.
            key: random key on torch.
            at: what is handed on for the value of a call.
        """
        from torch.fx.node import map_arg

        containers = {"v": v, "s": s}
        arguments = dict(zip(graph.inputs, inputs, strict=True))
        lifted = self.program.graph_signature.inputs_to_lifted_tensor_constants
        values: dict[Any, Any] = {}
        ours: dict[Node, Any] = {}  # what the graph returns, and what draws of random numbers take
        dead, dead_after_draw = self._last_uses, _last_draws(graph)
        returned = {*iter_nodes(graph.output), *graph.state_updates.values()}
        kept = returned.union(*dead_after_draw.values())
        wanted = set(graph.calls)
        for exported in self.program.graph.nodes:
            node = self.nodes.get(exported)
            node = node if isinstance(node, Node) else None  # a number that is known
            if exported.op == "placeholder":
                if node is None:  # an argument that is no array
                    values[exported] = self.nodes[exported]
                    continue
                if node.source == "constants":  # its own: the graph has none that no call reads
                    value = self.program.constants[lifted[exported.name]]
                elif node.source == "x":
                    value = arguments[node]
                else:
                    value = containers[node.source][node.path]
                values[exported] = ours[node] = value
            elif exported.op == "get_attr":  # a function of a loop or a choice
                values[exported] = getattr(self.program.graph_module, exported.target)
            elif exported.op == "call_function":
                if node is not None and node.is_random and node in wanted:
                    value = compute(graph, node, ours.__getitem__, key)
                else:
                    args = map_arg(exported.args, values.__getitem__)
                    kwargs = map_arg(exported.kwargs, values.__getitem__)
                    value = differentiable(exported.target)(*args, **kwargs)
                if node in wanted:
                    yield node, value
                    value = at(node, value)
                values[exported] = value
                if node in kept:
                    ours[node] = value
                for unused in dead.get(exported, ()):
                    values.pop(unused, None)
                for unused in dead_after_draw.get(node, set()) - returned:
                    del ours[unused]
        output = map_nodes(ours.__getitem__, graph.output)
        return output, {path: ours[node] for path, node in graph.state_updates.items()}

    @cached_property
    def _last_uses(self) -> dict[Any, list[Any]]:
        """For each exported call, the nodes whose values nothing after it reads."""
        last: dict[Any, Any] = {}
        for exported in self.program.graph.nodes:
            if exported.op == "call_function":
                last[exported] = exported
                last.update(dict.fromkeys(exported.all_input_nodes, exported))
        dead: dict[Any, list[Any]] = {}
        for used, reader in last.items():
            dead.setdefault(reader, []).append(used)
        return dead

    def gradients(
        self,
        graph: Graph,
        inputs: list[Any],
        key: Any,
        loss: Callable[[Any], Any],
        at: At = as_it_is,
    ) -> list[Any]:
        """∂loss(output)/∂v for each leaf of ``graph.v``, by torch.autograd; None for integers.

        `at` is that of `steps`.

        Raises:
            UnsupportedError: torch has no derivative of an operation.
        """
        import torch

        leaves = [
            x.detach().clone().requires_grad_(x.is_floating_point() or x.is_complex())
            for x in graph.v.leaves()
        ]
        v = from_leaves(graph.v.spec, tuple(leaves))
        wanted = [x for x in leaves if x.requires_grad]
        found: Any = [None] * len(wanted)
        try:
            total = loss(result_of(self.steps(graph, inputs, v, graph.s, key, at))[0])
            if total.requires_grad:  # else nothing depends on them
                found = torch.autograd.grad(total, wanted, allow_unused=True)
        except (NotImplementedError, RuntimeError) as error:
            reason = str(error).partition(". ")[0].rstrip(".")
            if not any(words in reason for words in _NO_DERIVATIVE):
                raise
            raise UnsupportedError(f"verify: PyTorch: {reason}") from error
        grads = iter(torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found))
        return [next(grads) if x.requires_grad else None for x in leaves]

    def slopes(
        self,
        graph: Graph,
        node: Node,
        values: Mapping[Node, Any],
        key: Any,
        loss: Callable[[Any], Any],
    ) -> dict[Node, Any]:
        """∂loss(value of a call)/∂x for each inexact array x that it takes and that is no buffer.

        Args:
            graph: a graph that was made from this program, moved to torch.
            node: the call.
            values: what the source has computed so far.
            key: random key on torch.
            loss: gives a scalar.

        Returns:
            nothing, where a value that it takes is missing or torch has no derivative.
        """
        import torch
        from torch.fx.node import map_arg

        exported = self._exported[node]
        is_drawn = node.is_random
        taken = iter_nodes((node.args, node.kwargs)) if is_drawn else self._taken(exported)
        leaves: dict[Node, Any] = {}
        for used in taken:
            if used not in values:
                return {}
            x = values[used]
            leaves[used] = x.detach().clone().requires_grad_() if _varies(used, x) else x
        wanted = {used: x for used, x in leaves.items() if _varies(used, x)}

        def value_of(e: Any) -> Any:
            known = self.nodes.get(e)
            if isinstance(known, Node):
                return leaves[known]
            if e.op == "get_attr":
                return getattr(self.program.graph_module, e.target)
            return called(e) if known is None else known

        def called(e: Any) -> Any:
            args, kwargs = map_arg((e.args, e.kwargs), value_of)
            return differentiable(e.target)(*args, **kwargs)

        try:
            draw = lambda: compute(graph, node, leaves.__getitem__, key)  # noqa: E731
            value = draw() if is_drawn else called(exported)
            found = torch.autograd.grad(loss(value), list(wanted.values()), allow_unused=True)
        except (NotImplementedError, RuntimeError):  # integers, or no derivative
            return {}
        return {
            n: torch.zeros_like(x) if g is None else g
            for (n, x), g in zip(wanted.items(), found, strict=True)
        }

    def _taken(self, exported: Any) -> Iterator[Node]:
        """The nodes that an exported call takes, through calls that the graph has as parts."""
        for e in exported.all_input_nodes:
            node = self.nodes.get(e)
            if isinstance(node, Node):
                yield node
            elif node is None and e.op == "call_function":
                yield from self._taken(e)

    @cached_property
    def _exported(self) -> dict[Node, Any]:
        """The exported call of each node."""
        return {node: e for e, node in self.nodes.items() if isinstance(node, Node)}


def slopes_of(
    graph: Graph,
    node: Node,
    values: Mapping[Node, Any],
    key: Any,
    loss: Callable[[Any], Any],
) -> dict[Node, Any]:
    """∂loss(value of a call)/∂x for each inexact array x that it takes and that is no buffer.

    Args:
        graph, node: the call, computed on the graph's backend.
        values: those that it takes.
        key: random key.
        loss: gives a scalar.

    Returns:
        nothing, where the backend has no derivative.
    """
    used = dict.fromkeys(iter_nodes((node.args, node.kwargs)))
    wanted = [n for n in used if _varies(n, values[n])]
    if not wanted:
        return {}

    def of_wanted(arrays: list[Any]) -> Any:
        given = dict(zip(wanted, arrays, strict=True))
        value_of = lambda n: given[n] if n in given else values[n]  # noqa: E731
        return loss(compute(graph, node, value_of, key))

    try:
        _, found = execute_with_gradients(of_wanted, [values[n] for n in wanted])
    except UnsupportedError:  # integers, or no derivative
        return {}
    return dict(zip(wanted, found, strict=True))


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
        leaves = [next(given) if backends.is_array(x) else x for x in self._leaves]
        args, kwargs = tree.unflatten(self._structure, leaves)
        with use_backend(self.backend):
            if not isinstance(self.source, Module):
                return self.source(*args, **kwargs), {}
            if not self.train:
                return self.source(*args, v=v, s=s, **kwargs), {}
            out, new = self.source(*args, v=v, s=s, train=True, key=key, **kwargs)
        return out, dict(new.flat_items())

    def steps(
        self,
        graph: Graph,
        inputs: list[Any],
        v: Container,
        s: Container,
        key: Any,
        at: At = as_it_is,
    ) -> Steps:
        """Run the graph on the code's own backend call by call, and return what the code gives.

        The code has no calls whose values `at` could replace: then it is what the graph returns.
        """
        found = yield from steps(graph.replace(v=v, s=s), inputs, key, at)
        if at is not as_it_is:
            return found
        output, state = self.call(inputs, v, s, key)
        return output, {path: state[path] for path in graph.state_updates}

    def gradients(
        self,
        graph: Graph,
        inputs: list[Any],
        key: Any,
        loss: Callable[[Any], Any],
        at: At = as_it_is,
    ) -> list[Any]:
        """∂loss(output)/∂v for each leaf of ``graph.v``; None for integers. `at`: see `steps`."""

        def call(v: Container) -> Any:
            if at is as_it_is:
                return loss(self.call(inputs, v, graph.s, key)[0])
            return loss(result_of(self.steps(graph, inputs, v, graph.s, key, at))[0])

        _, found = execute_with_gradients(call, graph.v)
        return [
            g if dtypes.dtype_of(x).is_inexact else None
            for x, g in zip(graph.v.leaves(), found.leaves(), strict=True)
        ]

    slopes = staticmethod(slopes_of)


def _varies(node: Node, x: Any) -> bool:
    """Whether derivatives by the value of a node are asked for: buffers have none."""
    is_state = node.source in ("s", "constants")
    return not is_state and backends.is_array(x) and dtypes.dtype_of(x).is_inexact


def _last_draws(graph: Graph) -> dict[Node | None, set[Node]]:
    """For each draw of random numbers, the arguments that no later draw takes."""
    last = {
        used: node
        for node in graph.calls
        if node.is_random
        for used in iter_nodes((node.args, node.kwargs))
    }
    dead: dict[Node | None, set[Node]] = {}
    for used, reader in last.items():
        dead.setdefault(reader, set()).add(used)
    return dead


def differentiable(target: Callable[..., Any]) -> Callable[..., Any]:
    """`target`, or what computes the same value and works under autograd.

    A view is exported for the strides of the trace; under autograd an operation before it
    may choose others. ``aten.copy`` has no derivative: only ``copy_`` has one. That of
    ``while_loop`` is another one than the loop's for what its functions close over. That of bags
    of embeddings divides by how often other indices occur, on the host
    (https://github.com/pytorch/pytorch/issues/190063).
    """
    import torch

    from nestarray.importers.torch import alignments, sequences
    from nestarray.importers.torch.embedding_bags import bags

    aten = torch.ops.aten
    own = sequences.native(target) or alignments.native(target)
    if own is not None:
        return own
    if target is torch.ops.higher_order.while_loop:
        return _while
    if target in (aten.view.default, aten._unsafe_view.default):
        return aten.reshape.default
    of_bags = aten._embedding_bag.default
    if target in (of_bags, aten._embedding_bag_forward_only.default):
        return lambda weight, indices, offsets, by_frequency=False, *settings: (
            bags if by_frequency else of_bags
        )(weight, indices, offsets, by_frequency, *settings)
    if target is aten.copy.default:
        return lambda input, src, non_blocking=False: src.to(input.dtype).expand(input.shape)
    return target


def _while(go_on: Any, body: Any, carried: tuple[Any, ...], operands: tuple[Any, ...]) -> Any:
    """What torch defines ``while_loop`` to be."""
    while go_on(*carried, *operands):
        carried = body(*carried, *operands)
    return carried
