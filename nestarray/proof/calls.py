"""Compare the calls of a graph with the source's, one by one.

Source and graph run in parallel, so memory stays at the level of two plain runs. A call over the
tolerance is computed again from the source's inputs, which separates a wrong call from an
inherited error.

The derivative of each call is taken on the source's inputs, which separates a wrong derivative
from a value at a kink.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

from nestarray import ops, tree
from nestarray.backends import is_array
from nestarray.graph.codegen import last_uses
from nestarray.graph.execution import Run, compute, given_values, steps
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node, iter_nodes
from nestarray.proof.comparison import Pair, compare, compare_together, worst
from nestarray.proof.expected_dtypes import ExpectedDtypes
from nestarray.proof.projection import projection
from nestarray.proof.report import Comparison
from nestarray.proof.rounding import allowance, variants, with_rounding
from nestarray.proof.source import Source, call_gradients
from nestarray.proof.tolerances import Tolerances

#: Returns the results for unchanged inputs and for inputs changed by rounding.
Results = Callable[[], list[Any]]


class Side(NamedTuple):
    """One side of the comparison: the graph on a backend, flat inputs and a key there."""

    graph: Graph
    inputs: list[Any]
    key: Any

    @classmethod
    def of(cls, graph: Graph, inputs: list[Any], key: Any) -> Side:
        """Inputs and a key of any backend, on the graph's."""
        key = None if key is None else ops.to_backend(key, graph.backend)
        return cls(graph, on_backend(inputs, graph.backend), key)


@dataclasses.dataclass(frozen=True)
class Calls:
    """The calls of a graph, and the tolerances of their comparison."""

    graph: Graph
    tolerances: Tolerances

    @cached_property
    def _dtypes(self) -> ExpectedDtypes:
        return ExpectedDtypes(self.graph)

    @cached_property
    def parts(self) -> dict[Node, list[Call]]:
        """For each call with several results, the calls that take an array of them."""
        return _parts_read(self.graph)

    @cached_property
    def comparable(self) -> list[Node]:
        """The calls that give arrays."""
        return [node for node in self.graph.calls if self._is_comparable(node)]

    def _is_comparable(self, node: Node) -> bool:
        return node.aval is not None or node in self.parts

    def in_lockstep(
        self, source: Source, theirs: Side, ours: Side
    ) -> tuple[tuple[Any, dict[str, Any]], list[Comparison]]:
        """(output, new state) of the graph, and a row for each call."""
        graph, inputs, key = theirs
        ahead = iter(source.steps(graph, inputs, graph.v, graph.s, key))
        expected = given_values(*theirs)
        given = given_values(*ours)
        dead, wanted = last_uses(self.graph), set(self.graph.calls)
        rows: list[Comparison] = []
        is_found = False
        run = Run(steps(*ours))
        for node, value in run:
            while node not in expected:
                other = next(ahead, None)
                if other is None:
                    break  # a node that the source does not have
                if other[0] in wanted:
                    expected[other[0]] = other[1]
            if self._is_comparable(node) and node in expected and not is_unset(node):
                row = self.compare(node, expected[node], value)
                if not row.ok and not is_found:
                    alone = self._alone(node, expected, given, ours)
                    if alone is not None:
                        is_found = not alone.ok
                        row = dataclasses.replace(row, alone=alone.relative, is_at_fault=is_found)
                rows.append(row)
            for unused in dead.get(node, ()):
                expected.pop(unused, None)
        return run.result, rows

    def compare(self, node: Call, want: Any, got: Any, near: Results | None = None) -> Comparison:
        """A row for the value of a call, or for the worst of several results.

        `near` gives the effect of rounding on values over the tolerance.
        """
        if node.aval is not None:
            found = [(node, lambda value: value)]
        else:
            found = [(part, operator.itemgetter(part.args[1])) for part in self.parts[node]]
        rows = [
            compare(
                Pair(node.name, of(want), of(got), self._dtypes.of_call(part, of(want))),
                self.tolerances.of(part),
                _where(node),
            )
            for part, of in found
        ]
        if near is not None and not all(row.agrees_in_value for row in rows):
            results = near()
            rows = [
                with_rounding([row], lambda _, of=of: allowance([of(x) for x in results]))[0]
                for row, (_, of) in zip(rows, found, strict=True)
            ]
        return worst(rows)

    def _alone(
        self, node: Call, expected: dict[Node, Any], given: dict[Node, Any], ours: Side
    ) -> Comparison | None:
        """A row for a call on the source's inputs; None if these are unknown."""
        used = dict.fromkeys(iter_nodes((node.args, node.kwargs)))
        if not used.keys() <= expected.keys() | given.keys():
            return None
        backend = ours.graph.backend
        values = {n: given[n] if n in given else on_backend(expected[n], backend) for n in used}
        near = self.near_results(node, values, ours)
        got = compute(ours.graph, node, values.__getitem__, ours.key)
        return self.compare(node, expected[node], got, near)

    def near_results(self, node: Call, known: dict[Node, Any], ours: Side) -> Results | None:
        """Returns the values of a call on its inputs, unchanged and changed by rounding.

        None if an input is unknown, or the caller has given a tolerance.
        """
        used = dict.fromkeys(iter_nodes((node.args, node.kwargs)))
        if not self.tolerances.is_own_value or not used.keys() <= known.keys():
            return None
        return lambda: [
            compute(ours.graph, node, values.__getitem__, ours.key)
            for values in _near({n: known[n] for n in used})
        ]

    def gradients(self, source: Source, theirs: Side) -> list[Comparison]:
        """A row for each derivative of a call with respect to one of its arrays.

        Args:
            source: of the originally traced graph.
            theirs: that graph, before any pass.
        """
        graph, inputs, key = theirs
        here = self.graph.backend
        ours = Side.of(graph.to_backend(here, copy=None), inputs, key)
        values, loss_of = given_values(*theirs), _losses(graph)
        dead = last_uses(graph)
        rows: list[Comparison] = []
        for node, value in source.steps(graph, inputs, graph.v, graph.s, key):
            values[node] = value
            loss = loss_of(node)
            want = source.call_gradients(graph, node, values, key, loss)
            if want:
                gradients_at = partial(call_gradients, ours.graph, node, key=ours.key, loss=loss)
                taken = list(dict.fromkeys(iter_nodes((node.args, node.kwargs))))
                given = dict(zip(taken, on_backend([values[n] for n in taken], here), strict=True))
                rows += self._compare_gradients(node, want, gradients_at, given)
            for unused in dead.get(node, ()):
                values.pop(unused, None)
        return rows

    def _compare_gradients(
        self,
        node: Call,
        want: dict[Node, Any],
        gradients_at: Callable[[dict[Node, Any]], dict[Node, Any]],
        given: dict[Node, Any],
    ) -> list[Comparison]:
        """A row for each array that a call takes, by its derivatives at the values `given`."""
        got = gradients_at(given)
        pairs = [Pair(n.name, g, got[n]) for n, g in want.items() if n in got]
        rows = compare_together(pairs, self.tolerances.eps, self.tolerances.gradient)
        if not all(row.ok for row in rows):
            near = [{n.name: g for n, g in gradients_at(values).items()} for values in _near(given)]
            rows = with_rounding(rows, lambda name: allowance([x[name] for x in near]))
        return [
            dataclasses.replace(row, name=f"∂{node.name}/∂{row.name}", where=_where(node))
            for row in rows
        ]


def is_unset(node: Call) -> bool:
    """Whether the source leaves the values of the array undefined."""
    return any(part.startswith(("empty", "new_empty")) for part in node.origin.split("."))


def on_backend(nest: Any, backend: str) -> Any:
    """A nest with its arrays on `backend`; sizes and other numbers of Python stay."""
    return tree.map(lambda x: ops.to_backend(x, backend) if is_array(x) else x, nest)


def _near(values: dict[Node, Any]) -> list[dict[Node, Any]]:
    """The values of nodes, unchanged and changed by rounding."""
    return [dict(zip(values, x, strict=True)) for x in variants(list(values.values()))]


def _parts_read(graph: Graph) -> dict[Node, list[Call]]:
    """For each call with several results, the calls that take an array of them."""
    parts: dict[Node, list[Call]] = {}
    for call in graph.calls:
        is_part = call.target is operator.getitem and isinstance(call.args[0], Node)
        if is_part and call.aval is not None:  # else it has parts itself
            parts.setdefault(call.args[0], []).append(call)
    return parts


def _losses(graph: Graph) -> Callable[[Node], Callable[[Any], Any]]:
    """Maps a call to the projection of those results of the call that are used."""
    used = {n for call in graph.calls for n in iter_nodes((call.args, call.kwargs))}
    used |= set(iter_nodes(graph.output))
    parts = _parts_read(graph)

    def loss_of(node: Node) -> Callable[[Any], Any]:
        read = [part.args[1] for part in parts.get(node, ()) if part in used]

        def loss(value: Any) -> Any:
            is_nest = isinstance(value, (list, tuple))
            return projection([value[i] for i in read] if is_nest else value)

        return loss

    return loss_of


def _where(node: Call) -> str:
    """The operation behind a node, its module and its line."""
    return " ".join(part for part in (node.origin, node.module, node.line) if part)
