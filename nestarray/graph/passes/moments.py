"""Read the moments of a batch from the call that normalizes it."""

from __future__ import annotations

import dataclasses

from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Call, Node, iter_nodes, substituted
from nestarray.graph.passes.rewriting import Writer, arguments_of, is_op, rewrite


def share_moments(graph: Graph) -> Graph:
    """Replace means and variances of x by results of the `batch_norm_training` of x.

    Running statistics read them. The normalization moves to the first of them, if its operands
    are computed before.

    Before::

        def graph(x):  # float32[4, 3]
            mean = na.mean(x, axis=0)
            square = na.var(x, axis=0, keepdims=True)
            norm = na.batch_norm_training(x)
            y = norm[0]
            return y, mean, square

    After::

        def graph(x):  # float32[4, 3]
            norm = na.batch_norm_training(x)
            mean = norm[1]
            norm_2 = norm[2]
            square = na.reshape(norm_2, (1, -1))
            y = norm[0]
            return y, mean, square
    """
    at = {node.name: i for i, node in enumerate(graph.calls)}
    norms = {n.args[0].name: n for n in graph.calls if is_op(n, "batch_norm_training")}
    written: dict[str, Call] = {}  # name of a normalization → its call in the new graph

    def rule(writer: Writer, node: Call) -> Node | None:
        if is_op(node, "batch_norm_training"):
            return written.get(node.name)
        norm = norms.get(node.args[0].name) if is_op(node, "mean", "var") else None
        if norm is None or not _is_moment(node, norm):
            return None
        if norm.name not in written:
            operands = [x for x in iter_nodes(norm.args) if isinstance(x, Call)]
            if any(at[x.name] > at[node.name] for x in operands):
                return None
            args = substituted(norm.args, writer.stands_for)
            written[norm.name] = dataclasses.replace(norm, args=args)
            writer.calls.append(written[norm.name])
        assert node.aval is not None
        channels = norm.args[0].aval.shape[arguments_of(norm)["axis"]]
        aval = Aval((channels,), node.aval.dtype)
        index = 1 if is_op(node, "mean") else 2
        if node.aval.shape == aval.shape:
            return writer.item(written[norm.name], index, like=node, aval=aval, name=node.name)
        item = writer.item(written[norm.name], index, like=node, aval=aval)
        shape = tuple([n if n == 1 else -1 for n in node.aval.shape])
        return writer.call("reshape", item, shape, like=node, aval=node.aval, name=node.name)

    return rewrite(graph, rule) if norms else graph


def _is_moment(node: Call, norm: Call) -> bool:
    """Whether a mean or a variance is per channel."""
    x, given = node.args[0], arguments_of(node)
    rank = len(x.aval.shape)
    axis = arguments_of(norm)["axis"] % rank
    over = given["axis"]
    over = range(rank) if over is None else (over,) if isinstance(over, int) else over
    is_biased = given.get("correction", 0) == 0
    return is_biased and {a % rank for a in over} == {*range(rank)} - {axis}
