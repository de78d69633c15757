"""Rows of a table: an embedding where no id is negative, else an indexing that counts from the end."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from nestarray import ops
from nestarray.exporters.source.recording.forms.layers import padded_embedding
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Call, Node, is_input, iter_nodes
from nestarray.graph.passes.rewriting import Writer, arguments_of, has, is_op, rewrite
from nestarray.traits import Trait


def plain_take(writer: Writer, node: Call) -> Node | None:
    """``jnp.take(x, i, axis)`` and ``x[i]`` of JAX, which have other values for rows that x lacks."""
    x, indices, *_ = (*node.args, None, None)
    if not isinstance(x, Node) or not isinstance(indices, Node) or node.aval is None:
        return None
    axis = None
    if node.target_name == "jax.numpy.take" and [*node.kwargs] == ["axis"]:
        axis = node.kwargs["axis"]
    if node.target_name == "jax.lax.gather" and x.aval:
        indices, axis = _indexed(node, x.aval, indices)
    if axis is None or x.aval is None or indices.aval is None:
        return None
    shape, unit = node.aval.shape, axis + len(indices.aval.shape)
    if len(shape) < len(x.aval.shape) + len(indices.aval.shape):
        return writer.call("take", x, indices, axis=axis, like=node, aval=node.aval, name=node.name)
    aval = Aval((*shape[:unit], *shape[unit + 1 :]), node.aval.dtype)
    rows = writer.call("take", x, indices, axis=axis, like=node, aval=aval)
    return writer.call("expand_dims", rows, unit, like=node, aval=node.aval, name=node.name)


def _indexed(node: Call, x: Aval, rows: Node) -> tuple[Node, int | None]:
    """The indices and the axis of a gather that is ``x[:, i]``; no axis for another one.

    `vmap` makes a gather of a slice of one row: it keeps the axis, and the other axes have zeros as
    their indices.
    """
    _, _, (offset, collapsed, indexed, *batch), sizes = node.args
    columns: Any = [rows]
    if isinstance(rows, Call) and rows.target_name == "jax.lax.concatenate":
        columns = rows.args[0]
    places = [i for i, column in enumerate(columns) if not _is_zero(column)]
    if len(places) != 1 or len(columns) != len(indexed) or any(batch):
        return rows, None
    axis, column, rank = indexed[places[0]], columns[places[0]], len(x.shape)
    indices = column.args[0] if isinstance(column, Call) and column.args else column
    is_wrapped = isinstance(indices, Call) and indices.target_name == "jax.lax.select_n"
    if not is_wrapped or indices.aval is None or column.aval is None:
        return rows, None
    count = len(indices.aval.shape)
    first = axis + count + (not collapsed)
    expected = (*range(axis), *range(axis + count, first), *range(first, first + rank - 1 - axis))
    slices = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
    is_plain = (*offset,) == expected and (*collapsed,) in ((axis,), ()) and (*sizes,) == slices
    is_plain &= column.aval.shape == (*indices.aval.shape, 1)
    return indices, axis if is_plain and node.kwargs.get("mode") in ("clip", "fill") else None


def _is_zero(x: Any) -> bool:
    """Whether all indices of an array are zero."""
    if not isinstance(x, Call):
        return False
    if x.target_name == "jax.lax.broadcast_in_dim" and isinstance(x.args[0], Node):
        return _is_zero(x.args[0])
    return x.target_name in ("jax.lax.full", "jax.lax.broadcast_in_dim") and 0 in x.args[:2]


def with_rows(graph: Graph) -> Graph:
    """A lowered graph in which ids are as the source has them, and rows of tables are embeddings.

    Embeddings take no negative ids. The inputs of a model are not negative where they are ids, as
    the layers of all libraries want them.
    """
    graph = rewrite(graph, _unwrapped, in_bodies=True)
    return rewrite(rewrite(graph, _embedding, in_bodies=True), _padded_embedding)


def _unwrapped(writer: Writer, node: Call) -> Node | None:
    """``take(x, where(i < 0, i + n, i))``, of n elements, as ``take(x, i)``."""
    if not is_op(node, "take") or not is_op(node.args[1], "where"):
        return None
    x, wrapped = node.args
    axis = arguments_of(node)["axis"]
    is_negative, moved, i = wrapped.args
    if not isinstance(moved, Node) or not is_op(moved, "add") or axis is None:
        return None
    is_below_zero = is_op(is_negative, "less") and is_negative.args == (i, 0)
    if not is_below_zero or moved.args != (i, x.aval.shape[axis]):
        return None
    new = dataclasses.replace(node, args=(x, i))
    writer.calls.append(new)
    return new


def _embedding(writer: Writer, node: Call) -> Node | None:
    """``take(table, ids, axis=0)`` as an embedding."""
    if not is_op(node, "take") or arguments_of(node)["axis"] != 0 or node.aval is None:
        return None
    table, ids = node.args
    is_table = isinstance(table, Node) and table.aval is not None and len(table.aval.shape) == 2
    if not is_table or not isinstance(ids, Node) or not _is_not_negative(ids, writer.graph):
        return None
    return writer.call("embedding", ids, table, like=node, aval=node.aval, name=node.name)


def _is_not_negative(x: Any, graph: Graph) -> bool:
    """Whether no element of an operand is negative."""
    if not isinstance(x, Node):
        return x >= 0
    if is_input(x, "constants"):
        return bool((np.asarray(ops.to_backend(graph.constants[x.path], "numpy")) >= 0).all())
    is_mask = x.aval is not None and x.aval.dtype.name == "bool"
    if is_input(x, "x") or is_mask or is_op(x, "abs") or has(x, Trait.POSITIONS):
        return True
    if not has(x, Trait.NONNEGATIVE):
        return False
    numbers = [n for n in x.args if isinstance(n, (int, float))]
    return all(_is_not_negative(n, graph) for n in (*numbers, *iter_nodes(x.args)))


def _padded_embedding(writer: Writer, node: Call) -> Node | None:
    """An embedding that trains all rows but one."""
    if not is_op(node, "embedding") or not is_op(node.args[1], "where"):
        return None
    mask, stopped, weight = node.args[1].args
    is_of_row = is_op(mask, "expand_dims") and is_op(mask.args[0], "equal")
    if not is_op(stopped, "stop_gradient") or stopped.args != (weight,) or not is_of_row:
        return None
    numbers, row = mask.args[0].args
    if not is_op(numbers, "arange") or not isinstance(row, int):
        return None
    new = dataclasses.replace(
        node, target=padded_embedding, target_name="embedding", args=(node.args[0], weight),
        kwargs={"padding_idx": row},
    )  # fmt: skip
    writer.calls.append(new)
    return new
