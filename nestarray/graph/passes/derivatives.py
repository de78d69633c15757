"""Pass constants to custom pullbacks as residuals.

A pullback that reads a constant of the program around it is a closure. TensorFlow saves functions
and their captures, but not the captures of their derivatives. Residuals are values of the function.
"""

from __future__ import annotations

import dataclasses

from nestarray.graph.graph import Graph
from nestarray.graph.node import Body, Call, Input, Node, is_input, substituted
from nestarray.graph.passes.rewriting import Rule, Writer, rewrite


def pass_constants_to_pullbacks(graph: Graph) -> Graph:
    """Make the constants that a custom pullback reads results of its forward rule."""
    return rewrite(graph, *RULES, in_bodies=True)


def _constants_of_pullback(_: Writer, node: Call) -> tuple[list[Input]] | None:
    if node.target_name != "na.call_with_vjp":
        return None
    constants = [used for used in node.args[2].free if is_input(used, "constants")]
    return (constants,) if constants else None


def _with_residuals(writer: Writer, node: Call, constants: list[Node]) -> Node:
    """The call, whose forward rule saves the constants.

    Before::

        def graph(x):  # float32[3]
            # constants['c']: float32[3]
            def function(a):
                (x_0,) = a  # float32[3]
                return (x_0,)
            def forward(b):
                (x_1,) = b  # float32[3]
                return ((x_1,), ())
            def backward(residuals, cotangents):
                (g,) = cotangents  # float32[3]
                scaled = na.multiply(g, constants['c'])
                return (scaled,)
            y = na.call_with_vjp(function, forward, backward, (x,))
            y_0 = y[0]
            return y_0

    After::

        def graph(x):  # float32[3]
            # constants['c']: float32[3]
            def function(a):
                (x_0,) = a  # float32[3]
                return (x_0,)
            def forward(b):
                (x_1,) = b  # float32[3]
                return ((x_1,), (constants['c'],))
            def backward(residuals, cotangents):
                (residual,) = residuals  # float32[3]
                (g,) = cotangents  # float32[3]
                scaled = na.multiply(g, residual)
                return (scaled,)
            y = na.call_with_vjp(function, forward, backward, (x,))
            y_0 = y[0]
            return y_0
    """
    function, forward, backward, *others = node.args
    residuals, cotangents = backward.parameters
    added = [
        dataclasses.replace(x, name=writer.name("residual"), source="body", path="")
        for x in constants
    ]
    inner: Body = substituted(backward, dict(zip(constants, added, strict=True)))
    backward = dataclasses.replace(inner, parameters=((*residuals, *added), cotangents))
    output, saved = forward.output
    forward = dataclasses.replace(forward, output=(output, (*saved, *constants)))
    new = dataclasses.replace(node, args=(function, forward, backward, *others))
    writer.calls.append(new)
    return new


RULES = (Rule(_constants_of_pullback, _with_residuals),)
