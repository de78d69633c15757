"""A graph run call by call, for those who look at the values on the way.

A value is let go after its last use, so a run holds what a plain call of the program holds.
Runs are generators: two of them can go side by side, each as far as the other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from nestarray import random
from nestarray.graph.codegen import last_uses
from nestarray.graph.node import Node, map_nodes

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph

#: Gives (call, value) for each call, and returns (output nest, new state by path).
Steps = Generator[tuple[Node, Any], None, tuple[Any, dict[str, Any]]]
#: Maps (call, value) to the value used by later calls.
Override = Callable[[Node, Any], Any]


def identity(node: Node, value: Any) -> Any:
    """Return the value unchanged."""
    return value


def given_values(graph: Graph, inputs: list[Any], key: Any) -> dict[Node, Any]:
    """The value of each input node: arguments, the graph's own variables, the key."""
    containers = {"v": graph.v, "s": graph.s, "constants": graph.constants}
    values: dict[Node, Any] = dict(zip(graph.inputs, inputs, strict=True))
    for node in graph.nodes:
        if node.source == "key":
            values[node] = key
        elif node.kind == "input" and node.source != "x":
            values[node] = containers[node.source][node.path]
    return values


def compute(graph: Graph, node: Node, value_of: Callable[[Node], Any], key: Any) -> Any:
    """The value of one call from those of its arguments."""
    args, kwargs = map_nodes(value_of, [list(node.args), node.kwargs])
    if node.is_random:
        kwargs["key"] = key_of(graph, node, key)
    assert node.target is not None
    with graph.running():
        try:
            return node.target(*args, **kwargs)
        except Exception as error:
            error.add_note(f"in {where_of(node)} of the graph of {graph.name}")
            raise


def key_of(graph: Graph, node: Node, key: Any) -> Any:
    """What a call draws random numbers with."""
    return random.fold_in(key, graph.random_numbers[node])


def where_of(node: Node) -> str:
    """A call by the variable that holds it, its function, its module and its line."""
    place = " ".join(part for part in (node.module, node.line) if part)
    return f"{node.name} = {node.target_name}(…)" + (f" ({place})" if place else "")


def steps(graph: Graph, inputs: list[Any], key: Any, override: Override = identity) -> Steps:
    """Run a graph with its own variables.

    Args:
        graph: the graph.
        inputs: flat inputs.
        key: random key, or None.
        override: maps (call, value) to the value used by later calls.
    """
    values = given_values(graph, inputs, key)
    dead = last_uses(graph)
    for node in graph.calls:
        value = compute(graph, node, values.__getitem__, key)
        yield node, value
        values[node] = override(node, value)
        for unused in dead.get(node, ()):
            del values[unused]
    state = {path: values[node] for path, node in graph.state_updates.items()}
    return map_nodes(values.__getitem__, graph.output), state


def result_of(run: Steps) -> tuple[Any, dict[str, Any]]:
    """What a run returns, when nobody looks at the values on the way."""
    while True:
        try:
            next(run)
        except StopIteration as end:
            return end.value
