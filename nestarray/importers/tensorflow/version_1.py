"""Graphs of TensorFlow 1: loops and choices as those of TensorFlow 2.

A loop is a cycle: Enter gives a first value, Merge the value of a step, Switch ends the loop by its
LoopCond, NextIteration goes back to Merge, and Exit gives the last value. A choice is a set of
Switches with one predicate, and Merges of their two branches. `outputs` runs both as
``tf.while_loop`` and ``tf.cond``. A handle of TensorArrayV3 is a ``tf.TensorArray``, its flow is
the array's list. A reference variable is a ``tf.Variable``.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import tensorflow as tf

from nestarray.errors import ConversionError
from nestarray.frontends.tensorflow.vocabulary import IGNORED
from nestarray.importers.tensorflow import loops, operations

#: Operation → results, on tensors.
Run = Callable[[Any, Sequence[Any]], list[Any]]
#: Name of an operation → its results.
Values = ChainMap[str, list[Any]]

_REFERENCES = ("VariableV2", "Variable")
_TYPES = frozenset([*_REFERENCES, "Merge", "RefMerge", "TensorArrayV3"])


def is_of_version_1(graph: Any) -> bool:
    """Whether a graph has operations of TensorFlow 1."""
    return any(op.type in _TYPES for op in graph.get_operations())


def calls_version_1(graph: Any) -> bool:
    """Whether a graph, or a function that it calls, has operations of TensorFlow 1."""
    calls = [op for op in graph.get_operations() if op.type in operations.CALLS]
    return is_of_version_1(graph) or any(
        calls_version_1(inner) for op in calls for inner in operations.functions_of(op)
    )


def outputs(graph: Any, inputs: Sequence[Any], run: Run) -> list[Any]:
    """The outputs of a graph with operations of TensorFlow 1.

    Raises:
        ConversionError: an output has a value in one branch of a choice only.
    """
    return _Dataflow(graph, run).outputs(inputs)


class _Choice(NamedTuple):
    """A Merge of two branches.

    Attributes:
        predicate: the name of the operation whose result chooses.
        outer: the other branches in which the Merge is: pairs of a predicate and its value.
        level: the number of Merges of this predicate on which the Merge depends.
        branches: the index of the input for False, and the one for True.
    """

    predicate: str
    outer: frozenset[tuple[str, int]]
    level: int
    branches: tuple[int, int]


class _Loop(NamedTuple):
    """A loop.

    Attributes:
        condition: the tensor that continues it.
        merges: the operations that give the values of a step.
        reads: the operations outside whose results it reads.
    """

    condition: Any
    merges: list[Any]
    reads: list[Any]


class _Dataflow:
    """The operations of one graph, whose loops and choices run as functions."""

    def __init__(self, graph: Any, run: Run) -> None:
        self._graph, self._run_operation = graph, run
        everything = graph.get_operations()
        self._writes = any(op.type in operations.WRITES for op in everything)
        written = [op for op in graph.control_outputs if op.type in operations.WRITES]
        self._wanted = [*written, *(x.op for x in graph.outputs)]
        self._live = {op.name for op in _ordered(self._wanted, self._inputs)}
        self._loops: dict[str, _Loop] = {}
        self._reads: dict[str, list[Any]] = {}  # Merge of a choice → the operations before it
        self._choices: dict[str, _Choice] = {}
        self._branches: dict[str, frozenset[tuple[str, int]]] = {}
        self._levels: dict[str, dict[str, int]] = {}  # operation → predicate → Merges before it
        for op in _ordered(everything, self._sources):
            self._analyze(op)

    def outputs(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of the graph."""
        pairs = zip(self._graph.inputs, inputs, strict=True)
        values: Values = ChainMap({x.op.name: [y] for x, y in pairs})
        self._run(self._wanted, values, {})
        return [_value(x, values) for x in self._graph.outputs]

    # -- structure -----------------------------------------------------------------------------

    def _inputs(self, op: Any) -> list[Any]:
        """The operations that an operation reads; in graphs with writes, those before it too."""
        return [*(x.op for x in op.inputs), *(op.control_inputs if self._writes else ())]

    def _sources(self, op: Any) -> list[Any]:
        """The operations before an operation, without the way back in a loop."""
        inputs = op.inputs[:1] if _is_merge_of_loop(op) else op.inputs
        return [*(x.op for x in inputs), *op.control_inputs, *self._skipping_loops(op)]

    def _analyze(self, op: Any) -> None:
        """Find the branches in which an operation is, and its choice if it ends one."""
        levels: dict[str, int] = {}
        for other in self._sources(op):
            for predicate, level in self._levels.get(other.name, {}).items():
                levels[predicate] = max(level, levels.get(predicate, 0))
        self._levels[op.name] = levels
        if not _is_choice(op):
            branches = [self._branches.get(x.name, frozenset()) for x in op.control_inputs]
            self._branches[op.name] = frozenset().union(*branches, *map(self._branch, op.inputs))
            return
        false, true = map(self._branch, op.inputs)
        outer = false & true
        pairs = {(p, b) for p, b in false - outer if (p, 1 - b) in true}
        pairs = pairs or false - outer or {(p, 1 - b) for p, b in true - outer}
        if not pairs:
            raise ConversionError(
                f"trace_graph: {op.name}: got a Merge of TensorFlow 1 whose inputs are not the "
                "branches of one choice, expected the graph as tf.compat.v1.cond made it"
            )
        predicate, value = min(pairs)
        self._branches[op.name] = outer
        level = levels.get(predicate, 0)
        self._choices[op.name] = _Choice(predicate, outer, level, (value, 1 - value))
        levels[predicate] = level + 1

    def _branch(self, tensor: Any) -> frozenset[tuple[str, int]]:
        """The branches in which a tensor is."""
        branches = self._branches.get(tensor.op.name, frozenset())
        if not _is_branch(tensor.op):
            return branches
        return branches | {(_predicate(tensor.op), tensor.value_index)}

    def _loop_of(self, switch: Any) -> _Loop:
        """The loop of a Switch."""
        condition = switch.inputs[1].op
        if condition.name not in self._loops:
            switches = [op for op in condition.outputs[0].consumers() if _kind(op) == "Switch"]
            merges = {op.inputs[0].op.name: op.inputs[0].op for op in switches}
            reads = {}

            def inside(op: Any) -> list[Any]:
                if _kind(op) == "Enter":
                    reads[op.inputs[0].op.name] = op.inputs[0].op
                    return []
                if _is_merge_of_loop(op):
                    merges[op.name] = op
                return self._skipping_loops(op)

            list(_ordered([condition, *merges.values()], inside))
            live = [op for op in merges.values() if op.name in self._live]
            loop = _Loop(condition.inputs[0], live, list(reads.values()))
            self._loops[condition.name] = loop
        return self._loops[condition.name]

    def _skipping_loops(self, op: Any) -> list[Any]:
        """The operations that an operation reads; of a loop, those before it."""
        return self._loop_of(op.inputs[0].op).reads if _kind(op) == "Exit" else self._inputs(op)

    def _alternatives(self, op: Any) -> list[Any]:
        """The needed Merges that choose with a Merge."""
        of = self._choices[op.name][:3]
        names = [name for name, choice in self._choices.items() if choice[:3] == of]
        return [self._graph.get_operation_by_name(name) for name in names if name in self._live]

    def _read_by_choice(self, op: Any) -> list[Any]:
        """The operations outside of a choice that the branches of a Merge read."""
        if op.name in self._reads:
            return self._reads[op.name]
        predicate = self._choices[op.name].predicate
        reads = {predicate: self._graph.get_operation_by_name(predicate)}

        def inside(each: Any) -> list[Any]:
            if _is_branch(each) and _predicate(each) == predicate:
                reads[each.inputs[0].op.name] = each.inputs[0].op
                return []
            return self._skipping_loops(each)

        list(_ordered([x.op for x in op.inputs], inside))
        self._reads[op.name] = list(reads.values())
        return self._reads[op.name]

    # -- values --------------------------------------------------------------------------------

    def _run(self, operations: Sequence[Any], values: Values, known: Mapping[str, int]) -> None:
        """Run the operations of one region: the graph, a branch, or a function of a loop.

        Args:
            wanted: the operations, without those that they need.
            values: takes the results.
            known: predicate → its value in this branch.
        """

        def needed(op: Any) -> list[Any]:
            if op.name in values:
                return []
            if _kind(op) == "Exit":
                return self._loop_of(op.inputs[0].op).reads
            if _kind(op) == "Switch":
                return [op.inputs[0].op]
            if not _is_choice(op):
                return self._inputs(op)
            choice = self._choices[op.name]
            if choice.predicate in known:
                return [op.inputs[choice.branches[known[choice.predicate]]].op]
            return [x for each in self._alternatives(op) for x in self._read_by_choice(each)]

        for op in _ordered(operations, needed):
            if op.name not in values:
                self._add(op, values, known)

    def _add(self, op: Any, values: Values, known: Mapping[str, int]) -> None:
        """Add the results of one operation, or of its whole loop or choice."""
        kind = _kind(op)
        if kind == "Exit":
            self._add_loop(self._loop_of(op.inputs[0].op), values, known)
        elif _is_choice(op):
            self._add_choice(op, values, known)
        elif kind == "Switch":
            if _is_branch(op) and _predicate(op) not in known:
                raise ConversionError(
                    f"trace_graph: {op.name}: the program reads a value of one branch of a choice of "
                    "TensorFlow 1 outside of it; fetch the result of tf.compat.v1.cond"
                )
            values[op.name] = [_value(op.inputs[0], values)] * 2
        elif kind == "Enter":
            values[op.name] = [_value(op.inputs[0], values)]
        elif op.type in IGNORED:
            values[op.name] = []
        else:
            run = _RULES.get(op.type, self._run_operation)
            values[op.name] = run(op, [_value(x, values) for x in op.inputs])

    def _add_choice(self, op: Any, values: Values, known: Mapping[str, int]) -> None:
        choice = self._choices[op.name]
        predicate = choice.predicate
        if predicate in known:
            number = choice.branches[known[predicate]]
            values[op.name] = [_value(op.inputs[number], values), tf.constant(number)]
            return
        merges = self._alternatives(op)

        def branch(value: int) -> Callable[[], list[Any]]:
            def choose() -> list[Any]:
                inner = values.new_child()
                of = [each.inputs[self._choices[each.name].branches[value]] for each in merges]
                self._run([x.op for x in of], inner, {**known, predicate: value})
                return [_value(x, inner) for x in of]

            return choose

        is_true = values[predicate][0]
        results = tf.cond(is_true, branch(1), branch(0))
        for each, value in zip(merges, results, strict=True):
            numbers = self._choices[each.name].branches
            values[each.name] = [value, tf.where(is_true, numbers[1], numbers[0])]

    def _add_loop(self, loop: _Loop, values: Values, known: Mapping[str, int]) -> None:
        firsts = [op.inputs[0].op.inputs[0] for op in loop.merges]
        nexts = [op.inputs[1].op.inputs[0] for op in loop.merges]

        def value_of(tensors: Sequence[Any], carry: Sequence[Any]) -> list[Any]:
            pairs = zip(loop.merges, carry, strict=True)
            inner = values.new_child({op.name: [x] for op, x in pairs})
            self._run([x.op for x in tensors], inner, known)
            return [_value(x, inner) for x in tensors]

        start = [_value(x, values) for x in firsts]
        functions = [
            lambda *carry: value_of([loop.condition], carry)[0],
            lambda *carry: value_of(nexts, carry),
        ]
        try:
            last = tf.while_loop(*functions, start)
        except ValueError:  # a step changes a shape
            shapes = [tf.TensorShape([None] * x.shape.rank) for x in start]
            last = tf.while_loop(*functions, start, shape_invariants=shapes)
        for op, value in zip(loop.merges, last, strict=True):
            for switch in op.outputs[0].consumers():
                if _is_loop(switch):
                    ends = [x for x in switch.outputs[0].consumers() if _kind(x) == "Exit"]
                    values.update((x.name, [value]) for x in ends)


def _ordered(operations: Iterable[Any], needed: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """Operations, each after those that it needs; a cycle begins anywhere."""
    met: set[str] = set()
    for op in operations:
        if op.name in met:
            continue
        met.add(op.name)
        stack = [(op, iter(needed(op)))]
        while stack:
            last, others = stack[-1]
            other = next((x for x in others if x.name not in met), None)
            if other is None:
                yield last
                stack.pop()
            else:
                met.add(other.name)
                stack.append((other, iter(needed(other))))


def _value(tensor: Any, values: Values) -> Any:
    return values[tensor.op.name][tensor.value_index]


def _kind(op: Any) -> str:
    return op.type.removeprefix("Ref")


def _is_loop(op: Any) -> bool:
    """Whether an operation is a Switch of a loop."""
    return _kind(op) == "Switch" and op.inputs[1].op.type == "LoopCond"


def _is_branch(op: Any) -> bool:
    """Whether an operation is a Switch of a choice."""
    return _kind(op) == "Switch" and not _is_loop(op)


def _is_merge_of_loop(op: Any) -> bool:
    return _kind(op) == "Merge" and any(_kind(x.op) == "NextIteration" for x in op.inputs)


def _is_choice(op: Any) -> bool:
    return _kind(op) == "Merge" and not _is_merge_of_loop(op)


def _predicate(switch: Any) -> str:
    """The name of the operation by whose result a Switch chooses."""
    return loops.origin(switch.inputs[1]).op.name


# -- variables ---------------------------------------------------------------------------------


def _variable(op: Any, values: Sequence[Any]) -> list[Any]:
    """The value of a reference variable, whose state TensorFlow keeps by the name."""

    @tf.function(autograph=False)
    def read() -> Any:
        graph = tf.compat.v1.get_default_graph()
        types = [x.dtype for x in op.outputs]
        placeholder = graph.create_op(
            op.type, [], types, name=op.name, attrs=dict(op.node_def.attr)
        )
        return tf.identity(placeholder.outputs[0])

    known = _VARIABLES.setdefault(op.graph, {})
    if op.name not in known:
        with tf.init_scope():
            known[op.name] = tf.Variable(read(), name=op.name)
    return [known[op.name].read_value()]


#: Graph → name of a reference variable → the variable that has its value.
_VARIABLES: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


# -- arrays of tensors -------------------------------------------------------------------------


def _array(op: Any, values: Sequence[Any]) -> list[Any]:
    array = tf.TensorArray(
        op.get_attr("dtype"),
        values[0],
        dynamic_size=op.get_attr("dynamic_size"),
        element_shape=tf.TensorShape(op.get_attr("element_shape")),
    )
    return [array, array.flow]


def _on_array(function: Callable[..., Any]) -> Run:
    """A rule from a function of an operation, an array, and the operands without handle and flow."""

    def run(op: Any, values: Sequence[Any]) -> list[Any]:
        from tensorflow.python.ops.tensor_array_ops import build_ta_with_new_flow

        results = function(op, build_ta_with_new_flow(values[0], values[-1]), *values[1:-1])
        return list(results) if isinstance(results, tuple) else [results]

    return run


def _gathered(op: Any, array: Any, indices: Any) -> Any:
    limit = _count(op.inputs[1])
    is_all = limit is not None and limit.op.type == "TensorArraySizeV3"
    return array.stack() if is_all else array.gather(indices)


def _scattered(op: Any, array: Any, indices: Any, x: Any) -> Any:
    is_all = _count(op.inputs[1]) is not None
    return (array.unstack(x) if is_all else array.scatter(indices, x)).flow


def _count(indices: Any) -> Any:
    """The number of indices that count from 0, as `stack` and `unstack` make them; None for others."""
    if indices.op.type != "Range":
        return None
    first, limit, step = indices.op.inputs
    ends = [
        int(operations.constant_of(x.op)) if x.op.type == "Const" else None for x in (first, step)
    ]
    return limit if ends == [0, 1] else None


_RULES: Mapping[str, Run] = {
    **dict.fromkeys(_REFERENCES, _variable),
    "TensorArrayV3": _array,
    "TensorArrayReadV3": _on_array(lambda op, array, i: array.read(i)),
    "TensorArrayWriteV3": _on_array(lambda op, array, i, x: array.write(i, x).flow),
    "TensorArrayGatherV3": _on_array(_gathered),
    "TensorArrayScatterV3": _on_array(_scattered),
    "TensorArraySizeV3": _on_array(lambda op, array: array.size()),
    "TensorArrayConcatV3": _on_array(lambda op, array: (array.concat(), None)),
    "TensorArraySplitV3": _on_array(lambda op, array, x, sizes: array.split(x, sizes).flow),
    "TensorArrayCloseV3": lambda op, values: [],
}
