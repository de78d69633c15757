"""Idioms: groups of calls that one op computes.

A rule is a pair of functions (`Idiom`): a pattern over `na`, recorded like any program, and the
calls that replace it. Programs and patterns are compared as terms (`terms.py`), so the order of
operands, the layout, and the way in which a mean or a division is written do not matter. The
values between the operands and the result may have no other use.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import cache, cached_property, partial

from nestarray.graph.graph import Graph
from nestarray.graph.node import Body, Call, Input, Node, bodies, is_input, iter_nodes
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
from nestarray.graph.passes.idioms.terms import Axes, NoTerm, Scaled, Terms, looks_into
from nestarray.graph.passes.rewriting import Writer, op_name, rewrite
from nestarray.graph.passes.subexpressions import merge_common_subexpressions
from nestarray.graph.passes.views import order_of

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
    varying: set[Node] = {n for n in graph.nodes if is_input(n, "x", "key")}
    inputs = [n for n in graph.nodes if isinstance(n, Input)]
    of_root: dict[str, list[Idiom]] = {}
    for idiom in rules:
        for op in idiom.roots:
            of_root.setdefault(op, []).append(idiom)
    matches = _Search(of_root, Writer(graph), inputs, graph.calls, results, varying).matches()
    if not matches:
        return graph

    def rule(writer: Writer, node: Call) -> Node | None:
        return matches[node.name].replaced(writer) if node.name in matches else None

    return rewrite(graph, rule, in_bodies=True)


class _Search:
    """Finds the idioms of one function: a graph, or the body of a loop or a choice.

    Args:
        rules: op → the idioms whose last call it is.
        writer: of calls that nobody reads, to try replacements.
        known: the inputs, for a body also the nodes around it.
        calls: of the function.
        results: nest of its results.
        varying: the nodes among `known` that an argument or a random number decides.
    """

    def __init__(
        self,
        rules: dict[str, list[Idiom]],
        writer: Writer,
        known: Sequence[Node],
        calls: Sequence[Call],
        results: object,
        varying: set[Node],
    ) -> None:
        self.rules, self.writer, self.calls = rules, writer, calls
        self.constants = writer.graph.constants
        self.order = {node: i for i, node in enumerate([*known, *calls])}
        self.number_of = cache(partial(number_of, constants=self.constants))
        self.range_axis = partial(range_axis_of, constants=self.constants)
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

    def _of_body(self, call: Call, body: Body) -> _Search:
        """The search in a function that a call takes."""
        given = {*iter_nodes(body.parameters)}
        varying = self.varying | given
        if call.target_name in ("na.scan", "na.map"):
            rows, arrays = body.members(-1), call.args[-1]
            fixed = [row for row, x in zip(rows, arrays, strict=True) if x not in self.varying]
            varying -= {*fixed}
        known = [*self.order, *given]
        return _Search(self.rules, self.writer, known, body.nodes, body.output, varying)

    def matches(self) -> dict[str, Match]:
        """Name of a call → the idiom that it ends."""
        matches: dict[str, Match] = {}
        claimed: set[Node] = set()
        for node in reversed(self.calls):
            for body in bodies(node.args):
                matches |= self._of_body(node, body).matches()
            rules = self.rules.get(op_name(node))
            if rules and node not in claimed:
                match = _Region(self, node).match(rules)
                if match is not None:
                    matches[node.name] = match[0]
                    claimed |= match[1]
        return matches


class _Region:
    """The calls behind a value into which terms look, and the matches that end with it."""

    def __init__(self, search: _Search, root: Call) -> None:
        self.search, self.root = search, root
        self.nodes = self._nodes()  # the nearest first
        self.ordered = sorted(self.nodes, key=search.order.__getitem__)
        self.ops = {op_name(node) for node in self.nodes}
        self.between = cache(partial(_Between, self))

    def _nodes(self) -> dict[Node, int]:
        """The nodes, with their distances; beyond products for attention only."""
        is_product = op_name(self.root) in PRODUCTS
        steps: dict[Node, int] = {self.root: 0}
        queue = deque([self.root])
        while queue and len(steps) < _MOST_CALLS:
            node = queue.popleft()
            if steps[node] == _MOST_STEPS or not looks_into(node):
                continue
            if op_name(node) in PRODUCTS and not is_product:
                continue
            for used in iter_nodes((node.args, node.kwargs)):
                if used not in steps:
                    steps[used] = steps[node] + 1
                    if isinstance(used, Call):
                        queue.append(used)
        return steps

    def match(self, rules: Sequence[Idiom]) -> tuple[Match, set[Node]] | None:
        """The first rule that applies, and the calls that it replaces."""
        for rule in rules:
            if rule.needs.isdisjoint(self.ops):
                continue
            for anchors in self._anchors(rule):
                between = self.between(frozenset(anchors.values()))
                match = between.match(rule, anchors)
                if match is not None:
                    return match, between.inner
        return None

    def _anchors(self, rule: Idiom) -> Iterable[dict[str, Node]]:
        if rule.search is not None:
            names = {*rule.anchors}
            return (anchors for anchors in rule.search(self.root) if anchors.keys() == names)
        nodes = self._anchors_read_once if rule.is_read_once else self._anchors_read_twice
        return [{rule.anchors[0]: node} for node in nodes]

    @cached_property
    def _anchors_read_once(self) -> list[Node]:
        return [node for node in self.nodes if node.aval is not None and node is not self.root]

    @cached_property
    def _anchors_read_twice(self) -> list[Node]:
        def is_read_twice(node: Node) -> bool:
            users = self.search.users.get(node, ())  # none of a value around a body
            return sum(user in self.nodes for user in users) > 1

        return [*filter(is_read_twice, self._anchors_read_once)]


class _Between:
    """The calls between some anchors and the last call, and their terms."""

    def __init__(self, region: _Region, anchors: frozenset[Node]) -> None:
        self.search, self.region, self.root = region.search, region, region.root
        self.anchors = anchors
        used = self.search.used
        self.within: set[Node] = set()  # the calls that read the anchors
        for node in region.ordered:
            read = used.get(node)
            if read is None or node in anchors or op_name(node) == "shape":
                continue
            if not (read.isdisjoint(self.within) and read.isdisjoint(anchors)):
                self.within.add(node)
        self.inner: set[Node] = set()
        if self.root in self.within:
            self.inner.add(self.root)
            queue: list[Node] = [self.root]
            while queue:
                before = (used[queue.pop()] & self.within) - self.inner
                self.inner |= before
                queue += before
        self.term = cache(self._term)

    @cached_property
    def shared(self) -> set[str]:
        """The ops of inner values that other calls use."""
        users = self.search.users
        return {
            op_name(node)
            for node in self.inner
            if node is not self.root and not self.inner.issuperset(users[node])
        }

    def match(self, rule: Idiom, anchors: dict[str, Node]) -> Match | None:
        """The match of a rule with these anchors."""
        if not (self.inner and self.shared <= rule.shared):
            return None
        term = self.term(rule.ignores_casts)
        if term is None:
            return None
        pattern, letter = traced(rule)
        terms, program, axes = term
        node_of = lambda term: terms.node_of(term, self.within)  # noqa: E731
        matcher = Matcher(node_of, anchors, rule.numbers, tolerance_of(self.root))
        floating = [n for n in self.inner if n.aval and n.aval.dtype.is_floating]
        for bindings in matcher.matches(pattern, program, Bindings({}, {})):
            letters = letters_of(bindings, letter, rule.loose)
            if letters is None:
                continue
            match = Match(rule, self.root, axes, bindings, letters, terms.sizes, floating)
            with self.search.writer.scope():  # ops may lack the layout or the numbers
                is_possible = match.replaced(self.search.writer) is not None
            if is_possible:
                return match
        return None

    def _term(self, ignores_casts: bool) -> tuple[Terms, Scaled, Axes] | None:
        """The terms, the last call's, and its axes."""
        varying, near = self.search.varying, self.region.nodes

        def is_leaf(node: Node) -> bool:
            return node not in self.within and (node in varying or node not in near)

        terms = Terms(
            [*self.anchors], is_leaf, self.search.number_of, order_of, self.search.range_axis,
            ignores_casts=ignores_casts,
        )  # fmt: skip
        try:
            return terms, *terms.of(self.root)
        except NoTerm:
            return None
