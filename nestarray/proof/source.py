"""The source of a graph, which `Graph.verify` compares the graph with.

A `Source` runs the traced program on its own framework, one value for each call of the graph.
`EquationSource` is the source of programs that are lists of equations, as exporters make them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from nestarray import backends, dtypes
from nestarray.container import Container
from nestarray.errors import UnsupportedError
from nestarray.graph.execution import Override, Steps, compute, given_values, identity, result_of
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node, is_input, iter_nodes, map_nodes
from nestarray.transforms import execute_with_gradients

Loss = Callable[[Any], Any]


class Result(NamedTuple):
    """The result of a source for one call.

    Attributes:
        output: a nest of arrays.
        state: path in ``graph.s`` → its new value.
        gradients: ∂loss(output)/∂x for each leaf x of ``graph.v``, then for each input, None for
            integers; or None if there is no loss.
    """

    output: Any
    state: dict[str, Any]
    gradients: list[Any] | None


class Source(Protocol):
    """The program that a graph was made from.

    Attributes:
        backend: the framework that it runs on.
        args, kwargs: the example that it was traced with.
    """

    backend: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def steps(
        self,
        graph: Graph,
        inputs: list[Any],
        v: Container,
        s: Container,
        key: Any,
        override: Override = identity,
    ) -> Steps:
        """Run the source, and yield (call of the graph, value).

        Args:
            graph: the graph that was traced, on the source's backend.
            inputs: flat inputs.
            v, s: variables.
            key: random key; None draws from the framework's own generator, with a fixed seed.
            override: maps (call, value) to the value used by later calls.
        """
        ...

    def result(
        self,
        graph: Graph,
        inputs: list[Any],
        key: Any,
        loss: Loss | None,
        override: Override = identity,
    ) -> Result:
        """Run the source, and differentiate it.

        Args:
            graph, inputs, key, override: of `steps`.
            loss: maps the output to a scalar to differentiate; None for no gradients.

        Raises:
            UnsupportedError: an operation has no derivative.
        """
        ...

    def call_gradients(
        self, graph: Graph, node: Call, values: Mapping[Node, Any], key: Any, loss: Loss
    ) -> dict[Node, Any]:
        """∂loss(value of a call)/∂x for each inexact array x that the call takes, but for state.

        Args:
            graph: the graph that was traced, on the source's backend.
            node: the call.
            values: node → value in the source.
            key: random key.
            loss: maps the value to a scalar.

        Returns:
            argument → derivative; empty if a value is missing or has no derivative.
        """
        ...

    def original(
        self, graph: Graph, args: tuple[Any, ...], kwargs: dict[str, Any], loss: Loss | None
    ) -> Result | None:
        """Call a copy of the model that the program was exported from.

        Random numbers come from the framework's own generator, with the seed of `steps`.

        Args:
            graph: the graph that was traced, on the source's backend.
            args, kwargs: the arguments of the call.
            loss: of `result`.

        Returns:
            the result; None if the program is the model itself.

        Raises:
            UnsupportedError: the model cannot be copied or called again.
        """
        ...


@dataclass(eq=False)
class Given:
    """An argument, a variable, or a constant with its value."""

    value: Any = None
    operands: tuple[()] = ()

    def evaluate(self, values: Mapping[Any, Any]) -> Any:
        """The value."""
        return self.value


@dataclass(eq=False)
class Part:
    """One of several results of an equation."""

    equation: Any
    index: int

    @property
    def operands(self) -> tuple[Any]:
        """The equation."""
        return (self.equation,)

    def evaluate(self, values: Mapping[Any, Any]) -> Any:
        """The result."""
        return values[self.equation][self.index]


class EquationSource:
    """The source of a program that is a list of equations.

    An equation is an object that tells which others it reads (`operands`) and computes its value
    (`evaluate`), such as `Given` and `Part`; a source of the framework's own objects overrides these
    two methods. Values are released after their last use, draws of random numbers come from the
    graph's own key, and values can be overridden.

    Args:
        backend: the framework of the program.
        equations: inputs and calls, in an order in which they can run.
        nodes: equation → its Node in the graph, or a known number.
        args, kwargs: the example.
    """

    def __init__(
        self,
        backend: str,
        equations: Sequence[Any],
        nodes: Mapping[Any, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.backend, self.equations, self.nodes = backend, equations, nodes
        self.args, self.kwargs = args, kwargs

    def evaluate(self, equation: Any, values: Mapping[Any, Any]) -> Any:
        """The value of an equation, given the values of its operands."""
        return equation.evaluate(values)

    def operands(self, equation: Any) -> Iterable[Hashable]:
        """The equations that an equation reads."""
        return equation.operands

    def node(self, equation: Any) -> Node | None:
        """The Node of an equation, if the graph has one."""
        node = self.nodes.get(equation)
        return node if isinstance(node, Node) else None

    def steps(
        self,
        graph: Graph,
        inputs: list[Any],
        v: Container,
        s: Container,
        key: Any,
        override: Override = identity,
    ) -> Steps:
        """Run the program on its own framework; see `Source.steps`."""
        given = given_values(graph.replace(v=v, s=s), inputs, key)
        values: dict[Any, Any] = {}
        ours: dict[Node, Any] = {}  # the results, and the arguments of random draws
        dead, dead_after_draw = self._last_uses, _last_draws(graph)
        returned = {*iter_nodes(graph.output), *graph.state_updates.values()}
        kept = returned.union(*dead_after_draw.values())
        calls = set(graph.calls)
        for equation in self.equations:
            node = self.node(equation)
            if node in given and not is_input(node, "constants"):
                value = given[node]
            elif isinstance(node, Call) and node.is_random and node in calls and key is not None:
                value = compute(graph, node, ours.__getitem__, key)
            else:
                value = self.evaluate(equation, values)
            if node in calls:
                yield node, value
                value = override(node, value)
            values[equation] = value
            if node in kept:
                ours[node] = value
            for unused in dead.get(equation, ()):
                values.pop(unused, None)
            for unused in dead_after_draw.get(node, set()) - returned:
                del ours[unused]
        output = map_nodes(ours.__getitem__, graph.output)
        return output, {path: ours[node] for path, node in graph.state_updates.items()}

    @cached_property
    def _last_uses(self) -> dict[Any, list[Any]]:
        """For each equation, those whose values nothing after it reads."""
        last: dict[Any, Any] = {}
        for equation in self.equations:
            operands = list(self.operands(equation))
            if operands or self._is_call(equation):
                last[equation] = equation
            last.update(dict.fromkeys(operands, equation))
        dead: dict[Any, list[Any]] = {}
        for used, reader in last.items():
            dead.setdefault(reader, []).append(used)
        return dead

    def _is_call(self, equation: Any) -> bool:
        return isinstance(self.node(equation), Call)

    def result(
        self,
        graph: Graph,
        inputs: list[Any],
        key: Any,
        loss: Loss | None,
        override: Override = identity,
    ) -> Result:
        """Run the program, and differentiate it; see `Source.result`."""

        def run(v: Container, inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
            return result_of(self.steps(graph, inputs, v, graph.s, key, override))

        return differentiated(run, graph.v, inputs, loss)

    def call_gradients(
        self, graph: Graph, node: Call, values: Mapping[Node, Any], key: Any, loss: Loss
    ) -> dict[Node, Any]:
        """∂loss(value of a call)/∂x; see `Source.call_gradients`."""
        if node.is_random:
            return call_gradients(graph, node, values, key, loss)
        equation = self.equation_of[node]
        operands = self._operands_with_nodes(equation)
        taken = [n for n in operands.values() if isinstance(n, Node)]
        if not all(n in values for n in taken):
            return {}

        def value(known: Mapping[Node, Any]) -> Any:
            computed: dict[Any, Any] = {}
            for e, n in operands.items():
                is_known = isinstance(n, Node)
                computed[e] = (
                    known[n] if is_known else self.evaluate(e, computed) if n is None else n
                )
            return self.evaluate(equation, computed)

        return _gradients_of_call(value, taken, values, loss)

    def _operands_with_nodes(self, equation: Any) -> dict[Any, Any]:
        """Operand → its node or number; None for one that the graph has as parts, after its own."""
        operands: dict[Any, Any] = {}
        for e in self.operands(equation):
            known = self.nodes.get(e)
            if known is None:
                operands |= self._operands_with_nodes(e)
            operands[e] = known
        return operands

    def original(
        self, graph: Graph, args: tuple[Any, ...], kwargs: dict[str, Any], loss: Loss | None
    ) -> Result | None:
        """None: the program is the model itself; see `Source.original`."""
        return None

    @cached_property
    def equation_of(self) -> dict[Node, Any]:
        """The equation of each node."""
        return {node: e for e, node in self.nodes.items() if isinstance(node, Node)}


def differentiated(
    run: Callable[[Container, list[Any]], tuple[Any, dict[str, Any]]],
    v: Container,
    inputs: list[Any],
    loss: Loss | None,
) -> Result:
    """The `Result` of a function of variables and inputs that returns (output, new state)."""
    if loss is None:
        return Result(*run(v, inputs), None)

    def total(nest: tuple[Container, list[Any]]) -> tuple[Any, Any]:
        found = run(*nest)
        return loss(found[0]), found

    (_, found), (of_v, of_inputs) = execute_with_gradients(total, (v, inputs), has_aux=True)
    gradients = [
        g if dtypes.dtype_of(x).is_inexact else None
        for x, g in zip([*v.leaves(), *inputs], [*of_v.leaves(), *of_inputs], strict=True)
    ]
    return Result(found[0], found[1], gradients)


def call_gradients(
    graph: Graph, node: Call, values: Mapping[Node, Any], key: Any, loss: Loss
) -> dict[Node, Any]:
    """∂loss(value of a call)/∂x for each inexact array x that it takes, but for state.

    Args:
        graph, node: the call, computed on the graph's backend.
        values: argument → value.
        key: random key.
        loss: maps the value to a scalar.

    Returns:
        argument → derivative; empty if a value is missing or has no derivative.
    """
    taken = list(dict.fromkeys(iter_nodes((node.args, node.kwargs))))
    if not all(n in values for n in taken):
        return {}
    return _gradients_of_call(
        lambda known: compute(graph, node, known.__getitem__, key), taken, values, loss
    )


def _gradients_of_call(
    value: Callable[[Mapping[Node, Any]], Any],
    taken: Sequence[Node],
    values: Mapping[Node, Any],
    loss: Loss,
) -> dict[Node, Any]:
    wanted = [n for n in dict.fromkeys(taken) if is_inexact_variable(n, values[n])]
    if not wanted:
        return {}

    def of_wanted(arrays: list[Any]) -> Any:
        return loss(value({**values, **dict(zip(wanted, arrays, strict=True))}))

    try:
        _, found = execute_with_gradients(of_wanted, [values[n] for n in wanted])
    except UnsupportedError:  # integers, or no derivative
        return {}
    return dict(zip(wanted, found, strict=True))


def is_inexact_variable(node: Node, x: Any) -> bool:
    """Whether derivatives by the value of a node are compared: state has none."""
    is_state = is_input(node, "s", "constants")
    is_number = backends.is_array(x) and not dtypes.is_key(x)
    return not is_state and is_number and dtypes.dtype_of(x).is_inexact


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
