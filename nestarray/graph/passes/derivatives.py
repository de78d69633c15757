"""Pass constants to custom pullbacks as residuals.

A pullback that reads a constant of the program around it is a closure. TensorFlow saves functions
and their captures, but not the captures of their derivatives. Residuals are values of the function.
"""

from __future__ import annotations

import dataclasses

from nestarray.graph.graph import Graph
from nestarray.graph.node import Body, Node, substituted
from nestarray.graph.passes.rewriting import Writer, rewrite


def pass_constants_to_pullbacks(graph: Graph) -> Graph:
    """Make the constants that a custom pullback reads results of its forward rule."""

    def rule(writer: Writer, node: Node) -> Node | None:
        if node.target_name != "na.call_with_vjp":
            return None
        function, forward, backward, *rest = node.args
        constants = [used for used in backward.free if used.source == "constants"]
        if not constants:
            return None
        closed = _with_residuals(writer, forward, backward, constants)
        new = dataclasses.replace(node, args=(function, *closed, *rest))
        writer.calls.append(new)
        return new

    return rewrite(graph, rule, in_bodies=True)


def _with_residuals(
    writer: Writer, forward: Body, backward: Body, constants: list[Node]
) -> tuple[Body, Body]:
    residuals, cotangents = backward.parameters
    added = [
        dataclasses.replace(x, name=writer.name("residual"), source="body", path="")
        for x in constants
    ]
    inner = substituted(backward, dict(zip(constants, added, strict=True)))
    backward = dataclasses.replace(inner, parameters=((*residuals, *added), cotangents))
    found, saved = forward.output
    return dataclasses.replace(forward, output=(found, (*saved, *constants))), backward
