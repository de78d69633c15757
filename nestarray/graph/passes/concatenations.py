"""Read a part of a concatenation from the part itself."""

from __future__ import annotations

from typing import Any

from nestarray.graph.graph import Graph
from nestarray.graph.node import Node
from nestarray.graph.passes.rewriting import Writer, arguments_of, op_name, rewrite


def read_parts(graph: Graph) -> Graph:
    """Index into the operand of `concat` where an index selects one of it.

    JAX stacks the indices of ``x[i, j]`` to one array, whose columns `gather` reads.
    """
    return rewrite(graph, _rule, in_bodies=True)


def _rule(writer: Writer, node: Node) -> Node | None:
    if op_name(node) != "getitem" or node.aval is None:
        return None
    array, index = node.args
    is_column = isinstance(index, tuple) and len(index) == 2 and index[0] is Ellipsis
    if not is_column or type(index[1]) is not int or array.aval is None:
        return None
    source = array.args[0] if op_name(array) == "astype" else array
    parts = _columns(source)
    if not -len(parts) <= index[1] < len(parts):
        return None
    part = parts[index[1]]
    if source is not array:
        dtype = array.aval.dtype
        part = writer.call(
            "astype", part, dtype, like=node, aval=type(node.aval)(part.aval.shape, dtype)
        )
    return writer.call("getitem", part, (..., 0), like=node, aval=node.aval, name=node.name)


def _columns(x: Any) -> list[Any]:
    """The operands of a concatenation along the last axis, if each is one column."""
    if not isinstance(x, Node) or op_name(x) != "concat" or x.aval is None:
        return []
    given = arguments_of(x)
    parts = given["arrays"]
    if given["axis"] not in (-1, len(x.aval.shape) - 1):
        return []
    is_column = [isinstance(p, Node) and p.aval and p.aval.shape[-1] == 1 for p in parts]
    same = [getattr(p, "aval", None) and p.aval.dtype is x.aval.dtype for p in parts]
    return [*parts] if all(is_column) and all(same) else []
