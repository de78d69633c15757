"""Concrete functions of TensorFlow as Graphs.

Partitioned calls are inlined. Variables are values: a read is the current one, an assignment the
next one. Loops and choices are calls with bodies.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nestarray import dtypes, ops, tree
from nestarray.errors import ConversionError
from nestarray.frontends import rules
from nestarray.frontends.tensorflow import vocabulary
from nestarray.graph.builder import NOWHERE, GraphBuilder, Place, plain
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Node
from nestarray.importers.coverage import Operation, operations_of
from nestarray.importers.islands import island
from nestarray.importers.protocol import Imported, Request
from nestarray.importers.tensorflow import (
    custom_gradients,
    execution,
    known_values,
    operations,
    random_ops,
    shapes,
    sizes,
)
from nestarray.importers.tensorflow.control_flow import ControlFlow
from nestarray.importers.tensorflow.islands import may_be_island, name_of
from nestarray.importers.tensorflow.models import KEYWORDS, Program, modes, program_of
from nestarray.importers.tensorflow.operations import Cell
from nestarray.importers.tensorflow.selection import kind_of, uses_tensorflow
from nestarray.importers.tensorflow.source import Equation, Sizes, TensorFlowSource
from nestarray.importers.tensorflow.tensor_lists import OPERATIONS as TENSOR_LISTS
from nestarray.importers.tensorflow.tensor_lists import TensorList, TensorLists
from nestarray.importers.tensorflow.values import Value
from nestarray.proof.source import Given, Part

#: Operations whose functions take an array and numbers.
_TAKE_NUMBERS = frozenset(
    ["Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "SquaredDifference",
     "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "FloorDiv", "FloorMod",
     "Div", "DivNoNan", "MulNoNan", "Atan2", "TruncateMod", "LeakyRelu"]
)  # fmt: skip


class TensorFlowImporter:
    """Reads Keras models, functions and modules of TensorFlow, and SavedModels."""

    framework = "tensorflow"

    def accepts(self, request: Request) -> bool:
        """Whether the source, or the owner of a method, is of TensorFlow, or a function uses it."""
        if kind_of(request.source) or kind_of(getattr(request.source, "__self__", None)):
            return True
        if not callable(request.source) or isinstance(request.source, type):
            return False
        if not request.frameworks or not request.frameworks <= {"tensorflow", "numpy"}:
            return False
        if request.framework:
            return True
        example = (request.args, request.kwargs)
        return request.frameworks != {"numpy"} and uses_tensorflow(request.source, example)

    def keywords(self, source: Any) -> frozenset[str]:
        """The arguments that choose a part of the source, or its behaviour."""
        return KEYWORDS.get(kind_of(source), frozenset()) | {*modes(source)}

    def read(self, request: Request) -> Imported:
        """Trace the source; see `Importer.read`."""
        program = program_of(request)
        translation = Translation(program, request)
        found = translation.operations()
        graph = None
        if all(operation.status != "missing" for operation in found):
            graph = translation.graph()
        concrete = program.concrete.graph
        avals = [(x.dtype.name, "") for op in concrete.get_operations() for x in op.outputs]
        kept = [(name, place) for name, place in avals if name not in ("resource", "variant")]
        return Imported(self.framework, program.name, found, graph, kept)


class Translation:
    """Turns one concrete function into one Graph."""

    def __init__(self, program: Program, request: Request) -> None:
        self.program, self.request = program, request
        self.builder = GraphBuilder(program.name, "tensorflow", train=request.train)
        self.sizes = sizes.OpenSizes(self.builder)
        self.nodes: dict[Any, Node] = {}  # Given, Equation or Part → node
        self.of: dict[Node, Any] = {}  # the inverse
        self.equations: list[Any] = []
        self.depth = 0  # of the bodies that are being translated
        self.outer = NOWHERE  # of the operations that are being translated
        self.dropped: list[str] = []
        self.control_flow, self.lists = ControlFlow(self), TensorLists(self)
        self.shapes = shapes.Shapes(self)

    # -- coverage --------------------------------------------------------------------------

    def operations(self) -> list[Operation]:
        """The operations of the program, each with its function or missing."""
        graph = self.program.concrete.graph
        return operations_of(
            ((op.type, *_replacement(op, islands=self.request.islands)), place)
            for op, place in self._all_operations(graph, graph.outputs, NOWHERE)
            if op.type not in operations.IDENTITIES and op.type not in _BUILT_IN
        )

    def _all_operations(
        self, graph: Any, outputs: Sequence[Any], outer: Place
    ) -> Iterator[tuple[Any, Place]]:
        for op in operations.live_operations(graph, outputs):
            place = self.program.layers.place_of(op, outer)
            if op.type in operations.CALLS:
                for inner in operations.functions_of(op):
                    yield from self._all_operations(inner, inner.outputs, place)
            elif custom_gradients.has_own_derivative(op):
                rule = custom_gradients.rule_of(op).graph
                yield from self._all_operations(rule, rule.outputs, place)
            else:
                yield op, place

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
            shape = tuple([axes.get(k, int(n)) for k, n in enumerate(program.leaves[i].shape)])
            filled[i] = builder.argument(f"x_{i}", Aval(shape, shapes.dtype_of(placeholder)))
            self.sizes.read(filled[i], axes, program.leaves[i].shape)
            env[placeholder.ref()] = self.add(Given(), filled[i])
        for external, placeholder in concrete.captures:
            env[placeholder.ref()] = self._captured(external, cells)
        args, kwargs = plain(tree.unflatten(program.structure, filled))
        given = plain(tree.unflatten(program.structure, program.leaves))
        builder.sign(program.signed, args, kwargs)
        self.builder.place = program.definition
        self.translate(concrete, concrete.outputs, env)
        results = iter([self.node(env[x.ref()]) for x in concrete.outputs])
        leaves = [next(results) if _is_tensor(x) else x for x in program.output.leaves]
        nest = plain(tree.unflatten(program.output.structure, leaves))
        updates = {
            variable.path: self.node(first[id(variable.native.handle)].value)
            for variable in program.variables
            if first[id(variable.native.handle)].value is not before[id(variable.native.handle)]
        }
        source = TensorFlowSource("tensorflow", self.equations, self.nodes, *given)
        return builder.finish(
            nest, updates, source, self.sizes.sizes(), dropped=tuple(dict.fromkeys(self.dropped))
        )

    def _captured(self, external: Any, cells: Mapping[int, Cell]) -> Any:
        """A variable, or a tensor that the function names as a constant."""
        if external.dtype.name != "resource":
            return Value(known=external.numpy())
        if id(external) not in cells:
            raise ConversionError(
                f"trace_graph: {self.program.name} uses a resource that is no variable, such as a table "
                "or a queue; look up its values before the model"
            )
        return cells[id(external)]

    def add(self, equation: Any, node: Node | None) -> Value:
        """Add a value of the source, and its node if it has one."""
        self.equations.append(equation)
        if node is not None:
            self.name(equation, node)
        return Value(node, equation)

    def node(self, value: Value) -> Any:
        """The node of a value; a known one becomes a constant, or is computed of sizes."""
        if value.node is not None:
            return value.node
        if known_values.is_symbolic(value.known):
            return self._of_sizes(value.known)
        return self._constant(value).node

    def _constant(self, value: Value) -> Value:
        import tensorflow as tf

        array = tf.constant(value.known)
        name = f"c{len(self.builder.values['constants'])}"
        node = self.builder.variable("constants", name, array)
        made = self.add(Given(array), node)
        value.node, value.of = made.node, made.of
        return value

    def _of_sizes(self, known: np.ndarray) -> Node:
        """An integer array of sizes."""
        numbers = [self.sizes.node(x) for x in known.reshape(-1)]
        arrays = [
            self.builder.call("size", ops.full, "na.full", ((), n), {"dtype": dtypes.int32})
            for n in numbers
        ]
        if not known.shape:
            return arrays[0]
        return self.builder.call("sizes", ops.stack, "na.stack", (arrays,))

    # -- operations ----------------------------------------------------------------------------

    def translate(self, graph: Any, outputs: Sequence[Any], env: dict[Any, Any]) -> None:
        """Add the operations of a graph; `env` maps its tensors to Values and Cells."""
        live = operations.live_operations(graph, outputs)
        used = {x.ref() for op in live for x in operations.operands_of(op)}
        used |= {x.ref() for x in outputs}
        for op in live:
            if op.outputs and all(x.ref() in env for x in op.outputs):
                continue  # an argument
            inputs = [env[x.ref()] for x in operations.operands_of(op)]
            wanted = [x.ref() in used for x in op.outputs]
            outer, self.builder.place = self.builder.place, self.place(op)
            results = self._operation(op, inputs, wanted)
            self.builder.place = outer
            env.update((x.ref(), y) for x, y in zip(op.outputs, results))

    def _operation(self, op: Any, inputs: list[Any], wanted: list[bool]) -> list[Any]:
        """The values of the results of one operation."""
        name = op.type
        if name == "Const":
            return [Value(known=operations.constant_of(op))]
        if name in operations.IDENTITIES:
            return inputs[:1]
        if custom_gradients.has_own_derivative(op):
            return self.control_flow.with_rule(op, inputs)
        if name == "IdentityN":
            return inputs[: len(op.inputs)]
        if name in operations.DROPPED:
            return []
        if name in operations.READS:
            return [inputs[0].value]
        if name == "AssignVariableOp":
            inputs[0].value = inputs[1]
            return []
        if name in operations.WRITES:
            return self._write(op, *inputs)
        if name in operations.INLINED:
            (called,) = operations.functions_of(op)
            return self.control_flow.inlined(op, called, inputs)
        if name in operations.CALLS:
            return self.control_flow.call(op, inputs)
        if name in random_ops.KEY_COUNTERS:
            return self._key_counter(op, inputs)
        if name in random_ops.RULES:
            return self._call(op, inputs, wanted)
        if name in TENSOR_LISTS:
            return self.lists.call(op, inputs)
        if any(isinstance(x, TensorList) for x in inputs):
            return self.lists.sum(op, inputs)
        known = [x.known if isinstance(x, Value) else None for x in inputs]
        if name in shapes.OPERATIONS:
            return [self.shapes.shape(op, x) for x in inputs]
        if inputs and all(x is not None for x in known) and not op.op_def.is_stateful:
            found = known_values.computed(op, _run_on_arrays, [x for x in known if x is not None])
            if found is not None:
                return [Value(known=x) for x in found]
        length = known_values.limit(op)
        if length is not None:
            return [Value(known=length)]
        return self._call(op, inputs, wanted)

    @contextlib.contextmanager
    def inside(self, op: Any) -> Iterator[None]:
        """Translate the functions of an operation."""
        outer, self.outer = self.outer, self.program.layers.place_of(op, self.outer)
        try:
            yield
        finally:
            self.outer = outer

    def _call(self, op: Any, inputs: list[Any], wanted: list[bool]) -> list[Any]:
        """A call of the function of an operation."""
        rule = _rule(op)
        if rule is None:
            call = self._island(op, inputs)
        else:
            call = rule.call(self._arguments(op, rule, inputs))
        is_single = not operations.has_many_results(op)
        equation = Equation(
            op, [self.given(x, at) for x, at in zip(inputs, op.inputs)], self.builder.place
        )
        avals = self.shapes.avals(op, inputs, call)
        node = self.builder.call(
            _value_name(op.type),
            call.function,
            call.name,
            call.args,
            call.kwargs,
            aval=avals[0] if is_single else None,
            origin=op.type,
            is_random=call.is_random,
        )
        if is_single:
            return [self.value(equation, node)]
        if not equation.is_single:
            self.value(equation, None)
        results: list[Any] = []
        for i, (aval, is_used) in enumerate(zip(avals, wanted, strict=True)):
            if is_used:
                item = self.builder.item(node, i, aval=aval)
                part = equation if equation.is_single else Part(equation, i)
                results.append(self.value(part, item))
            else:
                results.append(None)
        return results

    def _island(self, op: Any, inputs: list[Any]) -> rules.Call:
        """A call in TensorFlow, on the host."""
        takes = tuple([shapes.dtype_of(x) for x in op.inputs])
        args = (name_of(op, self.builder.place), *map(self.node, inputs))
        settings = {"framework": "tensorflow", "takes": takes}
        return rules.Call(island, "na.graph.island", args, settings)

    def _key_counter(self, op: Any, inputs: list[Any]) -> list[Any]:
        """The key and the counter of a seed, which its draws read from the seed."""
        equation = None
        if not self.depth:
            equation = Equation(op, [self.given(inputs[0], op.inputs[0])], self.builder.place)
            self.add(equation, None)
        made = [self.part(equation, i) if equation else None for i in range(len(op.outputs))]
        node = self.node(inputs[0])
        return [Value(node, part) for part in made]

    def _write(self, op: Any, cell: Cell, *operands: Value) -> list[Any]:
        """A change of a variable, as a call on its value."""
        name = operations.WRITES[op.type].name
        rule = vocabulary.find(name)
        assert rule is not None
        given = [self.given(x, at) for x, at in zip((cell, *operands), op.inputs)]
        old = self.node(cell.value)
        node = self.builder.call(
            _value_name(name), rule.function, rule.name, (old, *map(self.node, operands)),
            aval=old.aval, origin=op.type,
        )  # fmt: skip
        equation = Equation(op, given, self.builder.place, (0,))
        if self.depth:
            cell.value = Value(node)
        else:
            self.add(equation, None)
            cell.value = self.add(Part(equation, 0), node)
        return []

    def value(self, equation: Any, node: Node | None) -> Value:
        """The value of a node, whose equation is added outside of bodies."""
        return Value(node) if self.depth else self.add(equation, node)

    def name(self, equation: Any, node: Node) -> None:
        """Give an equation its node; the first equation of a node has it."""
        if node not in self.of:
            self.nodes[equation] = node
            self.of[node] = equation

    def part(self, equation: Any, index: int) -> Any:
        """One of the results of an operation that has no node, such as a list."""
        if equation.is_single:
            return equation
        part = Part(equation, index)
        self.equations.append(part)
        return part

    def place(self, op: Any) -> Place:
        """The layer and the line of an operation."""
        return self.program.layers.place_of(op, self.outer)

    def given(self, value: Any, tensor: Any) -> Any:
        """An operand in an equation of the source."""
        if self.depth:
            return None
        if isinstance(value, Cell):
            return Cell(self.given(value.value, tensor))
        if value.of is not None:
            return value.of
        if isinstance(value, TensorList):
            return None
        if known_values.is_symbolic(value.known):
            arrays = {node: self.of[node] for node in _arrays_of(value.known)}
            equation = Sizes(value.known, tensor.dtype, arrays)
            self.equations.append(equation)
            return equation
        return value.known

    def _arguments(self, op: Any, rule: rules.Rule, inputs: list[Any]) -> dict[str, Any]:
        """The arguments of a call by the names of the operation's."""
        parameters = rules.signature_of(rule.function).parameters
        number = op.type in _TAKE_NUMBERS and any(_node_of(x) is not None for x in inputs)
        found: dict[str, Any] = {}
        for name, value in operations.arguments_of(op, inputs).items():
            is_array = name in parameters and _takes_array(parameters[name])
            if isinstance(value, list):
                found[name] = [self._argument(x, is_array, number) for x in value]
            else:
                found[name] = self._argument(value, is_array, number)
        names = operations.parameter_names(op)
        for attribute in op.op_def.attr:
            # functions of numbers have a parameter for the dtype that TensorFlow infers
            name = names.get(attribute.name) or str(attribute.name)
            if name in parameters:
                value = _setting(op.get_attr(attribute.name))
                if not _is_equal(value, parameters[name].default):
                    found[name] = value
        return found

    def _argument(self, value: Any, is_array: bool, number: bool) -> Any:
        """A node, a number, or the elements of a known value."""
        if isinstance(value, Cell):
            value = value.value
        if value.known is None or (value.node is not None and is_array):
            return self.node(value)
        if not is_array:
            return _elements(self.sizes, value.known)
        if number and not known_values.is_symbolic(value.known):
            scalar = _number(value.known)
            if scalar is not None:
                return scalar
        return self.node(value)


#: Operations that the importer translates itself.
_BUILT_IN = frozenset(
    [*operations.CALLS, *operations.WRITES, *operations.READS, *shapes.OPERATIONS, "Const", "Placeholder",
     "IdentityN", *TENSOR_LISTS, *random_ops.KEY_COUNTERS]
)  # fmt: skip


def _replacement(op: Any, *, islands: bool) -> tuple[str, str, str]:
    """(status, function, why it is missing) of an operation."""
    if op.type in operations.DROPPED:
        return "dropped", "", ""
    rule = _rule(op)
    if rule is not None:
        return "function", rule.name, ""
    if may_be_island(op, islands=islands):
        return "island", "na.graph.island", ""
    names = {x.dtype.name for x in (*op.inputs, *op.outputs)}
    known = [reason for name, reason in _NO_ARRAYS.items() if name in names or name in op.type]
    remedy = "; islands=True would run it in TensorFlow on the host"
    can_be_island = may_be_island(op, islands=True)
    reason = known[0] if known else "there is no function of that name"
    reason = _refused_attributes(op) or reason
    return "missing", "", reason + remedy * can_be_island


#: Dtype, or a part of an operation's name → why a graph does not have the operation.
_NO_ARRAYS = {
    "RngReadAndSkip": "it advances a tf.random.Generator; draw with tf.random.stateless_normal and a seed",
    "Ragged": "it computes with ragged tensors, which a graph does not have; pass a dense tensor and a mask",
    "string": "it computes with strings, which a graph does not have",
    "resource": "it uses a resource that is no variable, such as a table, a queue or an iterator; pass "
    "its values as an argument",
    "variant": "it uses a value that is no array, such as a dataset; pass its arrays as arguments",
}


def _rule(op: Any) -> rules.Rule | None:
    """The rule of an operation whose attributes it takes."""
    if _refused_attributes(op):
        return None
    return random_ops.RULES.get(op.type) or vocabulary.find(op.type)


def _refused_attributes(op: Any) -> str:
    """The attributes that the function of an operation does not take, and the remedy.

    An attribute of a later release at its default is accepted; empty if all are.
    """
    rule = vocabulary.find(op.type)
    if rule is None:
        return ""
    names, parameters = operations.parameter_names(op), rules.signature_of(rule.function).parameters
    inferred = operations.inferred(op)
    for attribute in op.op_def.attr:
        name = str(attribute.name)
        is_known = names.get(name, name) in parameters or name in vocabulary.NO_EFFECT
        if is_known or name in inferred or not attribute.HasField("default_value"):
            continue
        if op.node_def.attr[name] != attribute.default_value and attribute.type != "type":
            import tensorflow as tf

            return (
                f"attribute {name}={_setting(op.get_attr(name))!r} (TensorFlow {tf.__version__}) "
                f"is unknown; use the default {_default(attribute)!r}, or update nestarray"
            )
    return ""


def _default(attribute: Any) -> Any:
    """The default of an attribute of an operation."""
    value = attribute.default_value
    default = getattr(value, value.WhichOneof("value"))
    return default.decode() if isinstance(default, bytes) else default


def _value_name(operation: str) -> str:
    """``"batch_mat_mul"`` for ``"BatchMatMulV2"``."""
    base = re.sub(r"V\d$", "", operation)
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", base).lower()


def _run_on_arrays(op: Any, values: Sequence[np.ndarray]) -> list[Any]:
    """The results of an operation, on the host."""
    import tensorflow as tf

    with tf.init_scope():
        return [y.numpy() for y in execution.run(op, [tf.constant(x) for x in values])]


def _is_tensor(x: Any) -> bool:
    import tensorflow as tf

    return tf.is_tensor(x)


def _takes_array(parameter: Any) -> bool:
    """Whether a parameter is an operand; others are settings that TensorFlow passes as tensors."""
    is_operand = "Array" in str(parameter.annotation) or parameter.annotation == "Any"
    return is_operand and parameter.name != "alg"


def _node_of(value: Any) -> Any:
    return value.value.node if isinstance(value, Cell) else value.node


def _number(array: np.ndarray) -> Any:
    """The Python number of a 0-d array; None for others, bools and complex numbers."""
    found = array.item() if array.shape == () else None
    return found if type(found) in (int, float) else None


def _elements(open_sizes: sizes.OpenSizes, known: np.ndarray) -> Any:
    """A known value as a number, or as a nest of lists of numbers and nodes."""
    if not known_values.is_symbolic(known):
        return known.tolist()
    if known.shape:
        return [_elements(open_sizes, np.asarray(x, object)) for x in known]
    return open_sizes.node(known.item())


def _arrays_of(known: np.ndarray) -> Iterator[Node]:
    """The arrays whose sizes are part of a known value."""
    wanted = [x for x in known.reshape(-1) if isinstance(x, sizes.Dim)]
    while wanted:
        function, operands = wanted.pop().made
        if function is None:
            yield operands[0]
        else:
            wanted += [x for x in operands if isinstance(x, sizes.Dim)]


def _setting(value: Any) -> Any:
    """An attribute as graphs hold it."""
    import tensorflow as tf

    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, tf.DType):
        return dtypes.as_dtype(value.name)
    if isinstance(value, list):
        return [_setting(x) for x in value]
    if hasattr(value, "unknown_rank"):  # a TensorShapeProto
        shape = tf.TensorShape(value)
        return None if shape.rank is None else list(shape)
    return value


def _is_equal(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, (list, tuple)):
        return list(a) == list(b)
    return type(a) is type(b) and a == b
