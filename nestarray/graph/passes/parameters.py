"""Compute calls that depend on parameters and state only, once, for inference."""

from __future__ import annotations

from nestarray.errors import ConversionError
from nestarray.graph.graph import Graph
from nestarray.graph.node import Node, iter_nodes
from nestarray.graph.passes.constants import known_value
from nestarray.graph.passes.rewriting import Writer, count_uses, place_of, rewrite


def fold_parameters(graph: Graph) -> Graph:
    """Compute the calls whose arguments are variables and constants, and keep the values.

    A variable that only such a call reads is replaced under its own path: a kernel that was
    transposed in each call is stored transposed. Others get a new path under ``folded``.

    Raises:
        ConversionError: the graph was traced with ``train=True``.
    """
    check_evaluation("fold_parameters", graph)
    uses = count_uses(graph)

    def rule(writer: Writer, node: Node) -> Node | None:
        value = known_value(writer, node, ("v", "s", "constants"))
        if value is None:
            return None
        given = list(iter_nodes((node.args, node.kwargs)))
        variables = [used for used in given if used.source != "constants"]
        source = "v" if any(used.source == "v" for used in given) else "s"
        path = f"folded/{node.name}"
        if not variables:
            source = "constants"
        elif len(variables) == 1 and uses[place_of(variables[0])] == 1:
            path = variables[0].path
            del writer.values[source][path]
        new = writer.variable(source, path, value)
        uses[place_of(new)] = uses[place_of(node)]
        return new

    return rewrite(graph, rule, drop_unused=True)


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
