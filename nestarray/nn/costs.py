"""The FLOPs and the activation memory of each module of a net, for its summary."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from nestarray.graph.flops import flops_of, steps_of
from nestarray.graph.node import Node, bodies
from nestarray.importers.tracing import trace_graph

if TYPE_CHECKING:
    from nestarray.nn.module import Module


class Cost(NamedTuple):
    """What a module computes itself, without its children.

    Attributes:
        output: the shape of the last array that it computes; None if it has no calls.
        flops: of its calls; None if they are not known.
        activations: bytes of the results of its calls, which a gradient may need.
    """

    output: tuple[Any, ...] | None = None
    flops: int | None = 0
    activations: int = 0


def costs_of(net: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Cost]:
    """Path of a module → its cost in a call of the net in evaluation mode."""
    graph = trace_graph(net, *args, **kwargs)
    costs: dict[str, Cost] = {}
    _add(costs, graph.calls, 1)
    return costs


def _add(costs: dict[str, Cost], calls: Iterable[Node], times: int | None) -> None:
    for node in calls:
        inner = [body.nodes for body in bodies(node.args)]
        if inner:
            steps = steps_of(node)
            for nodes in inner:
                _add(costs, nodes, None if times is None or steps is None else times * steps)
        output, flops, activations = costs.get(node.module, Cost())
        own = 0 if inner else flops_of([node])
        flops = None if None in (flops, own, times) else flops + times * own
        shape = None if node.aval is None else node.aval.shape
        if shape is not None and all(isinstance(size, int) for size in shape):
            activations += (times or 1) * math.prod(shape) * node.aval.dtype.bits // 8
        costs[node.module] = Cost(output if shape is None else shape, flops, activations)
