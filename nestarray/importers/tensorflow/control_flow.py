"""If, Case and While as choices and loops of graphs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.errors import ConversionError
from nestarray.graph.node import Aval, Body, Node
from nestarray.importers.tensorflow import custom_gradients, loops, operations
from nestarray.importers.tensorflow.operations import Cell
from nestarray.importers.tensorflow.shapes import aval_of
from nestarray.importers.tensorflow.sizes import Dim
from nestarray.importers.tensorflow.source import Equation
from nestarray.importers.tensorflow.tensor_lists import TensorList, element, stacked
from nestarray.importers.tensorflow.values import Value
from nestarray.proof.source import Part
from nestarray.transforms import call_with_vjp, cond, scan, switch, while_loop

if TYPE_CHECKING:
    from nestarray.importers.tensorflow.importer import Translation


class ControlFlow:
    """Translates the calls of one program that choose or repeat.

    Args:
        of: the translation of the program.
    """

    def __init__(self, of: Translation) -> None:
        self.of, self.builder = of, of.builder

    def call(self, op: Any, inputs: list[Any]) -> list[Any]:
        """The results of an operation with functions."""
        return self._loop(op, inputs) if "While" in op.type else self._choice(op, inputs)

    # -- choices -------------------------------------------------------------------------------

    def _choice(self, op: Any, inputs: list[Any]) -> list[Any]:
        index, *operands = inputs
        graphs = operations.functions_of(op)
        is_case = op.type.endswith("Case")
        if index.known is not None and index.known.dtype != object:
            number = int(index.known) if is_case else 0 if index.known else 1
            chosen = graphs[number if 0 <= number < len(graphs) else -1]
            return self.inlined(op, chosen, operands)
        written = [i - 1 for i in operations.written_inputs(op)]
        equation = self._equation(op, inputs, written, 1)
        forms: list[list[Any]] = []
        bodies = []
        for i, graph in enumerate(graphs):
            name = f"branch_{i}" if is_case else ("then", "otherwise")[i]
            with self._body(op, name, {}) as body:
                given = [Cell(x.value) if i in written else x for i, x in enumerate(operands)]
                results = self._run(graph, given)
                forms.append(results)
                cells = [self.of.node(given[i].value) for i in written]
                body.output = (*map(self._array, results), *cells)
            bodies.append(body)
        if is_case:
            node = self.builder.call(
                "switch", switch, "na.switch", (self._branch_index(index, len(bodies)), bodies),
                origin=op.type,
            )  # fmt: skip
        else:
            node = self.builder.call(
                "cond", cond, "na.cond", (self._truth(index), *bodies), origin=op.type
            )
        found: list[Any] = []
        for i, (x, form) in enumerate(zip(op.outputs, forms[0], strict=True)):
            avals = [body.output[i].aval for body in bodies]
            aval = aval_of(x) or (avals[0] if avals.count(avals[0]) == len(avals) else None)
            found.append(self._result(equation, node, i, i, form, aval))
        for k, i in enumerate(written):
            at = len(op.outputs) + k
            operands[i].value = self._part(equation, at, self.builder.item(node, at))
        return found

    def _branch_index(self, index: Value, count: int) -> Node:
        """The index with the last branch for numbers out of range."""
        node = self.of.node(index)
        is_below = self.builder.call("less", ops.less, "na.less", (node, 0))
        return self.builder.call("index", ops.where, "na.where", (is_below, count - 1, node))

    def _truth(self, value: Value) -> Node:
        node = self.of.node(value)
        if node.aval is not None and node.aval.dtype is dtypes.bool:
            return node
        return self.builder.call("is_true", ops.not_equal, "na.not_equal", (node, 0))

    # -- loops ---------------------------------------------------------------------------------

    def _loop(self, op: Any, inputs: list[Any]) -> list[Any]:
        condition, body = operations.functions_of(op)
        steps = loops.steps_of(condition, body, inputs)
        if steps.length == 0 and steps.is_exact:
            return inputs
        written = operations.written_inputs(op)
        run = _Loop(self, op, inputs, steps, written)
        try:
            convert = run.as_while if steps.length is None else run.as_scan
            found = convert(condition, body)
        except _ShapeChange:
            if not (steps.is_exact and isinstance(steps.length, int)):
                raise
            for _ in range(steps.length):  # each step has other shapes
                inputs = self.inlined(op, body, inputs)
            return inputs
        equation = self._equation(op, inputs, written, 0)
        results: list[Any] = []
        for i, value in enumerate(found):
            if isinstance(value, TensorList) and value not in inputs:
                value.of = None if equation is None else self.of.part(equation, i)
            elif isinstance(value, Node):
                value = self._part(equation, i, value)
            results.append(value)
        if steps.length is not None and steps.is_exact:
            for i, (start, step) in steps.counters.items():
                results[i] = Value(known=_last(start + steps.length * step, op.outputs[i]))
        for k, i in enumerate(written):
            inputs[i].value = self._part(equation, len(op.outputs) + k, run.cells[i])
            results[i] = inputs[i]
        return results

    # -- custom gradients ----------------------------------------------------------------------

    def with_rule(self, op: Any, inputs: list[Any]) -> list[Any]:
        """The operands of an operation, with the gradients of its rule.

        The arguments of the call are the operands, then the values that the rule reads.
        """
        rule, count = custom_gradients.rule_of(op), len(op.inputs)
        nodes = [self.of.node(x.value if isinstance(x, Cell) else x) for x in inputs]
        avals = [node.aval for node in nodes]
        tensors = operations.operands_of(op)
        moving = [i for i, x in enumerate(tensors[:count]) if _is_inexact(x)]
        with self._body(op, "custom", {"args": avals}) as body:
            body.output = body.parameters[0][:count]
        with self._body(op, "custom_forward", {"args": avals}) as forward:
            (args,) = forward.parameters
            forward.output = args[:count], args[count:]
        parts = {"residuals": avals[count:], "cotangents": [avals[i] for i in moving]}
        with self._body(op, "custom_backward", parts) as backward:
            residuals, cotangents = backward.parameters
            of_results: dict[int, Any] = dict(zip(moving, map(Value, cotangents), strict=True))
            given = [of_results.get(i, inputs[i]) for i in range(count)]
            for x, node in zip(inputs[count:], residuals, strict=True):
                given.append(Cell(Value(node)) if isinstance(x, Cell) else Value(node))
            found = self._run(rule.graph, given)
            places = {i: rule.outputs[i] for i in moving}
            gradients = [self.of.node(found[at]) for at in places.values() if at is not None]
            backward.output = tuple(gradients)
        equation = None
        if not self.of.depth:
            operands = [self.of.given(x, at) for x, at in zip(inputs, tensors, strict=True)]
            equation = Equation(op, operands, self.builder.place)
            self.of.add(equation, None)
        kept = {i for i, at in places.items() if at is not None}
        still = [i for i, x in enumerate(tensors) if _is_inexact(x) and i not in kept]
        settings = {"nondiff_argnums": tuple(still)} if still else {}
        node = self.builder.call(
            "custom", call_with_vjp, "na.call_with_vjp", (body, forward, backward, tuple(nodes)),
            settings, origin=op.type,
        )  # fmt: skip
        return [
            self._part(equation, i, self.builder.item(node, i, aval=avals[i])) for i in range(count)
        ]

    # -- shared --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _body(self, op: Any, name: str, parameters: dict[str, Any]) -> Iterator[Body]:
        with self.of.inside(op), self.builder.body(name, parameters) as body:
            self.of.depth += 1
            try:
                yield body
            finally:
                self.of.depth -= 1

    def _run(self, graph: Any, given: Sequence[Any]) -> list[Any]:
        """The outputs of a function's graph."""
        env = dict(zip([x.ref() for x in graph.inputs], given, strict=True))
        self.of.translate(graph, graph.outputs, env)
        return [env[x.ref()] for x in graph.outputs]

    def inlined(self, op: Any, graph: Any, given: Sequence[Any]) -> list[Any]:
        """The outputs of a function that takes the place of its call."""
        with self.of.inside(op):
            return self._run(graph, given)

    def _array(self, value: Any) -> Any:
        """The node of a result; of a list, the node of its stack."""
        if isinstance(value, TensorList):
            return stacked(self.builder, self.of.sizes, value, None, f"a branch ({self.of.outer})")
        return self.of.node(value.value if isinstance(value, Cell) else value)

    def _equation(self, op: Any, inputs: list[Any], written: list[int], first: int) -> Any:
        """The equation of a call; None in a body."""
        if self.of.depth:
            return None
        given = [self.of.given(x, at) for x, at in zip(inputs, op.inputs)]
        equation = Equation(op, given, self.builder.place, tuple([i + first for i in written]))
        self.of.add(equation, None)
        return equation

    def _part(self, equation: Any, index: int, node: Node) -> Value:
        if equation is None:
            return Value(node)
        if equation.is_single:
            self.of.name(equation, node)
            return Value(node, equation)
        return self.of.add(Part(equation, index), node)

    def _result(
        self, equation: Any, node: Node, at: int, index: int, form: Any, aval: Aval | None
    ) -> Any:
        if isinstance(form, TensorList):
            found = self.builder.item(node, at)
            of = None if equation is None else self.of.part(equation, index)
            return TensorList(found, form.length, form.aval, of=of)
        return self._part(equation, index, self.builder.item(node, at, aval=aval))


class _ShapeChange(ConversionError):
    """A step of a loop changes the shape of a value."""


class _Loop:
    """One loop.

    Attributes:
        cells: index of a variable that the loop writes → the node of its last value.
    """

    def __init__(
        self, flow: ControlFlow, op: Any, inputs: list[Any], steps: loops.Steps, written: list[int]
    ) -> None:
        self.flow, self.op, self.inputs, self.steps, self.written = flow, op, inputs, steps, written
        self.of, self.builder = flow.of, flow.builder
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
            with self.flow._body(self.op, name, {"carry": avals}) as made:
                given = self._given(made.parameters[0], {})
                found = self.flow._run(graph, given)
                if name == "go_on":
                    made.output = self.of.node(found[0])
                else:
                    made.output = tuple([self._next(i, found, given) for i in self.carried])
                    self._check_shapes(made.output, avals)
            bodies.append(made)
        node = self.builder.call(
            "while_loop", while_loop, "na.while_loop", (*bodies, start), origin=self.op.type,
        )  # fmt: skip
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
            start = (*start, self.of.node(Value(known=np.asarray(True))))
        with self.flow._body(self.op, "step", {"carry": avals, "row": of_rows}) as made:
            carry, row = made.parameters
            read = dict(zip(rows, row, strict=True))
            given = self._given(carry, read, columns)
            go_on = None
            if masked:
                (more,) = self.flow._run(condition, given)
                args = (carry[-1], self.of.node(more))
                go_on = self.builder.call("go_on", ops.logical_and, "na.logical_and", args)
            found = self.flow._run(body, given)
            new = [self._next(i, found, given) for i in self.carried]
            self._check_shapes(new, avals)
            ys = [self.of.node(found[i].row) for i in columns]
            if go_on is not None:
                new = [self._chosen(go_on, a, b) for a, b in zip(new, carry[:-1], strict=True)]
                new.append(go_on)
                ys = [self._chosen(go_on, y, 0) for y in ys]
            made.output = tuple(new), tuple(ys)
        settings = {} if rows else {"length": self.of.sizes.node(self.steps.length)}
        node = self.builder.call(
            "scan", scan, "na.scan", (made, start, tuple(rows.values())), settings,
            origin=self.op.type,
        )  # fmt: skip
        pair = [self.builder.item(node, i, name) for i, name in enumerate(("carry", "ys"))]
        made_columns = {}
        for k, i in enumerate(columns):
            aval, length = found[i].aval, self.steps.length
            stack = self.builder.item(pair[1], k, aval=_stacked_aval(aval, length))
            if i in last:
                args, length = (stack, slice(-1, None)), 1
                stack = self.builder.call(
                    "last", ops.getitem, "na.getitem", args, aval=_stacked_aval(aval, length)
                )
            made_columns[i] = TensorList(stack, length, aval, constant=found[i].row.known)
        return self._results(pair[0], avals, made_columns, popped=set(rows) - self.steps.fixed)

    def _where(self) -> str:
        return f"{self.op.type} ({self.builder.place})"

    def _check_shapes(self, new: Sequence[Any], avals: Sequence[Aval | None]) -> None:
        """Refuse a loop that changes a shape.

        Raises:
            _ShapeChange: a step returns another shape than it took.
        """
        for node, aval in zip(new, avals):
            after = getattr(node, "aval", None)
            if aval is not None and after is not None and after.shape != aval.shape:
                raise _ShapeChange(
                    f"trace_graph: a step of {self._where()} changes the shape {aval.shape} to "
                    f"{after.shape}, and the number of steps is unknown; write into a "
                    "TensorArray or an array of the last size"
                )

    def _chosen(self, go_on: Node, new: Any, old: Any) -> Node:
        return self.builder.call("chosen", ops.where, "na.where", (go_on, new, old))

    def _carry(self, body: Any) -> tuple[list[Aval | None], tuple[Any, ...]]:
        """Shapes and first values of the carried variables."""
        avals: list[Aval | None] = []
        start = []
        for i in self.carried:
            x = self.inputs[i]
            if isinstance(x, TensorList):
                start.append(
                    stacked(
                        self.builder, self.of.sizes, x, self._written_aval(body, i), self._where()
                    )
                )
                avals.append(start[-1].aval)
            else:
                start.append(self.of.node(x.value if isinstance(x, Cell) else x))
                avals.append(aval_of(body.inputs[i]) or start[-1].aval)
        return avals, tuple(start)

    def _written_aval(self, body: Any, index: int) -> Aval | None:
        """Shape and dtype of the elements that a step writes into a list."""
        for op in loops.readers(body, index):
            if op.type in ("TensorListSetItem", "TensorListPushBack"):
                return aval_of(op.inputs[-1])
        return None

    def _given(
        self, carry: Sequence[Node], rows: dict[int, Node], columns: Sequence[int] = ()
    ) -> list[Any]:
        """The arguments of a function of the loop."""
        given = list(self.inputs)
        for i, node in zip(self.carried, carry):
            x = self.inputs[i]
            if isinstance(x, TensorList):
                given[i] = TensorList(node, x.length, element(node) or x.aval)
            else:
                given[i] = Cell(Value(node)) if isinstance(x, Cell) else Value(node)
        for i, node in rows.items():
            x = self.inputs[i]
            item = Value(node) if x.constant is None else Value(known=x.constant)
            given[i] = TensorList(None, x.length, x.aval, kind="row", row=item)
        for i in columns:
            x = self.inputs[i]
            given[i] = TensorList(None, x.length, x.aval, kind="column")
        return given

    def _next(self, index: int, found: list[Any], given: list[Any]) -> Any:
        if index in self.written:
            return self.of.node(given[index].value)
        value = found[index]
        if isinstance(value, TensorList):
            return stacked(self.builder, self.of.sizes, value, None, self._where())
        return self.of.node(value)

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
        if isinstance(length, Dim) and isinstance(steps, Dim):
            return length.expression is not None and length.expression == steps.expression
        return length == steps if not isinstance(length, Dim) else False

    def _rows(self, body: Any) -> dict[int, Node]:
        """Index of a list of which each step reads one element → the array of the rows."""
        found = {}
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
                    found[i] = x.stack
            elif self.steps.is_exact and [op.type for op in reading] == ["TensorListPopBack"]:
                output = loops.origin(body.outputs[i])
                if output is reading[0].outputs[0]:
                    found[i] = self.builder.call(
                        "flip", ops.flip, "na.flip", (x.stack,), {"axis": 0}, aval=x.stack.aval
                    )
        return found

    def _columns(self, body: Any) -> list[int]:
        """The indices of the lists into which each step writes one element."""
        found = []
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
                found.append(i)
        return found

    def _last(self, body: Any) -> list[int]:
        """The indices of the lists whose only element each step replaces by one of open size."""
        found = []
        for i, x in enumerate(self.inputs):
            if not self.of.sizes.is_open or not self.steps.is_exact or i in self.steps.fixed:
                continue
            if not isinstance(x, TensorList) or x.stack is not None or x.length != 1 or x.aval:
                continue
            op = loops.origin(body.outputs[i]).op
            if op.type == "TensorListSetItem" and loops.readers(body, i) == [op]:
                found.append(i)
        return found


def _last(number: Any, tensor: Any) -> np.ndarray:
    """The last value of a counter."""
    made = np.empty((), object if isinstance(number, Dim) else tensor.dtype.as_numpy_dtype)
    made[()] = number
    return made


def _is_inexact(tensor: Any) -> bool:
    return tensor.dtype.is_floating or tensor.dtype.is_complex or tensor.dtype.name == "resource"


def _stacked_aval(aval: Aval | None, length: Any) -> Aval | None:
    size = length.expression if isinstance(length, Dim) else length
    return None if aval is None or size is None else Aval((size, *aval.shape), aval.dtype)
