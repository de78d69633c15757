"""If, Case and While as choices and loops of graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nestarray import dtypes
from nestarray.errors import Refused
from nestarray.graph.node import Aval, Node
from nestarray.importers.tensorflow import custom_gradients, loops, operations
from nestarray.importers.tensorflow.operations import Cell
from nestarray.importers.tensorflow.shapes import aval_of
from nestarray.importers.tensorflow.tensor_lists import (
    TensorList,
    element,
    stacked,
    with_length,
)
from nestarray.importers.translator import Value
from nestarray.sizes import Size

if TYPE_CHECKING:
    from nestarray.importers.tensorflow.translation import Translation


# -- choices -----------------------------------------------------------------------------------


def _choice(to: Translation, op: Any, index: Value, *operands: Any) -> list[Any]:
    graphs = operations.functions_of(op)
    is_case = op.type.endswith("Case")
    if index.known is not None and index.known.dtype != object:
        number = int(index.known) if is_case else 0 if index.known else 1
        chosen = graphs[number if 0 <= number < len(graphs) else -1]
        return run(to, chosen, operands)
    written = [i - 1 for i in operations.written_inputs(op)]
    equation = to.equation(op, [index, *operands], [i + 1 for i in written])
    forms: list[list[Any]] = []
    bodies = []
    for i, graph in enumerate(graphs):
        with to.body(f"branch_{i}" if is_case else ("then", "otherwise")[i], {}) as body:
            arguments = [Cell(x.value) if i in written else x for i, x in enumerate(operands)]
            results = run(to, graph, arguments)
            forms.append(results)
            cells = [to.node(arguments[i].value) for i in written]
            body.output = (*[_array(to, x) for x in results], *cells)
        bodies.append(body)
    if is_case:
        node = to.op("switch", _branch_index(to, index, len(bodies)), bodies, origin=op.type)
    else:
        node = to.op("cond", _truth(to, index), *bodies, origin=op.type)
    results = []
    for i, (x, form) in enumerate(zip(op.outputs, forms[0], strict=True)):
        avals = [body.output[i].aval for body in bodies]
        aval = aval_of(x) or (avals[0] if avals.count(avals[0]) == len(avals) else None)
        if isinstance(form, TensorList):
            item, of = to.builder.item(node, i), to.part(equation, i)
            results.append(TensorList(item, form.length, form.aval, of=of))
        else:
            results.append(to.result(equation, i, to.builder.item(node, i, aval=aval)))
    for at, i in enumerate(written, len(op.outputs)):
        operands[i].value = to.result(equation, at, to.builder.item(node, at))
    return results


def _branch_index(to: Translation, index: Value, count: int) -> Node:
    """The index with the last branch for numbers out of range."""
    node = to.node(index)
    return to.op("where", to.op("less", node, 0), count - 1, node, label="index")


def _truth(to: Translation, value: Value) -> Node:
    node = to.node(value)
    if node.aval is not None and node.aval.dtype is dtypes.bool:
        return node
    return to.op("not_equal", node, 0, label="is_true")


# -- loops -------------------------------------------------------------------------------------


def _loop(to: Translation, op: Any, *inputs: Any) -> Sequence[Any]:
    condition, body = operations.functions_of(op)
    steps = loops.steps_of(condition, body, inputs)
    if steps.length == 0 and steps.is_exact:
        return inputs
    written = operations.written_inputs(op)
    loop = _Loop(to, op, inputs, steps, written)
    try:
        convert = loop.as_while if steps.length is None else loop.as_scan
        last = convert(condition, body)
    except _ShapeChange:
        if not (steps.is_exact and isinstance(steps.length, int)):
            raise
        for _ in range(steps.length):  # each step has other shapes
            inputs = tuple(run(to, body, inputs))
        return inputs
    equation = to.equation(op, inputs, written)
    results: list[Any] = []
    for i, value in enumerate(last):
        if isinstance(value, TensorList) and value not in inputs:
            value.of = to.part(equation, i)
        elif isinstance(value, Node):
            value = to.result(equation, i, value)
        results.append(value)
    if steps.length is not None and steps.is_exact:
        for i, (start, step) in steps.counters.items():
            results[i] = Value(known=_last(start + steps.length * step, op.outputs[i]))
    for at, i in enumerate(written, len(op.outputs)):
        inputs[i].value = to.result(equation, at, loop.cells[i])
        results[i] = inputs[i]
    return results


# -- custom gradients --------------------------------------------------------------------------


def with_rule(to: Translation, op: Any, *inputs: Any) -> list[Any]:
    """The operands of an operation, with the gradients of its rule.

    The arguments of the call are the operands, then the values that the rule reads.
    """
    rule, count = custom_gradients.rule_of(op), len(op.inputs)
    nodes = [to.node(x.value if isinstance(x, Cell) else x) for x in inputs]
    avals = [node.aval for node in nodes]
    tensors = operations.operands_of(op)
    moving = [i for i, x in enumerate(tensors[:count]) if _is_inexact(x)]
    with to.body("custom", {"args": avals}) as body:
        body.output = body.members(0)[:count]
    with to.body("custom_forward", {"args": avals}) as forward:
        args = forward.members(0)
        forward.output = args[:count], args[count:]
    parts = {"residuals": avals[count:], "cotangents": [avals[i] for i in moving]}
    with to.body("custom_backward", parts) as backward:
        residuals, cotangents = backward.members(0), backward.members(1)
        of_results: dict[int, Any] = dict(zip(moving, map(Value, cotangents), strict=True))
        arguments = [of_results.get(i, inputs[i]) for i in range(count)]
        for x, node in zip(inputs[count:], residuals, strict=True):
            arguments.append(Cell(Value(node)) if isinstance(x, Cell) else Value(node))
        results = run(to, rule.graph, arguments)
        places = {i: at for i in moving if (at := rule.outputs[i]) is not None}
        backward.output = tuple([to.node(results[at]) for at in places.values()])
    equation = to.equation(op, inputs)
    still = [i for i, x in enumerate(tensors) if _is_inexact(x) and i not in places]
    settings: dict[str, Any] = {"nondiff_argnums": tuple(still)} if still else {}
    functions = body, forward, backward
    node = to.op(
        "call_with_vjp", *functions, tuple(nodes), label="custom", origin=op.type, **settings
    )
    return to.results(equation, node, avals[:count])


# -- shared ------------------------------------------------------------------------------------


def run(to: Translation, graph: Any, arguments: Sequence[Any]) -> list[Any]:
    """The outputs of a function's graph, whose operations take the place of its call."""
    return to.outputs(graph, dict(zip([x.ref() for x in graph.inputs], arguments, strict=True)))


def _called(to: Translation, op: Any, *inputs: Any) -> list[Any]:
    (graph,) = operations.functions_of(op)
    return run(to, graph, inputs[len(inputs) - len(graph.inputs) :])


#: Operation → its rule, which takes the operation and its operands.
RULES: dict[str, Callable[..., Sequence[Any]]] = {
    **dict.fromkeys((*operations.INLINED, "RemoteCall"), _called),  # the latter has a target first
    **dict.fromkeys(("While", "StatelessWhile"), _loop),
    **dict.fromkeys(("If", "StatelessIf", "Case", "StatelessCase"), _choice),
}


def _array(to: Translation, value: Any) -> Any:
    """The node of a result; of a list, the node of its stack."""
    if isinstance(value, TensorList):
        return stacked(to, value)
    return to.node(value.value if isinstance(value, Cell) else value)


class _ShapeChange(Refused):
    """A step of a loop changes the shape of a value."""


class _Loop:
    """One loop.

    Attributes:
        cells: index of a variable that the loop writes → the node of its last value.
    """

    def __init__(
        self,
        to: Translation,
        op: Any,
        inputs: Sequence[Any],
        steps: loops.Steps,
        written: list[int],
    ) -> None:
        self.to, self.op, self.inputs, self.steps, self.written = to, op, inputs, steps, written
        self.builder = to.builder
        self.cells: dict[int, Node] = {}
        self.carried = [
            i
            for i, x in enumerate(inputs)
            if i in written or (i not in steps.fixed and not isinstance(x, Cell))
        ]

    def as_while(self, condition: Any, body: Any) -> list[Any]:
        """The loop as `while_loop`: no counter ends it."""
        avals, start = self._carry(body)
        bodies = []
        for name, graph in (("go_on", condition), ("step", body)):
            with self.to.body(name, {"carry": avals}) as function:
                arguments = self._arguments(function.members(0), {})
                results = run(self.to, graph, arguments)
                if name == "go_on":
                    function.output = self.to.node(results[0])
                else:
                    function.output = tuple(
                        [self._next(i, results, arguments) for i in self.carried]
                    )
                    self._check_shapes(function.output, avals)
            bodies.append(function)
        node = self.to.op("while_loop", *bodies, start, origin=self.op.type)
        return self._results(node, avals, {})

    def as_scan(self, condition: Any, body: Any) -> list[Any]:
        """The loop as `scan`, with steps that keep the values if the loop may end before."""
        rows, last = self._rows(body), self._last(body)
        columns = sorted([*self._columns(body), *last])
        self.carried = [i for i in self.carried if i not in columns and i not in rows]
        avals, start = self._carry(body)
        of_rows = [element(rows[i]) for i in rows]
        masked = not self.steps.is_exact
        if masked:
            avals = [*avals, Aval((), dtypes.bool)]
            start = (*start, self.to.node(Value(known=np.asarray(True))))
        with self.to.body("step", {"carry": avals, "row": of_rows}) as function:
            carry, row = function.members(0), function.members(1)
            read: dict[int, Node] = dict(zip(rows, row, strict=True))
            arguments = self._arguments(carry, read, columns)
            go_on = None
            if masked:
                (more,) = run(self.to, condition, arguments)
                go_on = self.to.op("logical_and", carry[-1], self.to.node(more), label="go_on")
            results = run(self.to, body, arguments)
            new = [self._next(i, results, arguments) for i in self.carried]
            self._check_shapes(new, avals)
            ys = [self.to.node(results[i].row) for i in columns]
            if go_on is not None:
                new = [self._chosen(go_on, a, b) for a, b in zip(new, carry[:-1], strict=True)]
                new.append(go_on)
                ys = [self._chosen(go_on, y, 0) for y in ys]
            function.output = tuple(new), tuple(ys)
        settings = {} if rows else {"length": self.to.sizes.node(self.steps.length)}
        xs = tuple(rows.values())
        node = self.to.op("scan", function, start, xs, origin=self.op.type, **settings)
        last_carry, rows_made = self.to.carry_and_rows(node)
        made_columns = {}
        for k, i in enumerate(columns):
            aval, length = results[i].aval, self.steps.length
            stack = self.builder.item(rows_made, k, aval=with_length(self.to, aval, length))
            if i in last:
                length, one = 1, with_length(self.to, aval, 1)
                stack = self.to.op("getitem", stack, slice(-1, None), label="last", aval=one)
            made_columns[i] = TensorList(stack, length, aval, constant=results[i].row.known)
        return self._results(last_carry, avals, made_columns, popped=set(rows) - self.steps.fixed)

    def _check_shapes(self, new: Sequence[Any], avals: Sequence[Aval | None]) -> None:
        """Refuse a loop that changes a shape.

        Raises:
            _ShapeChange: a step returns another shape than it took.
        """
        for node, aval in zip(new, avals):
            after = getattr(node, "aval", None)
            if aval is not None and after is not None and after.shape != aval.shape:
                raise _ShapeChange(
                    f"a step changes the shape {aval.shape} to {after.shape}, and the number of "
                    "steps is unknown",
                    remedy="write into a TensorArray or an array of the last size",
                )

    def _chosen(self, go_on: Node, new: Any, old: Any) -> Node:
        return self.to.op("where", go_on, new, old, label="chosen")

    def _carry(self, body: Any) -> tuple[list[Aval | None], tuple[Any, ...]]:
        """Shapes and first values of the carried variables."""
        avals: list[Aval | None] = []
        start = []
        for i in self.carried:
            x = self.inputs[i]
            if isinstance(x, TensorList):
                start.append(stacked(self.to, x, self._written_aval(body, i)))
                avals.append(start[-1].aval)
            else:
                start.append(self.to.node(x.value if isinstance(x, Cell) else x))
                avals.append(aval_of(body.inputs[i]) or start[-1].aval)
        return avals, tuple(start)

    def _written_aval(self, body: Any, index: int) -> Aval | None:
        """Shape and dtype of the elements that a step writes into a list."""
        for op in loops.readers(body, index):
            if op.type in ("TensorListSetItem", "TensorListPushBack"):
                return aval_of(op.inputs[-1])
        return None

    def _arguments(
        self, carry: Sequence[Node], rows: dict[int, Node], columns: Sequence[int] = ()
    ) -> list[Any]:
        """The arguments of a function of the loop."""
        arguments = list(self.inputs)
        for i, node in zip(self.carried, carry):
            x = self.inputs[i]
            if isinstance(x, TensorList):
                arguments[i] = TensorList(node, x.length, element(node) or x.aval)
            else:
                arguments[i] = Cell(Value(node)) if isinstance(x, Cell) else Value(node)
        for i, node in rows.items():
            x = self.inputs[i]
            item = Value(node) if x.constant is None else Value(known=x.constant)
            arguments[i] = TensorList(None, x.length, x.aval, kind="row", row=item)
        for i in columns:
            x = self.inputs[i]
            arguments[i] = TensorList(None, x.length, x.aval, kind="column")
        return arguments

    def _next(self, index: int, results: list[Any], arguments: list[Any]) -> Any:
        if index in self.written:
            return self.to.node(arguments[index].value)
        value = results[index]
        if isinstance(value, TensorList):
            return stacked(self.to, value)
        return self.to.node(value)

    def _results(
        self,
        node: Node,
        avals: Sequence[Aval | None],
        columns: dict[int, TensorList],
        popped: Any = (),
    ) -> list[Any]:
        """The last values of all variables: Nodes, lists, and unchanged first values."""
        results = list(self.inputs)
        for k, i in enumerate(self.carried):
            x = self.inputs[i]
            aval = aval_of(self.op.outputs[i]) or avals[k]
            item = self.builder.item(node, k, aval=aval)
            if isinstance(x, TensorList):
                results[i] = TensorList(item, x.length, x.aval)
            elif isinstance(x, Cell):
                self.cells[i] = item
            else:
                results[i] = item
        for i in popped:
            results[i] = TensorList(None, 0, self.inputs[i].aval)
        for i, column in columns.items():
            results[i] = column
        return results

    # -- rows ----------------------------------------------------------------------------------

    def _is_step(self, body: Any, tensor: Any) -> bool:
        return self.steps.is_step(loops.argument_of(body, tensor))

    def _is_full(self, length: Any) -> bool:
        """Whether a list has an element for each step."""
        steps = self.steps.length
        return isinstance(length, Size) == isinstance(steps, Size) and length == steps

    def _rows(self, body: Any) -> dict[int, Node]:
        """Index of a list of which each step reads one element → the array of the rows."""
        rows = {}
        for i, x in enumerate(self.inputs):
            if not isinstance(x, TensorList) or x.stack is None or not self._is_full(x.length):
                continue
            reading = loops.readers(body, i)
            if i in self.steps.fixed:
                is_read = all(
                    op.type == "TensorListGetItem" and self._is_step(body, op.inputs[1])
                    for op in reading
                )
                if is_read and reading and self.steps.is_exact:
                    rows[i] = x.stack
            elif self.steps.is_exact and [op.type for op in reading] == ["TensorListPopBack"]:
                output = loops.origin(body.outputs[i])
                if output is reading[0].outputs[0]:
                    rows[i] = self.to.op("flip", x.stack, axis=0, aval=x.stack.aval)
        return rows

    def _columns(self, body: Any) -> list[int]:
        """The indices of the lists into which each step writes one element."""
        columns = []
        for i, x in enumerate(self.inputs):
            if not isinstance(x, TensorList) or i in self.steps.fixed:
                continue
            op = loops.origin(body.outputs[i]).op
            if [other.name for other in loops.readers(body, i)] != [op.name]:
                continue
            is_at_step = op.type == "TensorListSetItem" and self._is_step(body, op.inputs[1])
            is_set = (
                is_at_step and self._is_full(x.length) and (self.steps.is_exact or x.stack is None)
            )
            is_appended = op.type == "TensorListPushBack" or (
                is_at_step and op.get_attr("resize_if_index_out_of_bounds")
            )
            is_grown = is_appended and x.length == 0 and self.steps.is_exact
            if is_set or is_grown:
                columns.append(i)
        return columns

    def _last(self, body: Any) -> list[int]:
        """The indices of the lists whose only element each step replaces by one of open size."""
        lists = []
        for i, x in enumerate(self.inputs):
            if not self.to.sizes.is_open or not self.steps.is_exact or i in self.steps.fixed:
                continue
            if not isinstance(x, TensorList) or x.stack is not None or x.length != 1 or x.aval:
                continue
            op = loops.origin(body.outputs[i]).op
            if op.type == "TensorListSetItem" and loops.readers(body, i) == [op]:
                lists.append(i)
        return lists


def _last(number: Any, tensor: Any) -> np.ndarray:
    """The last value of a counter."""
    array = np.empty((), object if isinstance(number, Size) else tensor.dtype.as_numpy_dtype)
    array[()] = number
    return array


def _is_inexact(tensor: Any) -> bool:
    return tensor.dtype.is_floating or tensor.dtype.is_complex or tensor.dtype.name == "resource"
