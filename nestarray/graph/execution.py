"""Run a graph call by call, with access to the value of each call.

Values are released after their last use, so memory is as in a plain call. Runs are generators, so
two of them can run in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from nestarray import random
from nestarray.graph.codegen import last_uses
from nestarray.graph.node import Call, Input, Node, is_input, map_nodes
from nestarray.typing import Array, Nest

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph

#: Gives (call, value) for each call, and returns (output nest, new state by path).
Steps = Generator[tuple[Call, Nest], None, tuple[Nest, dict[str, Nest]]]
#: Maps (call, value) to the value used by later calls.
Override = Callable[[Call, Nest], Nest]


def identity(node: Call, value: Nest) -> Nest:
    """Return the value unchanged."""
    return value


def given_values(graph: Graph, inputs: list[Array], key: Array) -> dict[Node, Nest]:
    """The value of each input node: arguments, the graph's own variables, the key."""
    containers = {"v": graph.v, "s": graph.s, "constants": graph.constants}
    values: dict[Node, Nest] = dict(zip(graph.inputs, inputs, strict=True))
    for node in graph.nodes:
        if is_input(node, "key"):
            values[node] = key
        elif isinstance(node, Input) and node.source != "x":
            values[node] = containers[node.source][node.path]
    return values


def compute(graph: Graph, node: Call, value_of: Callable[[Node], Nest], key: Array) -> Nest:
    """The value of one call, given the values of its arguments."""
    args, kwargs = map_nodes(value_of, [list(node.args), node.kwargs])
    if node.is_random:
        kwargs["key"] = key_of(graph, node, key)
    with graph.running():
        try:
            return node.target(*args, **kwargs)
        except Exception as error:  # of any function; it gets its place, and goes on
            error.add_note(f"in {where_of(node)} of the graph of {graph.name}")
            raise


def key_of(graph: Graph, node: Call, key: Array) -> Nest:
    """The random key of one call."""
    return random.fold_in(key, graph.random_numbers[node])


def where_of(node: Call) -> str:
    """A call in words: its variable, function, module and line."""
    place = " ".join(part for part in (node.module, node.line) if part)
    return f"{node.name} = {node.target_name}(…)" + (f" ({place})" if place else "")


def steps(graph: Graph, inputs: list[Array], key: Array, override: Override = identity) -> Steps:
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


class Run:
    """The steps of a run, and its result at the end."""

    def __init__(self, run: Steps) -> None:
        self._run = run
        self.result: tuple[Nest, dict[str, Nest]] = (None, {})

    def __iter__(self) -> Iterator[tuple[Call, Nest]]:
        self.result = yield from self._run


def result_of(run: Steps) -> tuple[Nest, dict[str, Nest]]:
    """The result of a run."""
    while True:
        try:
            next(run)
        except StopIteration as end:
            return end.value
