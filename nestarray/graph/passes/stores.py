"""Rows that a program writes into an array and reads from it, one by one.

NumPy code collects results in an array: ``x[i + 1] = f(x[i])``. Its steps then depend on the whole
array, and a loop over them carries it.
"""

from __future__ import annotations

from typing import Any

from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Node, iter_nodes
from nestarray.graph.passes.rewriting import Writer, count_uses, is_op, place_of, rewrite


def forward_stores(graph: Graph) -> Graph:
    """Read a row from the call that wrote it, and stack the rows of an array that are all written."""
    return _stack_stores(rewrite(graph, _forwarded))


def _forwarded(writer: Writer, node: Node) -> Any:
    """The value that was written into the row that a call reads, or the row before other writes."""
    if node.aval is None or not is_op(node, "getitem") or len(node.args) != 2:
        return None
    x, index = node.args
    row, *rest = index if isinstance(index, tuple) else (index,)
    if not _is_row(row) or any(isinstance(i, (Node, list)) for i in rest):
        return None
    while (written := _written_row(x)) is not None:
        before, i, value = written
        if i == row and not rest:
            return value
        if i == row:
            x, index = value, tuple(rest)
            break
        x = before
    if x is node.args[0]:
        return None
    return writer.call("getitem", x, index, like=node, aval=node.aval, name=node.name)


def _stack_stores(graph: Graph) -> Graph:
    uses = count_uses(graph)

    def stacked(writer: Writer, node: Node) -> Node | None:
        rows: dict[int, Node] = {}
        x = node
        while (written := _written_row(x)) is not None and (x is node or uses[place_of(x)] == 1):
            x, row, value = written
            rows.setdefault(row, value)
        if not rows or node.aval is None or node.aval.shape[:1] != (len(rows),):
            return None
        values = [rows[i] for i in range(len(rows))]
        return writer.call("stack", values, like=node, aval=node.aval, name=node.name)

    graph = rewrite(graph, stacked)
    read = {*iter_nodes([(node.args, node.kwargs) for node in graph.calls])}

    def is_result(node: Node) -> bool:
        """Whether a call only stacks rows for the results: between the steps it would end a loop."""
        return is_op(node, "stack") and node not in read

    return graph.replace(nodes=sorted(graph.nodes, key=is_result))


def _written_row(node: Any) -> tuple[Any, int, Node] | None:
    """(array before, row, value) of a call that writes a whole row; None for another node."""
    if not isinstance(node, Node) or not is_op(node, "setitem") or node.kwargs or node.aval is None:
        return None
    x, i, value = node.args
    row = Aval(node.aval.shape[1:], node.aval.dtype)
    is_written = _is_row(i) and isinstance(value, Node) and value.aval == row
    return (x, i, value) if is_written else None


def _is_row(index: Any) -> bool:
    return type(index) is int and index >= 0


def join_rows(graph: Graph) -> Graph:
    """Take consecutive rows of an array that a call stacks with one slice."""
    return rewrite(graph, _joined, in_bodies=True)


def _joined(writer: Writer, node: Node) -> Node | None:
    if not is_op(node, "stack") or node.kwargs or len(node.args) != 1 or node.aval is None:
        return None
    groups: list[list[Node]] = []
    for value in node.args[0]:
        if groups and _are_consecutive(groups[-1][-1], value):
            groups[-1].append(value)
        else:
            groups.append([value])
    if len(groups) == len(node.args[0]):
        return None
    parts = []
    for group in groups:
        aval = Aval((len(group), *node.aval.shape[1:]), node.aval.dtype)
        parts.append(_rows(writer, group, like=node, aval=aval))
    if len(parts) == 1:
        return parts[0]
    return writer.call("concat", parts, like=node, aval=node.aval, name=node.name)


def _are_consecutive(*values: Any) -> bool:
    """Whether two values are one row of an array and the next one."""
    if not all(isinstance(x, Node) and is_op(x, "getitem") for x in values):
        return False
    (x, i), (y, j) = [value.args for value in values]
    return x is y and _is_row(i) and _is_row(j) and i + 1 == j


def _rows(writer: Writer, values: list[Node], like: Node, aval: Aval) -> Node:
    """Consecutive rows as one array."""
    if len(values) == 1:
        return writer.call("stack", values, like=like, aval=aval)
    x, first = values[0].args
    if x.aval == aval:
        return x
    return writer.call("getitem", x, slice(first, first + len(values)), like=like, aval=aval)
