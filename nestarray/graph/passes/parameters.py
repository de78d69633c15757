"""Compute calls that depend on parameters and state only, once, for inference."""

from __future__ import annotations

from nestarray.errors import ConversionError
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node, is_input, iter_nodes
from nestarray.graph.passes.constants import known_value
from nestarray.graph.passes.rewriting import Rule, Writer, place_of, rewrite
from nestarray.typing import Array


def fold_parameters(graph: Graph) -> Graph:
    """Compute the calls whose arguments are variables and constants, and keep the values.

    A variable that only such a call reads is replaced under its own path: a kernel that was
    transposed in each call is stored transposed. Others get a new path under ``folded``.

    Raises:
        ConversionError: the graph was traced with ``train=True``.
    """
    check_evaluation("fold_parameters", graph)
    return rewrite(graph, *RULES, drop_unused=True)


def check_evaluation(name: str, graph: Graph) -> None:
    """Raise an error for a training graph: its parameters must not change."""
    if graph.train:
        raise ConversionError(
            f"{name}: {graph.name} was traced with train=True, and its parameters are to be trained; "
            "trace it without, or leave this pass out"
        )
    if graph.state_updates:
        raise ConversionError(
            f"{name}: {graph.name} writes into {min(graph.state_updates)!r} of its state in evaluation, "
            "so its state is to change; leave this pass out"
        )


def _known(writer: Writer, node: Call) -> tuple[Array] | None:
    value = known_value(writer, node, ("v", "s", "constants"))
    return None if value is None else (value,)


def _variable(writer: Writer, node: Call, value: Array) -> Node:
    """A variable instead of the call.

    Before::

        def graph(x):  # float32[4, 3]
            # v['w']: float32[3, 3]
            # v['scale']: float32[3]
            kernel = na.matrix_transpose(v['w'])
            double = na.multiply(v['scale'], 2)
            product = na.matmul(x, kernel)
            scaled = na.multiply(product, double)
            y = na.add(scaled, v['scale'])
            return y

    After::

        def graph(x):  # float32[4, 3]
            # v['w']: float32[3, 3]
            # v['scale']: float32[3]
            # v['folded/double']: float32[3]
            product = na.matmul(x, v['w'])
            scaled = na.multiply(product, v['folded/double'])
            y = na.add(scaled, v['scale'])
            return y
    """
    operands = list(iter_nodes((node.args, node.kwargs)))
    variables = [used for used in operands if is_input(used, "v", "s")]
    source = "v" if any(is_input(used, "v") for used in operands) else "s"
    path = f"folded/{node.name}"
    if not variables:
        source = "constants"
    elif len(variables) == 1 and writer.is_read_once(variables[0]):
        path = variables[0].path
        del writer.values[source][path]
    new = writer.variable(source, path, value)
    writer.uses[place_of(new)] = writer.uses[place_of(node)]
    return new


RULES = (Rule(_known, _variable),)
