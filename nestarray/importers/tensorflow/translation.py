"""The translation of a concrete function.

Partitioned calls are inlined. Variables are values: a read is the current one, an assignment the
next one. Loops and choices are calls with bodies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from nestarray import dtypes, tree
from nestarray.errors import Refused
from nestarray.frontends import rules
from nestarray.frontends.tensorflow import vocabulary
from nestarray.graph.builder import NOWHERE, Place, plain
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Node
from nestarray.importers.protocol import Request
from nestarray.importers.tensorflow import (
    control_flow,
    custom_gradients,
    execution,
    known_values,
    operations,
    shapes,
    sizes,
    tensor_lists,
)
from nestarray.importers.tensorflow.arguments import arguments_of, rule_of, why_missing
from nestarray.importers.tensorflow.islands import may_be_island, name_of
from nestarray.importers.tensorflow.models import Program
from nestarray.importers.tensorflow.operations import Cell
from nestarray.importers.tensorflow.source import Equation, Sizes, TensorFlowSource
from nestarray.importers.tensorflow.tensor_lists import TensorList
from nestarray.importers.translator import Translator, Value
from nestarray.proof.source import Given, Part
from nestarray.sizes import names_of


class Translation(Translator):
    """Turns one concrete function into one Graph."""

    framework = "tensorflow"

    def __init__(self, program: Program, request: Request) -> None:
        super().__init__(program.name, request)
        self.program = program
        self.sizes = sizes.OpenSizes(self.builder)

    # -- coverage --------------------------------------------------------------------------

    def calls(self) -> Iterator[tuple[Any, Place]]:
        """The operations that results need, but those that this package translates itself."""
        graph = self.program.concrete.graph
        live = self._live(graph, graph.outputs, NOWHERE)
        return ((op, place) for op, place in live if op.type not in _RULES)

    def _live(
        self, graph: Any, outputs: Sequence[Any], outer: Place
    ) -> Iterator[tuple[Any, Place]]:
        for op in operations.live_operations(graph, outputs):
            place = self.place_of(op, outer)
            if op.type in operations.CALLS:
                for inner in operations.functions_of(op):
                    yield from self._live(inner, inner.outputs, place)
            elif custom_gradients.has_own_derivative(op):
                rule = custom_gradients.rule_of(op).graph
                yield from self._live(rule, rule.outputs, place)
            else:
                yield op, place

    def name_of(self, equation: Any) -> str:
        """The type of an operation."""
        return str(equation.type)

    def place_of(self, equation: Any, outer: Place) -> Place:
        """The layer and the line of an operation."""
        return self.program.layers.place_of(equation, outer)

    def rule_of(self, equation: Any) -> rules.Rule | None:
        """The rule of an operation whose attributes it takes."""
        return rule_of(equation)

    def why_missing(self, equation: Any) -> str:
        """Why an operation without a rule cannot be an island."""
        is_island = may_be_island(equation, islands=self.request.islands)
        return "" if is_island else why_missing(equation)

    # -- the graph ---------------------------------------------------------------------------

    def graph(self) -> Graph:
        """The whole translation."""
        program, builder = self.program, self.builder
        concrete = program.concrete.graph
        cells: dict[int, Cell] = {}
        names = operations.written_arguments(concrete)
        written = {id(x) for x, placeholder in concrete.captures if placeholder.name in names}
        for variable in program.variables:
            value = variable.native.read_value()
            kind = "s" if id(variable.native.handle) in written else variable.kind
            node = builder.variable(kind, variable.path, value)
            cells[id(variable.native.handle)] = Cell(self.add(Given(value), node))
        first = dict(cells)
        before = {key: cell.value for key, cell in cells.items()}
        env: dict[Any, Any] = {}
        filled = list(program.leaves)
        for i, placeholder in zip(program.inputs, concrete.inputs):
            axes = program.axes[i]
            shape: Any = tuple([axes.get(k, int(n)) for k, n in enumerate(program.leaves[i].shape)])
            filled[i] = builder.argument(f"x_{i}", Aval(shape, shapes.dtype_of(placeholder)))
            self.sizes.read(filled[i], axes, program.leaves[i].shape)
            env[placeholder.ref()] = self.add(Given(), filled[i])
        for external, placeholder in concrete.captures:
            env[placeholder.ref()] = self._captured(external, cells)
        args, kwargs = plain(tree.unflatten(program.structure, filled))
        example = plain(tree.unflatten(program.structure, program.leaves))
        builder.sign(program.signed, args, kwargs)
        self.builder.place = program.definition
        results = map(self.node, self.outputs(concrete, env))
        leaves = [next(results) if _is_tensor(x) else x for x in program.output.leaves]
        nest = plain(tree.unflatten(program.output.structure, leaves))
        updates = {
            variable.path: self.node(first[id(variable.native.handle)].value)
            for variable in program.variables
            if first[id(variable.native.handle)].value is not before[id(variable.native.handle)]
        }
        source = TensorFlowSource("tensorflow", self.equations, self.nodes, *example)
        return builder.finish(nest, updates, source, self.sizes.sizes())

    def _captured(self, external: Any, cells: Mapping[int, Cell]) -> Any:
        """A variable, or a tensor that the function names as a constant."""
        if external.dtype.name != "resource":
            return Value(known=external.numpy())
        if id(external) not in cells:
            raise Refused(
                f"{self.program.name} uses a resource that is no variable, such as a table or a queue",
                "trace_graph",
                "look up its values before the model",
            )
        return cells[id(external)]

    def node(self, value: Value) -> Node:
        """The node of a value; a known one becomes a constant, or is computed of sizes."""
        if value.node is None and known_values.is_symbolic(value.known):
            return self._of_sizes(value.known)
        return super().node(value)

    def constant(self, array: Any, held: Any = None) -> Value:
        """A known array as a constant; see `Translator.constant`."""
        return super().constant(tf.constant(array))

    def _of_sizes(self, known: np.ndarray) -> Node:
        """An integer array of sizes."""
        numbers = [self.sizes.node(x) for x in known.reshape(-1)]
        arrays = [self.op("full", (), n, label="size", dtype=dtypes.int32) for n in numbers]
        if not known.shape:
            return arrays[0]
        return self.op("stack", arrays, label="sizes")

    # -- equations ---------------------------------------------------------------------------

    def equation(
        self, op: Any, inputs: Sequence[Any], written: Sequence[int] = ()
    ) -> Equation | None:
        """Add an operation to those that a proof runs; None in a body, which runs as a whole.

        Args:
            op: the operation.
            inputs: its operands.
            written: the indices of the variables among them that it writes.
        """
        if self.depth:
            return None
        tensors = operations.operands_of(op)
        operands = [self._operand(x, at) for x, at in zip(inputs, tensors)]
        equation = Equation(op, operands, self.builder.place, tuple(written))
        self.add(equation)
        return equation

    def _operand(self, value: Any, tensor: Any) -> Any:
        """An operand in an equation of the source."""
        if isinstance(value, Cell):
            return Cell(self._operand(value.value, tensor))
        if value.of is not None:
            return value.of
        if isinstance(value, TensorList):
            return None
        if not known_values.is_symbolic(value.known):
            return value.known
        names = sorted({name for x in value.known.reshape(-1) for name in names_of(x)})
        axes = {name: self.sizes.axes[name] for name in names}
        equations = {name: (self.of[array], axis) for name, (array, axis) in axes.items()}
        return self.add(Sizes(value.known, tensor.dtype, equations)).of

    def part(self, equation: Equation | None, index: int) -> Any:
        """One of the results of an operation that has no node, such as a list."""
        if equation is None or equation.is_single:
            return equation
        return self.add(Part(equation, index)).of

    # -- operations --------------------------------------------------------------------------

    def outputs(self, graph: Any, env: dict[Any, Any]) -> list[Any]:
        """Translate the operations of a graph, and return its outputs.

        Args:
            graph: of a function.
            env: the values of its arguments, by the references of their tensors.
        """
        live = operations.live_operations(graph, graph.outputs)
        self.translate([op for op in live if not _is_argument(op, env)], env)
        return [env[x.ref()] for x in graph.outputs]

    def step(self, equation: Any, env: dict[Any, Any]) -> None:
        """Translate one operation; see `Translator.step`."""
        inputs = [env[x.ref()] for x in operations.operands_of(equation)]
        results = _RULES.get(equation.type, Translation._function)(self, equation, *inputs)
        env.update((x.ref(), y) for x, y in zip(equation.outputs, results))

    def _function(self, op: Any, *inputs: Any) -> Sequence[Any]:
        """The results of the function of an operation; known ones of known operands."""
        if any(isinstance(x, TensorList) for x in inputs):
            return tensor_lists.total(self, op, *inputs)
        known = [x.known if isinstance(x, Value) else None for x in inputs]
        if inputs and all(x is not None for x in known) and not op.op_def.is_stateful:
            values = known_values.computed(op, _run_on_arrays, [x for x in known if x is not None])
            if values is not None:
                return [Value(known=x) for x in values]
        length = known_values.limit(op)
        return self._call(op, inputs) if length is None else [Value(known=length)]

    def _call(self, op: Any, inputs: Sequence[Any]) -> list[Any]:
        """A call of the function of an operation, or an island."""
        rule = self.rule_of(op)
        if rule is None:
            takes = [shapes.dtype_of(x) for x in op.inputs]
            call = self.island(name_of(op, self.builder.place), inputs, takes)
        elif rule.is_ignored:
            return [*inputs]
        else:
            call = rule.call(arguments_of(self, op, rule, inputs))
        equation = self.equation(op, inputs)
        avals = shapes.avals_of(self, op, call)
        is_single = not operations.has_many_results(op)
        aval = avals[0] if is_single else None
        node = self.call(call, _value_name(op.type), aval=aval, origin=op.type)
        if is_single:
            return [self.result(equation, 0, node)]
        return self.results(equation, node, avals)


# -- rules of operations that are no functions of arrays ---------------------------------------


def _constant(to: Translation, op: Any) -> Sequence[Any]:
    return [Value(known=operations.constant_of(op))]


def _operands(to: Translation, op: Any, *inputs: Any) -> Sequence[Any]:
    return inputs[: len(op.outputs)]


def _identities(to: Translation, op: Any, *inputs: Any) -> Sequence[Any]:
    """The operands, with the gradients of a rule where a function has one."""
    if custom_gradients.has_own_derivative(op):
        return control_flow.with_rule(to, op, *inputs)
    return _operands(to, op, *inputs)


def _read(to: Translation, op: Any, cell: Cell) -> Sequence[Any]:
    return [cell.value]


def _assign(to: Translation, op: Any, cell: Cell, value: Value) -> Sequence[Any]:
    cell.value = value
    return []


def _write(to: Translation, op: Any, cell: Cell, *operands: Value) -> Sequence[Any]:
    """A change of a variable, as a call on its value."""
    name = operations.WRITES[op.type].name
    rule = vocabulary.find(name)
    assert rule is not None
    old = to.node(cell.value)
    call = rules.Call(rule.function, rule.name, (old, *map(to.node, operands)), {})
    equation = to.equation(op, (cell, *operands), (0,))
    node = to.call(call, _value_name(name), aval=old.aval, origin=op.type)
    cell.value = to.result(equation, 0, node)
    return []


def _key_counter(to: Translation, op: Any, seed: Value) -> Sequence[Any]:
    """The key and the counter of a seed, which its draws read from the seed."""
    equation, node = to.equation(op, [seed]), to.node(seed)
    return [Value(node, to.part(equation, i)) for i in range(len(op.outputs))]


def _shapes(to: Translation, op: Any, *inputs: Any) -> Sequence[Any]:
    return [shapes.shape_of(to, op, x) for x in inputs]


#: Operation → its rule, which takes the translation, the operation and its operands.
_RULES: dict[str, Callable[..., Sequence[Any]]] = {
    "Const": _constant,
    "IdentityN": _identities,
    "Placeholder": _operands,
    **dict.fromkeys(operations.IDENTITIES, _operands),
    **dict.fromkeys(operations.READS, _read),
    **dict.fromkeys(operations.WRITES, _write),
    "AssignVariableOp": _assign,
    "StatelessRandomGetKeyCounter": _key_counter,
    "StatelessRandomGetKeyCounterAlg": _key_counter,
    **dict.fromkeys(shapes.OPERATIONS, _shapes),
    **control_flow.RULES,
    **tensor_lists.RULES,
}


def _is_argument(op: Any, env: Mapping[Any, Any]) -> bool:
    return bool(op.outputs) and all(x.ref() in env for x in op.outputs)


def _value_name(operation: str) -> str:
    """``"batch_mat_mul"`` for ``"BatchMatMulV2"``."""
    base = re.sub(r"V\d$", "", operation)
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", base).lower()


def _run_on_arrays(op: Any, values: Sequence[np.ndarray]) -> list[Any]:
    """The results of an operation, on the host."""
    with tf.init_scope():
        return [y.numpy() for y in execution.run(op, [tf.constant(x) for x in values])]


def _is_tensor(x: Any) -> bool:
    return tf.is_tensor(x)
