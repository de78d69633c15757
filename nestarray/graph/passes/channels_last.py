"""Run convolutions and pooling with channels last, the layout of TensorFlow's and XLA's kernels."""

from __future__ import annotations

import inspect
import math

from nestarray.graph.graph import Graph
from nestarray.graph.node import Argument, Aval, Call, Node, Operand
from nestarray.graph.passes.rewriting import Writer, any_layout, arguments_of, op_name, rewrite
from nestarray.graph.passes.transposes import cancel_transposes
from nestarray.graph.passes.view_calls import permuted
from nestarray.graph.passes.views import Shape


def channels_last(graph: Graph) -> Graph:
    """Compute convolutions, pooling and the calls between them with channels last.

    Each convolution is put between two transposes; `cancel_transposes` removes all but those for
    inputs and outputs of the graph. Kernels are transposed in the graph, so that parameters keep
    the source's layout; `fold_parameters` stores them transposed.
    """
    return cancel_transposes(rewrite(graph, _rule))


def _rule(writer: Writer, node: Call) -> Node | None:
    op = op_name(node)
    name = any_layout(op.removeprefix("adaptive_"))
    if not name or name == op or node.aval is None:
        return None
    arguments: dict[str, Operand] = arguments_of(node)
    x = arguments.pop("x")
    if not isinstance(x, Node) or x.aval is None:
        return None
    if name == "conv_transpose" and arguments["groups"] != 1:
        return None  # of which no framework has a kernel with the channels last
    if op.startswith("adaptive_"):
        window = _even_parts(x.aval.shape[2:], node.aval.shape[2:])
        if window is None:
            return None
        arguments = {"kernel_size": window, "stride": window}
    rank = len(node.aval.shape)
    last, first = (0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))
    moved = permuted(writer, x, last, node)
    aval = Aval(tuple([node.aval.shape[i] for i in last]), node.aval.dtype)
    arrays: list[Argument] = [moved]
    if "weight" in arguments:
        order = (*range(2, rank), 1, 0)
        arrays += [permuted(writer, arguments.pop("weight"), order, node), arguments.pop("bias")]
        arguments["weight_format"] = "channels_last"
    settings = {k: v for k, v in arguments.items() if v != _default(node, k)}
    out = writer.call(name, *arrays, like=node, aval=aval, **settings, data_format="channels_last")
    return permuted(writer, out, first, node, node.name)


def _even_parts(before: Shape, after: Shape) -> tuple[int, ...] | None:
    """The window of adaptive pooling, if all parts are of one length and more than one."""
    if math.prod(after) == 1 or not all(isinstance(n, int) and n for n in (*before, *after)):
        return None  # one part is a reduction over whole axes
    if any(n % parts for n, parts in zip(before, after, strict=True)):
        return None
    return tuple([n // parts for n, parts in zip(before, after, strict=True)])


def _default(node: Call, parameter: str) -> object:
    found = inspect.signature(node.target).parameters.get(parameter)
    return None if found is None else found.default
