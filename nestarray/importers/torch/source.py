"""An exported program as the source of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.distributions import dirichlet
from torch.fx.node import map_arg

from nestarray.backends.torch.autocast import Autocast, casting
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.errors import UnsupportedError
from nestarray.graph.execution import Override, Steps, identity, result_of
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node
from nestarray.importers.torch.original import ConstantArgument, call_copy, derivatives
from nestarray.importers.torch.workarounds import losses, sequences
from nestarray.importers.torch.workarounds.embeddings import bags
from nestarray.proof.source import EquationSource, Loss, Result
from nestarray.transforms import execute_with_gradients


class TorchSource(EquationSource):
    """An exported program and the arguments with which it was traced.

    Args:
        program: a ``torch.export.ExportedProgram``.
        nodes: exported node → its Node in the graph, or the number that it is.
        module: the module that was exported.
        args, kwargs: the example.
        autocast: the autocast around the trace.
    """

    def __init__(
        self,
        program: Any,
        nodes: dict[Any, Any],
        module: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        autocast: Autocast,
    ) -> None:
        self.program, self.module, self.autocast = program, module, autocast
        equations = [node for node in program.graph.nodes if node.op != "output"]
        super().__init__("torch", equations, nodes, args, kwargs)

    def evaluate(self, equation: Any, values: Mapping[Any, Any]) -> Any:
        """The value of an exported node."""
        if equation.op == "placeholder":
            if equation in self.nodes and self.node(equation) is None:
                return self.nodes[equation]  # an argument other than an array
            # the program's own tensor: the graph has none that no call reads
            signature = self.program.graph_signature
            lifted = signature.inputs_to_lifted_tensor_constants
            if equation.name in lifted:
                return self.program.constants[lifted[equation.name]]
            variables = signature.inputs_to_buffers | signature.inputs_to_parameters
            name = variables[equation.name]
            stored = self.program.state_dict
            return stored[name] if name in stored else self.program.constants[name]
        if equation.op == "get_attr":  # a function of a loop or a choice
            return getattr(self.program.graph_module, equation.target)
        args, kwargs = map_arg((equation.args, equation.kwargs), values.__getitem__)
        return differentiable(equation.target)(*args, **kwargs)

    def operands(self, equation: Any) -> list[Any]:
        """The exported nodes that a call reads."""
        return equation.all_input_nodes if equation.op == "call_function" else []

    def _is_call(self, equation: Any) -> bool:
        return equation.op == "call_function"

    def steps(
        self,
        graph: Graph,
        inputs: list[Any],
        v: Container,
        s: Container,
        key: Any,
        override: Override = identity,
    ) -> Steps:
        """Run the exported program; see `Source.steps`."""
        s = s.map(lambda x: x.clone())  # some calls of training write into their state
        torch.manual_seed(0)  # a proof restores the state
        return (yield from super().steps(graph, inputs, v, s, key, override))

    def result(
        self,
        graph: Graph,
        inputs: list[Any],
        key: Any,
        loss: Loss | None,
        override: Override = identity,
    ) -> Result:
        """Run the exported program, and differentiate it; see `Source.result`."""
        if loss is None:
            return super().result(graph, inputs, key, loss, override)
        try:
            with derivatives():
                return super().result(graph, inputs, key, loss, override)
        except ConstantArgument:
            taken = list(graph.v.leaves())

            def total(leaves: list[Any]) -> tuple[Any, Any]:
                v = from_leaves(graph.v.spec, tuple(leaves))
                results = result_of(self.steps(graph, inputs, v, graph.s, key, override))
                return loss(results[0]), results

            if not taken:
                output, updates = result_of(
                    self.steps(graph, inputs, graph.v, graph.s, key, override)
                )
                return Result(output, updates, [None] * len(inputs))
            with derivatives():
                (_, results), slopes = execute_with_gradients(total, taken, has_aux=True)
            return Result(results[0], results[1], [*slopes, *[None] * len(inputs)])

    def original(
        self, graph: Graph, args: tuple[Any, ...], kwargs: dict[str, Any], loss: Loss | None
    ) -> Result:
        """Call a copy of the module; see `Source.original`."""
        wrong = next(filter(_has_wrong_derivative, self.equations), None)
        if loss is not None and wrong is not None:
            raise UnsupportedError(f"PyTorch's own derivative of {wrong.target} is wrong")
        with casting(self.autocast):
            return call_copy(self.module, graph, args, kwargs, loss)

    def call_gradients(
        self, graph: Graph, node: Call, values: Mapping[Node, Any], key: Any, loss: Loss
    ) -> dict[Node, Any]:
        """∂loss(value of a call)/∂x; see `Source.call_gradients`."""
        try:
            return super().call_gradients(graph, node, values, key, loss)
        except (NotImplementedError, RuntimeError):  # integers, or no derivative
            return {}


def _has_wrong_derivative(equation: Any) -> bool:
    """Whether PyTorch's own derivative of an operation is wrong; see `differentiable`."""
    aten = torch.ops.aten
    is_bag = equation.target in (
        aten._embedding_bag.default,
        aten._embedding_bag_forward_only.default,
    )
    is_loop = equation.target is torch.ops.higher_order.while_loop
    return is_loop or (is_bag and equation.args[3:4] == (True,))


def differentiable(target: Callable[..., Any]) -> Callable[..., Any]:
    """`target`, or a function with the same value that works under autograd.

    A view is exported for the strides of the trace; under autograd an earlier operation may
    return other strides. ``aten.copy`` has no derivative, unlike ``copy_``. The derivative of
    ``while_loop`` is wrong for values in closures of its functions. On CPU the derivative of
    embedding bags divides by the counts of wrong indices
    (https://github.com/pytorch/pytorch/issues/190063).
    """
    aten = torch.ops.aten
    native = sequences.native(target) or losses.native(target)
    if native is not None:
        return native
    if target is torch.ops.higher_order.while_loop:
        return _while
    if target in (aten.view.default, aten._unsafe_view.default):
        return aten.reshape.default
    of_bags = aten._embedding_bag.default
    if target in (of_bags, aten._embedding_bag_forward_only.default):
        return lambda weight, indices, offsets, by_frequency=False, *settings: (
            bags if by_frequency else of_bags
        )(weight, indices, offsets, by_frequency, *settings)
    if target is aten._sample_dirichlet.default:
        return lambda x, generator=None: dirichlet._Dirichlet.apply(x)
    if target is aten.copy.default:
        return lambda input, src, non_blocking=False: src.to(input.dtype).expand(input.shape)
    return target


def _while(go_on: Any, body: Any, carried: tuple[Any, ...], operands: tuple[Any, ...]) -> Any:
    """What torch defines ``while_loop`` to be."""
    while go_on(*carried, *operands):
        carried = body(*carried, *operands)
    return carried
