"""Compute calls that depend on constants only."""

from __future__ import annotations

from nestarray import dtypes
from nestarray.backends import is_array
from nestarray.graph.execution import compute
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node, bodies, is_input, iter_nodes
from nestarray.graph.passes.rewriting import Rule, Writer, rewrite
from nestarray.typing import Array

#: Bytes by which a folded value may exceed its inputs.
MOST_BYTES = 1 << 20


def fold_constants(graph: Graph) -> Graph:
    """Compute the calls whose arguments are constants, and keep the values.

    A value that is larger than its arguments, such as a broadcast, stays a call.
    """
    return rewrite(graph, *RULES, in_bodies=True)


def known_value(writer: Writer, node: Call, sources: tuple[str, ...] = ("constants",)) -> Array:
    """The array that a call gives, if inputs of `sources` alone decide it, else None."""
    operands = list(iter_nodes((node.args, node.kwargs)))
    if node.is_random or node.aval is None or any(bodies(node.args)):
        return None
    values: dict[Node, Array] = {
        used: writer.value_of(used) for used in operands if is_input(used, *sources)
    }
    if len(values) < len({*operands}):
        return None
    value = compute(writer.graph, node, values.__getitem__, None)
    size = sum(_num_bytes(values[used]) for used in operands)
    return value if is_array(value) and _num_bytes(value) <= max(MOST_BYTES, size) else None


def _num_bytes(x: Array) -> int:
    count = 1
    for n in x.shape:
        count *= int(n)
    return count * dtypes.dtype_of(x).bits // 8


def _known(writer: Writer, node: Call) -> tuple[Array] | None:
    value = known_value(writer, node)
    return None if value is None else (value,)


def _constant(writer: Writer, node: Call, value: Array) -> Node:
    """A constant under the name of the call.

    Before::

        def graph(x):  # float32[3]
            # constants['c']: float32[3]
            half = na.multiply(constants['c'], 0.5)
            y = na.add(x, half)
            return y

    After::

        def graph(x):  # float32[3]
            # constants['half']: float32[3]
            y = na.add(x, constants['half'])
            return y
    """
    return writer.variable("constants", node.name, value)


RULES = (Rule(_known, _constant),)
