"""Operations of concrete functions, run again.

``tf.raw_ops`` has a function for each operation. A function that an operation calls runs operation
by operation, so that TensorFlow differentiates its loops in every mode. A variable is a `Cell`: an
operation reads and writes the value in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from nestarray.frontends.tensorflow.vocabulary import IGNORED
from nestarray.importers.tensorflow import custom_gradients, version_1
from nestarray.importers.tensorflow.operations import (
    CALLS,
    INLINED,
    READS,
    WRITES,
    Cell,
    arguments_of,
    attributes_of,
    function_of,
    functions_of,
    has_many_results,
    is_compiled,
    live_operations,
    operands_of,
    written_inputs,
)  # fmt: skip


def run(op: Any, values: Sequence[Any]) -> list[Any]:
    """The results of one operation on tensors; Cells represent variables."""
    if op.type in CALLS:
        return _CONTROL_FLOW[op.type](op, list(values))
    if op.type == "Const":
        return [tf.constant(tf.make_ndarray(op.get_attr("value")))]
    if op.type in READS:
        return [values[0].value]
    if op.type in WRITES:
        values[0].value = WRITES[op.type].run(values[0].value, *values[1:])
        return []
    if custom_gradients.has_rule(op):
        return _with_rule(op, values)
    if op.type in ("IdentityN", "PlaceholderWithDefault"):
        return [tf.identity(x) for x in values]
    operands = [x.value if isinstance(x, Cell) else x for x in values]
    if op.type == "ResourceGather":
        return [tf.gather(operands[0], operands[1], batch_dims=op.get_attr("batch_dims"))]
    if op.type == "ResourceGatherNd":
        return [tf.gather_nd(operands[0], operands[1])]
    function = function_of(op.type)
    call = functools.partial(function, **arguments_of(op, operands), **attributes_of(op))
    if is_compiled(op):  # XLA has kernels that the CPU lacks
        call = tf.function(call, autograph=False, jit_compile=True)
    results = call()
    if not has_many_results(op):
        return [results]
    if isinstance(results, (list, tuple)):
        return [x for part in results for x in (part if isinstance(part, list) else [part])]
    return [] if results is None or not op.outputs else [results]


def _with_rule(op: Any, values: Sequence[Any]) -> list[Any]:
    """The operands of an operation with a custom gradient, with the gradients of its rule."""
    rule, count = custom_gradients.rule_of(op), len(op.inputs)
    captured = values[count:]

    @tf.custom_gradient
    def call(*arrays: Any) -> Any:
        def gradient(*cotangents: Any) -> list[Any]:
            slopes = interpret(rule.graph, [*cotangents, *captured])
            return [None if i is None else slopes[i] for i in rule.outputs]

        return [tf.identity(x) for x in arrays], gradient

    return list(call(*values[:count]))


def interpret(graph: Any, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of a function's graph, operation by operation."""
    if version_1.is_of_version_1(graph):
        return version_1.outputs(graph, inputs, run)
    values = {x.ref(): value for x, value in zip(graph.inputs, inputs, strict=True)}
    for op in live_operations(graph, graph.outputs):
        if op.type == "Placeholder" or op.type in IGNORED:
            continue
        results = run(op, [values[x.ref()] for x in operands_of(op)])
        values.update((x.ref(), y) for x, y in zip(op.outputs, results, strict=True))
    return [values[x.ref()] for x in graph.outputs]


def retraced(concrete: Any, specs: Sequence[Any]) -> Any:
    """A concrete function without calls and without operations of TensorFlow 1."""
    variables = {id(x.handle): x for x in concrete.graph.variables}
    captured = [
        _Captured(variables[id(x)]) if id(x) in variables else x for x, _ in concrete.graph.captures
    ]

    def whole(*arrays: Any) -> list[Any]:
        return interpret(concrete.graph, [*arrays, *captured])

    return tf.function(whole, autograph=False).get_concrete_function(*specs)


class _Captured(Cell):
    """A variable of a function that is traced."""

    def __init__(self, variable: Any) -> None:
        self._variable = variable

    @property
    def value(self) -> Any:
        """A read."""
        return self._variable.read_value()

    @value.setter
    def value(self, new: Any) -> None:
        self._variable.assign(new)


def _called(op: Any, values: list[Any]) -> list[Any]:
    (graph,) = functions_of(op)
    return interpret(graph, values[len(values) - len(graph.inputs) :])  # RemoteCall has a target


def _loop(op: Any, values: list[Any]) -> list[Any]:
    cond, body = functions_of(op)
    written = written_inputs(op)
    moving = [i for i, x in enumerate(values) if not isinstance(x, Cell)]

    def filled(arrays: Sequence[Any], cells: Sequence[Any]) -> list[Any]:
        found = list(values)
        for i, x in zip(moving, arrays, strict=True):
            found[i] = x
        for i, x in zip(written, cells, strict=True):
            found[i] = Cell(x)
        return found

    def go_on(arrays: Any, cells: Any) -> Any:
        return interpret(cond, filled(arrays, cells))[0]

    def step(arrays: Any, cells: Any) -> Any:
        given = filled(arrays, cells)
        found = interpret(body, given)
        return [found[i] for i in moving], [given[i].value for i in written]

    shapes = op.get_attr("output_shapes")
    invariants = [
        tf.TensorShape(shapes[i]) if shapes and values[i].dtype != tf.variant else None
        for i in moving
    ]
    start = [values[i] for i in moving], [values[i].value for i in written]
    fixed = None
    if not tf.executing_eagerly() and None not in invariants:
        fixed = (invariants, [x.shape for x in start[1]])
    arrays, cells = tf.while_loop(go_on, step, start, shape_invariants=fixed)
    found = filled(arrays, cells)
    for i, x in zip(written, cells, strict=True):
        values[i].value = x
        found[i] = values[i]
    return found


def _choice(op: Any, values: list[Any]) -> list[Any]:
    index, *operands = values
    written = [i - 1 for i in written_inputs(op)]

    def branch(graph: Any) -> Callable[[], Any]:
        def choose() -> Any:
            arguments = [Cell(x.value) if isinstance(x, Cell) else x for x in operands]
            return interpret(graph, arguments), [arguments[i].value for i in written]

        return choose

    branches = [branch(graph) for graph in functions_of(op)]
    if op.type.endswith("Case"):
        results, cells = tf.switch_case(index, branches)
    else:
        is_true = tf.cast(index, tf.bool) if index.dtype != tf.bool else index
        results, cells = tf.cond(is_true, *branches)
    for i, x in zip(written, cells, strict=True):
        operands[i].value = x
    return list(results)


_CONTROL_FLOW: Mapping[str, Callable[[Any, list[Any]], list[Any]]] = {
    **dict.fromkeys(INLINED, _called),
    "RemoteCall": _called,
    **dict.fromkeys(("While", "StatelessWhile"), _loop),
    **dict.fromkeys(("If", "StatelessIf", "Case", "StatelessCase"), _choice),
}
