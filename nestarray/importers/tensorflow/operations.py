"""Operations of concrete functions: their arguments, and the functions that they call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import tensorflow as tf

from nestarray.importers.tensorflow import custom_gradients

#: Operation → its attributes with the functions that it calls.
CALLS = {
    "PartitionedCall": ("f",),
    "StatefulPartitionedCall": ("f",),
    "RemoteCall": ("f",),
    "While": ("cond", "body"),
    "StatelessWhile": ("cond", "body"),
    "If": ("then_branch", "else_branch"),
    "StatelessIf": ("then_branch", "else_branch"),
    "Case": ("branches",),
    "StatelessCase": ("branches",),
}
INLINED = ("PartitionedCall", "StatefulPartitionedCall")


class Write(NamedTuple):
    """An operation that changes a variable.

    Attributes:
        name: the operation that computes the new value from the old one and the other operands.
        run: the same as a function of tensors.
    """

    name: str
    run: Callable[..., Any]


def _rows(function: str) -> Callable[..., Any]:
    """A function that changes rows of a tensor."""

    def change(old: Any, indices: Any, updates: Any) -> Any:
        return getattr(tf, function)(old, indices[..., None], updates)

    return change


def _tuples(function: str) -> Callable[..., Any]:
    """A function that changes elements of a tensor."""

    def change(old: Any, indices: Any, updates: Any) -> Any:
        return getattr(tf, function)(old, indices, updates)

    return change


#: Operations that write a variable.
WRITES = {
    "AssignVariableOp": Write("Identity", lambda old, new: new),
    "AssignAddVariableOp": Write("AddV2", lambda old, new: old + new),
    "AssignSubVariableOp": Write("Sub", lambda old, new: old - new),
    "ResourceScatterUpdate": Write("InplaceUpdate", _rows("tensor_scatter_nd_update")),
    "ResourceScatterAdd": Write("InplaceAdd", _rows("tensor_scatter_nd_add")),
    "ResourceScatterSub": Write("InplaceSub", _rows("tensor_scatter_nd_sub")),
    "ResourceScatterNdUpdate": Write("TensorScatterUpdate", _tuples("tensor_scatter_nd_update")),
    "ResourceScatterNdAdd": Write("TensorScatterAdd", _tuples("tensor_scatter_nd_add")),
    "ResourceScatterNdSub": Write("TensorScatterSub", _tuples("tensor_scatter_nd_sub")),
}
READS = ("ReadVariableOp",)
#: Operations without effect on values.
IDENTITIES = (
    "Identity", "Snapshot", "PreventGradient", "CheckNumerics", "EnsureShape", "ShardyXlaSplit",
    "CheckNumericsV2", "DebugIdentityV2", "PlaceholderWithDefault", "OptimizationBarrier",
)  # fmt: skip


class Cell:
    """The value of a variable while a program runs.

    Attributes:
        value: of the source, or the node's.
    """

    def __init__(self, value: Any) -> None:
        self.value = value


def functions_of(op: Any) -> list[Any]:
    """The graphs of the functions that an operation calls."""
    graphs = []
    for attribute in CALLS[op.type]:
        called = op.get_attr(attribute)
        for each in called if isinstance(called, list) else [called]:
            graphs.append(_graph_of(op, each.name))
    if "_XlaMustCompile" in op.node_def.attr:
        _COMPILED.update(graphs)
    return graphs


def _graph_of(op: Any, name: str) -> Any:
    graph = op.graph
    while graph is not None:
        function = graph._get_function(name)
        if function is not None:
            return (
                function.graph if hasattr(function, "graph") else _graph_of_version_1(op, function)
            )
        graph = getattr(graph, "outer_graph", None)
    raise AssertionError(name)


def is_compiled(op: Any) -> bool:
    """Whether the function of an operation, or one around it, has ``jit_compile=True``."""
    graph = op.graph
    while graph is not None and graph not in _COMPILED:
        graph = getattr(graph, "outer_graph", None)
    return graph is not None


#: The graphs of functions with ``jit_compile=True``.
_COMPILED: WeakSet[Any] = WeakSet()
#: Graph → operation and name of a function of TensorFlow 1 → its graph for that operation.
_VERSION_1: WeakKeyDictionary[Any, dict[tuple[str, str], Any]] = WeakKeyDictionary()


def _graph_of_version_1(op: Any, function: Any) -> Any:
    """The graph of a function of TensorFlow 1, for the operands of a call; it has no graph itself."""
    from tensorflow.python.framework.function_def_to_graph import function_def_to_graph

    known, key = _VERSION_1.setdefault(op.graph, {}), (op.name, function.name)
    if key not in known:
        definition = _inlined(op.graph, function.definition)
        definition.arg_attr.clear()  # unknown shapes
        count = len(definition.signature.input_arg)
        shapes = [x.shape for x in op.inputs][-count:]
        with op.graph.as_default():
            known[key] = function_def_to_graph(definition, input_shapes=shapes)
    return known[key]


def _inlined(graph: Any, definition: Any) -> Any:
    """A function's definition without calls, whose type in version 1 is the name of a function."""
    flat = type(definition)()
    flat.CopyFrom(definition)
    del flat.node_def[:]
    results: dict[str, str] = {}
    for node in definition.node_def:
        called = graph._get_function(node.op)
        if called is None:
            flat.node_def.append(node)
            continue
        inner = _inlined(graph, called.definition)
        arguments = {x.name: y for x, y in zip(inner.signature.input_arg, node.input)}
        for each in inner.node_def:
            each.name = f"{node.name}/{each.name}"
            data = [x for x in each.input if x[0] != "^"]  # without those that only come before
            each.input[:] = [arguments.get(x, f"{node.name}/{x}") for x in data]
            flat.node_def.append(each)
        for name, x in inner.ret.items():
            results[f"{node.name}:{name}:0"] = arguments.get(x, f"{node.name}/{x}")
    for node in flat.node_def:
        node.input[:] = [_resolved(x, results) for x in node.input]
    for name, x in definition.ret.items():
        flat.ret[name] = _resolved(x, results)
    return flat


def _resolved(name: str, results: Mapping[str, str]) -> str:
    while name in results:
        name = results[name]
    return name


def writes(op: Any) -> bool:
    """Whether an operation, or one in a function that it calls, writes a variable."""
    if op.type in WRITES:
        return True
    return op.type in CALLS and any(
        writes(inner) for graph in functions_of(op) for inner in graph.get_operations()
    )


def written_arguments(graph: Any) -> set[str]:
    """The names of the arguments of a graph that are variables which it writes."""
    written: set[str] = set()
    for op in graph.get_operations():
        if op.type in CALLS and writes(op):
            written.update(op.inputs[i].name for i in written_inputs(op))
        elif op.type in WRITES:
            written.add(op.inputs[0].name)
    return written


def written_inputs(op: Any) -> list[int]:
    """The indices of the variables among the operands of a call that its functions write."""
    first = 0 if op.type in (*INLINED, "While", "StatelessWhile") else 1
    places: set[int] = set()
    for graph in functions_of(op):
        names = written_arguments(graph)
        places.update(i + first for i, x in enumerate(graph.inputs) if x.name in names)
    return sorted(places)


def live_operations(graph: Any, outputs: Sequence[Any]) -> list[Any]:
    """The operations that results and writes of a graph need, each after those that it needs.

    That is the order in which they were made, but for those that a gradient adds to a loop before.
    """
    everything = graph.get_operations()
    pending = [x.op for x in outputs]
    pending += [op for op in everything if op.type in WRITES or (op.type in CALLS and writes(op))]
    live: set[str] = set()
    while pending:
        op = pending.pop()
        if op.name not in live:
            live.add(op.name)
            pending.extend(x.op for x in operands_of(op))
    ordered: dict[str, Any] = {}
    for last in everything:
        stack = [last]
        while stack:
            op = stack.pop()
            if op.name in ordered or op.name not in live:
                continue
            needed = [*(x.op for x in operands_of(op)), *op.control_inputs]
            missing = [x for x in needed if x.name in live and x.name not in ordered]
            if missing:
                stack += [op, *reversed(missing)]
            else:
                ordered[op.name] = op
    return list(ordered.values())


def operands_of(op: Any) -> list[Any]:
    """The tensors that an operation reads, its gradient included."""
    return [*op.inputs, *custom_gradients.captured(op)]


def function_of(name: str) -> Callable[..., Any]:
    """The function of an operation on tensors; ``tf.raw_ops`` lacks operations of XLA."""
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

    return getattr(tf.raw_ops, name, None) or getattr(gen_xla_ops, name)


def arguments_of(op: Any, values: Sequence[Any]) -> dict[str, Any]:
    """Operands by the names that ``tf.raw_ops`` gives them; lists for repeated ones."""
    arguments, at, names = {}, 0, parameter_names(op)
    for arg in op.op_def.input_arg:
        count = None
        if arg.number_attr:
            count = op.get_attr(arg.number_attr)
        elif arg.type_list_attr:
            count = len(op.get_attr(arg.type_list_attr))
        if count is None:
            arguments[names[arg.name]] = values[at]
            at += 1
        else:
            arguments[names[arg.name]] = list(values[at : at + count])
            at += count
    return arguments


def inferred(op: Any) -> frozenset[str]:
    """The attributes that the operands determine."""
    names = set()
    for arg in op.op_def.input_arg:
        names |= {arg.type_attr, arg.number_attr, arg.type_list_attr}
    return frozenset(names - {""})


def parameter_names(op: Any) -> dict[str, str]:
    """Name of an argument or an attribute → its name in ``tf.raw_ops``."""
    if op.type not in _NAMES:
        known = inferred(op)
        names = [x.name for x in op.op_def.input_arg]
        names += [x.name for x in op.op_def.attr if x.name not in known]
        parameters = inspect.signature(function_of(op.type)).parameters
        renamed = [name for name in names if name not in parameters]
        others = [name for name in parameters if name not in (*names, "name")]
        _NAMES[op.type] = {name: name for name in names} | dict(zip(renamed, others, strict=True))
    return _NAMES[op.type]


_NAMES: dict[str, dict[str, str]] = {}


def attributes_of(op: Any) -> dict[str, Any]:
    """The attributes that the operands do not determine, by their names in ``tf.raw_ops``."""
    names = parameter_names(op)
    return {names[a.name]: _attribute(op, a) for a in op.op_def.attr if a.name in names}


def _attribute(op: Any, attribute: Any) -> Any:
    value = op.get_attr(attribute.name)
    if attribute.type == "shape":
        return tf.TensorShape(value)
    if attribute.type == "list(shape)":
        return [tf.TensorShape(x) for x in value]
    return value


def has_many_results(op: Any) -> bool:
    """Whether the function of an operation returns a sequence."""
    results = op.op_def.output_arg
    return len(results) != 1 or bool(results[0].number_attr or results[0].type_list_attr)


def constant_of(op: Any) -> np.ndarray:
    """The value of a constant."""
    return tf.make_ndarray(op.get_attr("value"))
