"""Idioms: groups of calls that one op computes.

A rule is a pair of functions (`Idiom`): a pattern over `na`, recorded like any program, and the
calls that replace it. Programs and patterns are compared as terms (`terms.py`), so the order of
operands, the layout, and the way in which a mean or a division is written do not matter. The
values between the operands and the result may have no other use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nestarray.graph.graph import Graph
from nestarray.graph.node import Body, Node, bodies, iter_nodes
from nestarray.graph.passes.idioms import (
    activations,
    attention,
    losses,
    normalization,
    products,
    random_numbers,
)
from nestarray.graph.passes.idioms.attention import PRODUCTS
from nestarray.graph.passes.idioms.idiom import (
    Idiom,
    Match,
    number_of,
    range_axis_of,
    tolerance_of,
    traced,
)
from nestarray.graph.passes.idioms.matching import Bindings, Matcher, letters_of
from nestarray.graph.passes.idioms.terms import NoTerm, Terms
from nestarray.graph.passes.rewriting import Writer, op_name, rewrite
from nestarray.graph.passes.subexpressions import merge_common_subexpressions
from nestarray.graph.passes.transposes import order_of

#: The rules, in groups that are applied one after the other.
RULES: tuple[tuple[Idiom, ...], ...] = (
    (*normalization.RULES, *activations.RULES, *random_numbers.RULES),
    (*attention.RULES, *losses.RULES, *products.RULES, *normalization.VARIANCES),
    normalization.MEANS,
)
#: An idiom has at most so many calls.
_MOST_CALLS = 80
#: The longest way from the operands to the result.
_MOST_STEPS = 16


def recognize_idioms(graph: Graph) -> Graph:
    """Replace calls that compute normalization, softmax, gelu or attention by calls of these ops.

    Also in the bodies of loops, choices and functions with custom derivatives. `Graph.report`
    lists the replaced groups. The last call of a group keeps its name.
    """
    graph = merge_common_subexpressions(graph, ["astype"])  # Flax casts an array where it uses it
    for rules in RULES:
        graph = replaced(graph, rules)
    return graph


def replaced(graph: Graph, rules: tuple[Idiom, ...]) -> Graph:
    """The graph after one group of rules."""
    results = list(graph.results)
    varying = {n for n in graph.nodes if n.source in ("x", "key")}
    inputs = [n for n in graph.nodes if n.kind == "input"]
    matches = _Search(rules, Writer(graph), inputs, graph.calls, results, varying).matches()
    if not matches:
        return graph

    def rule(writer: Writer, node: Node) -> Node | None:
        return matches[node.name].replaced(writer) if node.name in matches else None

    return rewrite(graph, rule, in_bodies=True)


class _Search:
    """Finds the idioms of one function: a graph, or the body of a loop or a choice.

    Args:
        rules: the idioms.
        writer: of calls that nobody reads, to try replacements.
        known: the inputs, for a body also the nodes around it.
        calls: of the function.
        results: nest of its results.
        varying: the nodes among `known` that an argument or a random number decides.
    """

    def __init__(
        self,
        rules: tuple[Idiom, ...],
        writer: Writer,
        known: Sequence[Node],
        calls: Sequence[Node],
        results: Any,
        varying: set[Node],
    ) -> None:
        self.rules, self.writer, self.calls = rules, writer, calls
        self.constants = writer.graph.constants
        self.order = {node: i for i, node in enumerate([*known, *calls])}
        self.numbers: dict[Node, float | None] = {}
        self.made: dict[Any, Any] = {}  # (root, anchors) → terms
        self.users: dict[Node, list[Node | None]] = {}
        self.used: dict[Node, set[Node]] = {}
        self.varying = {*varying}
        for node in calls:
            used = self.used[node] = set(iter_nodes((node.args, node.kwargs)))
            for before in used:
                self.users.setdefault(before, []).append(node)
            if node.is_random or not used.isdisjoint(self.varying) or any(bodies(node.args)):
                self.varying.add(node)
        for node in iter_nodes(results):
            self.users.setdefault(node, []).append(None)

    def _of_body(self, call: Node, body: Body) -> _Search:
        """The search in a function that a call takes."""
        given = {*iter_nodes(body.parameters)}
        varying = self.varying | given
        if call.target_name in ("na.scan", "na.map"):
            rows, arrays = body.parameters[-1], call.args[-1]
            fixed = [row for row, x in zip(rows, arrays, strict=True) if x not in self.varying]
            varying -= {*fixed}
        known = [*self.order, *given]
        return _Search(self.rules, self.writer, known, body.nodes, body.output, varying)

    def matches(self) -> dict[str, Match]:
        """Name of a call → the idiom that it ends."""
        found: dict[str, Match] = {}
        claimed: set[Node] = set()
        for node in reversed(self.calls):
            for body in bodies(node.args):
                found |= self._of_body(node, body).matches()
            name = op_name(node)
            rules = [rule for rule in self.rules if name in rule.roots]
            if not rules or node in claimed:
                continue
            region = self._region(node)
            ops = {op_name(other) for other in region}
            for rule in rules:
                if rule.needs.isdisjoint(ops):
                    continue
                match = self._match(rule, node, region)
                if match is not None:
                    found[node.name] = match[0]
                    claimed |= match[1]
                    break
        return found

    def _region(self, root: Node) -> list[Node]:
        """The calls behind a value, the nearest first; beyond products for attention only."""
        is_product = op_name(root) in PRODUCTS
        found, queue = {root: 0}, [root]
        while queue and len(found) < _MOST_CALLS:
            node = queue.pop(0)
            if not op_name(node) or found[node] == _MOST_STEPS:
                continue
            if op_name(node) in PRODUCTS and not is_product:
                continue
            for used in iter_nodes((node.args, node.kwargs)):
                if used not in found:
                    found[used] = found[node] + 1
                    queue.append(used)
        return [*found]

    def _anchors(self, rule: Idiom, root: Node, region: list[Node]) -> Iterator[dict[str, Node]]:
        if rule.search is not None:
            yield from rule.search(root)
            return
        for node in region[1:]:
            if node.aval is not None and (
                rule.is_read_once or len(self._readers(node, region)) > 1
            ):
                yield {rule.anchors[0]: node}

    def _readers(self, node: Node, region: list[Node]) -> list[Node]:
        return [user for user in self.users.get(node, ()) if user in region]  # type: ignore[misc]

    def _match(self, rule: Idiom, root: Node, region: list[Node]) -> tuple[Match, set[Node]] | None:
        pattern, letter = traced(rule)
        for anchors in self._anchors(rule, root, region):
            made = self._term(root, frozenset(anchors.values()), region, rule.ignores_casts)
            if made is None:
                continue
            terms, program, axes, within = made
            nodes = {term: pair for term, pair in terms.nodes.items() if pair[0] not in within}
            matcher = Matcher(nodes, anchors, rule.numbers, tolerance_of(root))
            for found in matcher.matches(pattern, program, Bindings({}, {})):
                letters = letters_of(found, letter, rule.loose)
                if letters is None:
                    continue
                inner = self._inner(root, within)
                floating = [n for n in inner if n.aval and n.aval.dtype.is_floating]
                match = Match(rule, root, axes, found, letters, terms.sizes, floating)
                if self._is_private(rule, root, inner) and self._is_possible(match):
                    return match, inner
        return None

    def _term(
        self, root: Node, anchors: frozenset[Node], region: list[Node], ignores_casts: bool
    ) -> Any:
        """The terms with these anchors, the root's, its axes, and the calls that read the anchors."""
        key = root, anchors, ignores_casts
        if key not in self.made:
            self.made[key] = self._new_term(root, anchors, region, ignores_casts)
        return self.made[key]

    def _new_term(
        self, root: Node, anchors: frozenset[Node], region: list[Node], ignores_casts: bool
    ) -> Any:
        within: set[Node] = set()
        for node in sorted(region, key=self.order.__getitem__):
            used = self.used.get(node)
            if used is None or node in anchors or op_name(node) == "shape":
                continue
            if not (used.isdisjoint(within) and used.isdisjoint(anchors)):
                within.add(node)
        if root not in within:
            return None
        near = {*region}

        def is_leaf(node: Node) -> bool:
            return node not in within and (node in self.varying or node not in near)

        range_axis = lambda node: range_axis_of(node, self.constants)  # noqa: E731
        terms = Terms(
            [*anchors], is_leaf, self._number_of, order_of, range_axis, ignores_casts=ignores_casts
        )
        try:
            return terms, *terms.of(root), within
        except NoTerm:
            return None

    def _inner(self, root: Node, within: set[Node]) -> set[Node]:
        """The calls between the anchors and a value."""
        found, queue = {root}, [root]
        while queue:
            node = queue.pop()
            for used in self.used[node]:
                if used in within and used not in found:
                    found.add(used)
                    queue.append(used)
        return found

    def _is_private(self, rule: Idiom, root: Node, inner: set[Node]) -> bool:
        """Whether no other call uses the calls of an idiom."""
        return all(
            user in inner
            for node in inner
            if node is not root and op_name(node) not in rule.shared
            for user in self.users.get(node, ())
        )

    def _is_possible(self, match: Match) -> bool:
        """Whether there is a replacement: ops may lack the layout or the numbers."""
        with self.writer.scope():
            return match.replaced(self.writer) is not None

    def _number_of(self, node: Node) -> float | None:
        if node not in self.numbers:
            self.numbers[node] = number_of(node, self.constants)
        return self.numbers[node]
