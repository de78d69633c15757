"""Rows that a program writes into an array and reads from it, one by one.

NumPy code collects results in an array: ``x[i + 1] = f(x[i])``. Its steps then depend on the whole
array, and a loop over them carries it.
"""

from __future__ import annotations

from typing import TypeGuard

from nestarray.graph.graph import Graph
from nestarray.graph.node import Argument, Aval, Call, Node, Operand, iter_nodes
from nestarray.graph.passes.rewriting import Rule, Writer, is_op, rewrite


def forward_stores(graph: Graph) -> Graph:
    """Read a row from the call that wrote it, and stack the rows of an array that are all written."""
    return _stack_stores(rewrite(graph, *READS))


def _stored_row(_: Writer, node: Call) -> tuple[Operand, Operand] | None:
    """The array before other writes, and the index; () as the index of the value itself."""
    if node.aval is None or not is_op(node, "getitem") or len(node.args) != 2:
        return None
    x, index = node.args
    row, *others = index if isinstance(index, tuple) else (index,)
    if not _is_row(row) or any(isinstance(i, (Node, list)) for i in others):
        return None
    while (written := _written_row(x)) is not None:
        before, i, value = written
        if i == row:
            return value, tuple(others)
        x = before
    return None if x is node.args[0] else (x, index)


def _read_before(writer: Writer, node: Call, x: Node, index: Argument) -> Node:
    """Read the value that was written.

    Before::

        def graph(x, a, b):  # float32[4, 3], float32[3], float32[3]
            first = na.setitem(x, 0, a)
            second = na.setitem(first, 1, b)
            row = na.getitem(second, 0)
            element = na.getitem(second, (1, 2))
            old = na.getitem(second, 3)
            return row, element, old

    After::

        def graph(x, a, b):  # float32[4, 3], float32[3], float32[3]
            element = na.getitem(b, (2,))
            old = na.getitem(x, 3)
            return a, element, old
    """
    if index == ():
        return x
    return writer.call("getitem", x, index, like=node, aval=node.aval, name=node.name)


def _stack_stores(graph: Graph) -> Graph:
    graph = rewrite(graph, *WRITES)
    read = {*iter_nodes([(node.args, node.kwargs) for node in graph.calls])}

    def is_result(node: Node) -> bool:
        """Whether a call only stacks rows for the results: between the steps it would end a loop."""
        return is_op(node, "stack") and node not in read

    return graph.replace(nodes=sorted(graph.nodes, key=is_result))


def _all_rows(writer: Writer, node: Call) -> tuple[list[Node]] | None:
    """The rows of an array that calls write one by one."""
    rows: dict[int, Node] = {}
    x = node
    while (written := _written_row(x)) is not None and (x is node or writer.is_read_once(x)):
        x, row, value = written
        rows.setdefault(row, value)
    if not rows or node.aval is None or node.aval.shape[:1] != (len(rows),):
        return None
    return ([rows[i] for i in range(len(rows))],)


def _stacked(writer: Writer, node: Call, rows: list[Node]) -> Node:
    """Stack the rows.

    Before::

        def graph(x, a, b):  # float32[2, 3], float32[3], float32[3]
            first = na.setitem(x, 1, a)
            second = na.setitem(first, 0, b)
            return second

    After::

        def graph(x, a, b):  # float32[2, 3], float32[3], float32[3]
            second = na.stack([b, a])
            return second
    """
    return writer.call("stack", rows, like=node, aval=node.aval, name=node.name)


def _written_row(node: object) -> tuple[Operand, int, Node] | None:
    """(array before, row, value) of a call that writes a whole row; None for another node."""
    if not is_op(node, "setitem") or node.kwargs or node.aval is None:
        return None
    x, i, value = node.args
    row = Aval(node.aval.shape[1:], node.aval.dtype)
    is_written = _is_row(i) and isinstance(value, Node) and value.aval == row
    return (x, i, value) if is_written else None


def _is_row(index: Argument) -> TypeGuard[int]:
    return type(index) is int and index >= 0


def join_rows(graph: Graph) -> Graph:
    """Take consecutive rows of an array that a call stacks with one slice."""
    return rewrite(graph, *STACKS, in_bodies=True)


def _consecutive_rows(_: Writer, node: Call) -> tuple[list[list[Node]]] | None:
    """The rows that a call stacks, in groups of consecutive ones."""
    if not is_op(node, "stack") or node.kwargs or len(node.args) != 1 or node.aval is None:
        return None
    groups: list[list[Node]] = []
    for value in node.args[0]:
        if groups and _are_consecutive(groups[-1][-1], value):
            groups[-1].append(value)
        else:
            groups.append([value])
    return None if len(groups) == len(node.args[0]) else (groups,)


def _slices(writer: Writer, node: Call, groups: list[list[Node]]) -> Node:
    """Take a slice for each group.

    Before::

        def graph(x, a):  # float32[4, 3], float32[3]
            one = na.getitem(x, 1)
            two = na.getitem(x, 2)
            rows = na.stack([one, two, a])
            return rows

    After::

        def graph(x, a):  # float32[4, 3], float32[3]
            getitem = na.getitem(x, slice(1, 3, None))
            stack = na.stack([a])
            rows = na.concat([getitem, stack])
            return rows
    """
    assert node.aval is not None
    parts = []
    for group in groups:
        aval = Aval((len(group), *node.aval.shape[1:]), node.aval.dtype)
        parts.append(_rows(writer, group, like=node, aval=aval))
    if len(parts) == 1:
        return parts[0]
    return writer.call("concat", parts, like=node, aval=node.aval, name=node.name)


def _are_consecutive(*values: Operand) -> bool:
    """Whether two values are one row of an array and the next one."""
    if not all(is_op(x, "getitem") for x in values):
        return False
    (x, i), (y, j) = [value.args for value in values]
    return x is y and _is_row(i) and _is_row(j) and i + 1 == j


def _rows(writer: Writer, values: list[Operand], like: Call, aval: Aval) -> Node:
    """Consecutive rows as one array."""
    if len(values) == 1:
        return writer.call("stack", values, like=like, aval=aval)
    x, first = values[0].args
    if x.aval == aval:
        return x
    return writer.call("getitem", x, slice(first, first + len(values)), like=like, aval=aval)


READS = (Rule(_stored_row, _read_before),)
WRITES = (Rule(_all_rows, _stacked),)
STACKS = (Rule(_consecutive_rows, _slices),)
