"""Move calls out of the steps of a scan, where they run once for all steps.

A call that depends on no value of the step runs before the loop. One that depends on the rows
alone, such as the product of the inputs of an LSTM with a kernel, runs on all rows at once, and its
results become further rows. A carry that counts is a row of known numbers.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from nestarray import ops
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Argument,
    Aval,
    Body,
    Call,
    Input,
    Node,
    Operand,
    bodies,
    is_input,
    iter_nodes,
    map_nodes,
    substituted,
)
from nestarray.graph.passes.rewriting import Writer, arguments_of, has, is_op, op_name, rewrite
from nestarray.sizes import value_at
from nestarray.traits import Trait

#: Elements up to which a value may exceed the rows that it is computed of.
_MOST = 4096


def hoist_from_scans(graph: Graph) -> Graph:
    """Compute the calls of a scan's step that no carry decides before the loop.

    Elementwise functions and products of rows of a known number; others stay in the step.

    Before::

        def graph(x, w, h):  # float64[5, 3], float64[3, 2], float64[2]
            def step(carry, row):
                (carry_0,) = carry  # float64[2]
                (row_0,) = row  # float64[3]
                matmul = na.matmul(row_0, w)
                add = na.add(matmul, carry_0)
                return ((add,), ())
            scan = na.scan(step, (h,), (x,))
            return scan

    After::

        def graph(x, w, h):  # float64[5, 3], float64[3, 2], float64[2]
            matmul_1 = na.matmul(x, w)
            def step(carry, row):
                (carry_0,) = carry  # float64[2]
                (row_0, matmul_row) = row  # float64[3], float64[2]
                add = na.add(matmul_row, carry_0)
                return ((add,), ())
            scan = na.scan(step, (h,), (x, matmul_1))
            return scan
    """
    return rewrite(graph, _hoisted, in_bodies=True)


def _hoisted(writer: Writer, node: Call) -> Node | None:
    if node.target_name != "na.scan":
        return None
    body, start, xs = node.args
    count = xs[0].aval.shape[0] if xs else node.kwargs["length"]
    if not isinstance(count, int) or count < 2:
        return None
    step = _Step(writer, body, count)
    step.count_carries(start, is_reversed=node.kwargs.get("reverse", False))
    step.rows_of(xs)
    new = step.written()
    if new is body:
        return None
    result = dataclasses.replace(node, args=(new, start, (*xs, *step.rows.values())))
    writer.calls.append(result)
    return result


class _Step:
    """The step of a scan.

    Args:
        writer: of the calls before the loop.
        body: the step.
        count: the number of steps.

    Attributes:
        all_steps: value of the step → its values in all steps, along the first axis.
        rows: parameter of the new step → the array whose rows it is.
    """

    def __init__(self, writer: Writer, body: Body, count: int) -> None:
        self.writer, self.body, self.count = writer, body, count
        self.all_steps: dict[Node, Node] = {}
        self.rows: dict[Input, Node] = {}

    def count_carries(self, start: tuple[Operand, ...], *, is_reversed: bool) -> None:
        """Note the carries that begin with a known integer and grow by one in each step."""
        for carry, first, last in zip(self.body.members(0), start, self.body.output[0]):
            begin = self._number(first)
            if carry.aval is None or not carry.aval.dtype.is_integer or begin is None:
                continue
            if not is_op(last, "add") or carry not in last.args:
                continue
            by = self._number(last.args[1] if last.args[0] is carry else last.args[0])
            if by is None:
                continue
            values = begin + by * np.arange(self.count)
            values = (values[::-1] if is_reversed else values).astype(carry.aval.dtype.name)
            array = ops.to_backend(values, self.writer.graph.backend)
            self.all_steps[carry] = self.writer.variable("constants", carry.name, array)

    def _number(self, x: Argument) -> int | None:
        """The value of an integer, or of an array that is one."""
        if is_op(x, "full") and x.aval is not None and x.aval.shape == ():
            x = arguments_of(x)["fill_value"]
        if is_input(x, "constants") and x.aval and x.aval.shape == ():
            x = ops.to_backend(self.writer.value_of(x), "numpy").item()
        return x if type(x) is int else None

    def rows_of(self, xs: tuple[Node, ...]) -> None:
        """Note the rows."""
        self.all_steps.update(zip(self.body.members(1), xs, strict=True))

    def written(self) -> Body:
        """The step without the calls that run before the loop; the step itself if there are none."""
        body = self.body
        inside = {*iter_nodes(body.parameters), *body.nodes}
        hoisted: dict[Node, None] = {}
        calls: list[Call] = []
        for node in body.nodes:
            used = {*iter_nodes((node.args, node.kwargs))}
            of_step = used & inside
            if node.is_random or any(bodies(node.args)):
                calls.append(node)
            elif not of_step:
                self.writer.calls.append(node)
                inside.remove(node)
                hoisted[node] = None
            elif node.aval is not None and of_step <= self.all_steps.keys():
                values = self._of_all_steps(node)
                if values is None:
                    calls.append(node)
                else:
                    self.all_steps[node] = values
                    hoisted[node] = None
            else:
                calls.append(node)
        if not hoisted:
            return body
        read = {*iter_nodes(([(node.args, node.kwargs) for node in calls], body.output))}
        new: dict[Node, Node] = {}
        for node in (*hoisted, *body.members(0)):
            if node in read and node in self.all_steps:
                name = self.writer.name(f"{node.name}_row")
                row = new[node] = Input(name=name, source="body", aval=node.aval)
                self.rows[row] = self.all_steps[node]
        nodes = []
        for node in calls:
            args, kwargs = substituted((node.args, node.kwargs), new)
            same = args == node.args and kwargs == node.kwargs
            nodes.append(node if same else dataclasses.replace(node, args=args, kwargs=kwargs))
            new[node] = nodes[-1]
        parameters = (body.members(0), (*body.members(1), *self.rows))
        return dataclasses.replace(
            body, parameters=parameters, nodes=nodes, output=substituted(body.output, new)
        )

    def _of_all_steps(self, node: Call) -> Node | None:
        """The call on the values of all steps; None if it does not take these."""
        given, known = arguments_of(node), self.all_steps
        assert node.aval is not None
        if is_op(node, "matmul", "linear"):
            first, *others = (x for x in given.values() if x is not None)
            if first not in known or not first.aval.shape or any(x in known for x in others):
                return None
            if any(len(x.aval.shape) > 2 for x in others) or len(others[0].aval.shape) < 2:
                return None
            args = (known[first], *node.args[1:])
            return self._call(node, args, node.kwargs)
        if op_name(node) == "concat":
            parts, axis = given["arrays"], given["axis"]
            if not all(x in known for x in parts) or axis is None:
                return None
            axis = axis + 1 if axis >= 0 else axis
            return self._call(node, ([known[x] for x in parts],), {"axis": axis})
        if has(node, Trait.RESHAPE) and self._is_known(node):
            x = known[node.args[0]]
            shape = (self.count, *node.aval.shape)
            return self.writer.call(
                "reshape", x, shape, like=node, aval=Aval(shape, node.aval.dtype)
            )
        if has(node, Trait.ELEMENTWISE) and self._is_known(node):
            aligned = lambda x: self._aligned(x, node)  # noqa: E731
            return self._call(node, *map_nodes(aligned, (node.args, node.kwargs)))
        return None

    def _is_known(self, node: Call) -> bool:
        """Whether a call has numbers for sizes, and its result is not much larger than the rows."""
        assert node.aval is not None
        arrays = {*iter_nodes((node.args, node.kwargs))}
        avals = [x.aval for x in arrays]
        if any(a is None or not all(isinstance(n, int) for n in a.shape) for a in avals):
            return False
        rows = sum(_size(x.aval) for x in arrays if x in self.all_steps)
        return self.count * (_size(node.aval) - rows) <= _MOST

    def _aligned(self, x: Node, node: Call) -> Node:
        """The values of all steps of an argument, with as many axes as the result."""
        if x not in self.all_steps:
            return x
        assert node.aval is not None
        assert x.aval is not None
        missing = len(node.aval.shape) - len(x.aval.shape)
        shape = (self.count, *(1,) * missing, *x.aval.shape)
        values = self.all_steps[x]
        aval = Aval(shape, x.aval.dtype)
        return (
            self.writer.call("reshape", values, shape, like=node, aval=aval) if missing else values
        )

    def _call(self, node: Call, args: tuple[Argument, ...], kwargs: dict[str, Argument]) -> Node:
        assert node.aval is not None
        aval = Aval((self.count, *node.aval.shape), node.aval.dtype)
        new = dataclasses.replace(
            node, name=self.writer.name(node.name), args=tuple(args), kwargs=kwargs, aval=aval
        )
        self.writer.calls.append(new)
        return new


def _size(aval: Aval | None) -> int:
    assert aval is not None
    return math.prod([value_at(n, {}) for n in aval.shape])
