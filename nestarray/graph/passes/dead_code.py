"""Remove calls that no result depends on, and carries of loops that only feed themselves.

Calls are read from the last one back. A carry of a loop is live if its last value is read, or if the
test, a live carry or a live row of results depends on it; a counter that only counts is not.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Collection, Sequence
from typing import NamedTuple

from nestarray.graph.graph import Graph
from nestarray.graph.node import Body, Call, Node, Operand, T, iter_nodes, reached
from nestarray.graph.passes.rewriting import Writer, rewrite


def remove_dead_code(graph: Graph) -> Graph:
    """Without the calls, constants, keys and carries that neither output nor new state depend on.

    Parameters and state stay, used or not: they are the source's.

    Before::

        def graph(x):  # float32[3]
            def step(i, carry):  # int64[], ...
                (a, b) = carry  # float32[3], float32[3]
                c = na.sin(a)
                d = na.add(a, b)
                return (c, d)
            loop = na.fori_loop(0, 4, step, (x, x))
            first = loop[0]
            second = loop[1]
            return first

    After::

        def graph(x):  # float32[3]
            def step(i, carry):  # int64[], ...
                (a,) = carry  # float32[3]
                c = na.sin(a)
                return (c,)
            loop = na.fori_loop(0, 4, step, (x,))
            first = loop[0]
            return first
    """
    live: dict[str, _Live] = {}
    _live_nodes(graph.calls, graph.results, live)
    return rewrite(graph, _Narrowing(live).rule, in_bodies=True)


class _Live(NamedTuple):
    """The live parts of a loop, as indices.

    Attributes:
        carries: of the carry.
        rows: of the arrays that a scan goes over.
        stacked: of the stacked results of a scan.
    """

    carries: list[int]
    rows: list[int]
    stacked: list[int]


#: Loop → the positions of its body, of the carry, and of the carry among the body's parameters.
_LOOPS = {"na.while_loop": (1, 2, 0), "na.fori_loop": (2, 3, 1), "na.scan": (0, 1, 0)}


class _Loop:
    """A call of a loop, by its parts."""

    def __init__(self, node: Call) -> None:
        self.node = node
        self.is_scan = node.target_name == "na.scan"
        self.test: Body | None = node.args[0] if node.target_name == "na.while_loop" else None
        self._body_at, self._carry_at, self._place = _LOOPS[node.target_name]
        self.body: Body = node.args[self._body_at]
        self.start = node.args[self._carry_at]
        self.carry = self.body.members(self._place)
        self.xs, self.row = (node.args[2], self.body.members(1)) if self.is_scan else ((), ())
        output = self.body.output
        self.carried, self.stacked = output if self.is_scan else (output, ())

    def live(
        self, carries: Collection[int], stacked: Collection[int], found: dict[str, _Live]
    ) -> set[Node]:
        """The nodes outside that it uses; notes its live parts.

        Args:
            carries, stacked: the results that are read.
            found: name of a loop → its live parts, of this loop and those in its functions.
        """
        # a scan without arrays keeps a carry, which has the backend
        fewest = range(len(self.start))[:1] if not self.xs else ()
        carries, tested = {*(carries or fewest)}, set[Node]()
        if self.test is not None:
            tested = _live_nodes(self.test.nodes, self.test.output, found)
            carries |= _places(self.test.members(0), tested)
        while True:
            results = _chosen(self.carried, carries), _chosen(self.stacked, stacked)
            inside = _live_nodes(self.body.nodes, results, found)
            if carries.issuperset(needed := _places(self.carry, inside)):
                break
            carries |= needed
        rows = _places(self.row, inside) or range(len(self.xs))[:1]  # one has the number of steps
        found[self.node.name] = _Live(*map(sorted, (carries, rows, stacked)))
        others = [x for x in self.node.args if isinstance(x, Node)], self.node.kwargs
        given = _chosen(self.start, carries), _chosen(self.xs, rows), others
        free = {*iter_nodes([self.body, self.test])}
        return {*iter_nodes(given), *(free & (inside | tested))}

    def narrowed(self, live: _Live) -> Call:
        """The call with its live parts."""
        args, parameters = [*self.node.args], [*self.body.parameters]
        args[self._carry_at] = _chosen(self.start, live.carries)
        parameters[self._place] = _chosen(self.carry, live.carries)
        output = _chosen(self.carried, live.carries)
        if self.is_scan:
            args[2], parameters[1] = _chosen(self.xs, live.rows), _chosen(self.row, live.rows)
            output = output, _chosen(self.stacked, live.stacked)
        if self.test is not None:
            carry = _chosen(self.test.members(0), live.carries)
            args[0] = dataclasses.replace(self.test, parameters=(carry,))
        used = reached(self.body.nodes, output)
        nodes = [node for node in self.body.nodes if node in used]
        args[self._body_at] = dataclasses.replace(
            self.body, parameters=tuple(parameters), nodes=nodes, output=output
        )
        return dataclasses.replace(self.node, args=tuple(args))


def _live_nodes(calls: Sequence[Call], results: object, found: dict[str, _Live]) -> set[Node]:
    """The nodes that results depend on; notes the live parts of loops by their names."""
    whole = set(iter_nodes(results))
    live = set(whole)
    items: dict[Node, list[Call]] = {}

    def read(node: Node, values: Sequence[Operand]) -> set[int]:
        """The indices of the values of a tuple that are read."""
        return {*range(len(values))} if node in whole else {x.args[1] for x in items.get(node, ())}

    for node in reversed(calls):
        if node not in live:
            continue
        if _is_item(node):
            items.setdefault(node.args[0], []).append(node)
            live.add(node.args[0])
            continue
        found.pop(node.name, None)
        if node.target_name not in _LOOPS or node in whole:
            used = {*iter_nodes((node.args, node.kwargs))}
        else:
            loop = _Loop(node)
            tuples = items[node] if loop.is_scan else [node]
            carries = [read(x, loop.carried) for x in tuples if x is node or x.args[1] == 0]
            stacked = [read(x, loop.stacked) for x in tuples if x is not node and x.args[1] == 1]
            used = loop.live(set().union(*carries), set().union(*stacked), found)
        whole |= used
        live |= used
    return live


def _is_item(node: Call) -> bool:
    """Whether a call takes one of several results of another call."""
    return node.target is operator.getitem and type(node.args[1]) is int


def _places(values: Sequence[Node], among: Collection[Node]) -> set[int]:
    return {i for i, value in enumerate(values) if value in among}


def _chosen(values: Sequence[T], places: Collection[int]) -> tuple[T, ...]:
    return tuple([values[i] for i in sorted(places)])


class _Narrowing:
    """Writes loops with their live parts.

    Args:
        live: name of a loop → its live parts.
    """

    def __init__(self, live: dict[str, _Live]) -> None:
        self.live = live
        #: Name of a tuple → the old places of its values.
        self.places: dict[str, list[int]] = {}

    def rule(self, writer: Writer, node: Call) -> Node | None:
        """A loop with its live parts, or an item at its new place."""
        new: Call | None = None
        if node.name in self.live:
            live, loop = self.live[node.name], _Loop(node)
            new = loop.narrowed(live)
            if not loop.is_scan:
                self.places[node.name] = live.carries
        elif _is_item(node):
            of, i = node.args
            if isinstance(of, Call) and of.target_name == "na.scan" and of.name in self.live:
                live = self.live[of.name]
                self.places[node.name] = live.stacked if i else live.carries
            elif of.name in self.places and i in self.places[of.name]:
                new = dataclasses.replace(node, args=(of, self.places[of.name].index(i)))
        if new is not None:
            writer.calls.append(new)
        return new
