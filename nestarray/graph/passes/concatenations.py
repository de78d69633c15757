"""Read a part of a concatenation from the part itself."""

from __future__ import annotations

from nestarray.dtypes import DType
from nestarray.graph.graph import Graph
from nestarray.graph.node import Argument, Aval, Call, Node
from nestarray.graph.passes.rewriting import Rule, Writer, arguments_of, is_op, rewrite


def read_parts(graph: Graph) -> Graph:
    """Index into the operand of `concat` where an index selects one of it.

    JAX stacks the indices of ``x[i, j]`` to one array, whose columns `gather` reads.
    """
    return rewrite(graph, *RULES, in_bodies=True)


def _column_of_concat(_: Writer, node: Call) -> tuple[Node, DType] | None:
    """The part that is the column of an index, and the dtype to which `concat` is cast."""
    if not is_op(node, "getitem"):
        return None
    array, index = node.args
    is_column = isinstance(index, tuple) and len(index) == 2 and index[0] is Ellipsis
    if not is_column or type(index[1]) is not int or array.aval is None:
        return None
    parts = _columns(array.args[0] if is_op(array, "astype") else array)
    is_inside = -len(parts) <= index[1] < len(parts)
    return (parts[index[1]], array.aval.dtype) if is_inside else None


def _column_of_part(writer: Writer, node: Call, part: Node, dtype: DType) -> Node:
    """Read the part, and cast it as the concatenation.

    Before::

        def graph(x, y):  # int64[4, 1], int64[4, 1]
            both = na.concat([x, y], axis=-1)
            small = na.astype(both, na.int32)
            column = na.getitem(small, (..., 1))
            return column

    After::

        def graph(x, y):  # int64[4, 1], int64[4, 1]
            astype = na.astype(y, na.int32)
            column = na.getitem(astype, (..., 0))
            return column
    """
    assert part.aval is not None
    if part.aval.dtype is not dtype:
        part = writer.call("astype", part, dtype, like=node, aval=Aval(part.aval.shape, dtype))
    return writer.call("getitem", part, (..., 0), like=node, aval=node.aval, name=node.name)


def _columns(x: Argument) -> list[Node]:
    """The operands of a concatenation along the last axis, if each is one column."""
    if not is_op(x, "concat") or x.aval is None:
        return []
    given = arguments_of(x)
    avals = [part.aval if isinstance(part, Node) else None for part in given["arrays"]]
    is_last = given["axis"] in (-1, len(x.aval.shape) - 1)
    is_column = (aval and aval.shape[-1] == 1 and aval.dtype is x.aval.dtype for aval in avals)
    return [*given["arrays"]] if is_last and all(is_column) else []


RULES = (Rule(_column_of_concat, _column_of_part),)
