"""The translation of a source program to a graph, equation by equation.

A `Translator` owns what sources have in common: the graph that is built, the values of the program,
the bodies of its loops and choices, constants, islands, the place of each call, the report of the
operations, and the equations that a proof runs. A framework supplies its equations, the rule of
each, which passes parameters by name, and control flow.

An equation that has no translation raises `Refused`; `Translator.at` adds its place.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nestarray import ops, transforms
from nestarray.errors import Refused
from nestarray.frontends import rules
from nestarray.graph.builder import NOWHERE, GraphBuilder, Place
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Body, Node
from nestarray.importers.coverage import Operation, operations_of
from nestarray.importers.islands import island
from nestarray.importers.protocol import Imported, Request
from nestarray.proof.source import Given, Part


class Value:
    """A value of the program.

    Attributes:
        node: its node; None for a known value without one.
        of: its equation; None in a body, which a proof runs as a whole.
        known: the value itself, if the program determines it; else None.
    """

    __slots__ = ("known", "node", "of")

    def __init__(self, node: Any = None, of: Any = None, known: Any = None) -> None:
        self.node, self.of, self.known = node, of, known


class Translator(ABC):
    """Turns one source program into one Graph.

    Attributes:
        framework: of the source.
        builder: of the graph.
        nodes: equation → its node, or a known number.
        of: the inverse.
        equations: those of the source that a proof runs, in order.
        outer: the place of the equation whose functions are being translated.
        depth: how many bodies are being translated.
    """

    framework: str

    def __init__(self, name: str, request: Request) -> None:
        self.request = request
        self.builder = GraphBuilder(name, self.framework, train=request.train)
        self.nodes: dict[Any, Any] = {}
        self.of: dict[Node, Any] = {}
        self.equations: list[Any] = []
        self.outer = NOWHERE
        self.depth = 0

    # -- supplied by the framework ---------------------------------------------------------

    @abstractmethod
    def calls(self) -> Iterable[tuple[Any, Place]]:
        """The equations that need a rule, in functions too, and their places."""

    @abstractmethod
    def name_of(self, equation: Any) -> str:
        """The name of the operation of an equation."""

    @abstractmethod
    def place_of(self, equation: Any, outer: Place) -> Place:
        """The module and the line of an equation in the functions of the one at `outer`."""

    @abstractmethod
    def rule_of(self, equation: Any) -> rules.Rule | None:
        """The rule that takes an equation with its parameters."""

    @abstractmethod
    def why_missing(self, equation: Any) -> str:
        """Why an equation without a rule cannot be an island, and the remedy; empty if it can."""

    def parts_of(self, equation: Any) -> Iterable[Any] | None:
        """The equations that take the place of one without a rule; None if there are none."""
        return None

    @abstractmethod
    def step(self, equation: Any, env: dict[Any, Any]) -> None:
        """Translate one equation; `env` maps variables of the source to values."""

    @abstractmethod
    def graph(self) -> Graph:
        """The whole translation."""

    # -- coverage --------------------------------------------------------------------------

    def imported(self, dtypes: list[tuple[Any, str]]) -> Imported:
        """The result of the importer; without a graph if an operation is missing."""
        operations = self.operations()
        is_complete = all(operation.status != "missing" for operation in operations)
        graph = self.graph() if is_complete else None
        return Imported(self.framework, self.builder.name, operations, graph, dtypes)

    def operations(self) -> list[Operation]:
        """The operations of the program, each with its replacement."""
        return operations_of(
            ((self.name_of(equation), *self.replacement(equation)), place)
            for equation, place in self.calls()
        )

    def replacement(self, equation: Any) -> tuple[str, str, str]:
        """The status of an equation, the function that it becomes, and why it is missing."""
        rule = self.rule_of(equation)
        if rule is not None:
            return ("dropped" if rule.is_ignored else "function"), rule.name, ""
        parts = self.parts_of(equation)
        if parts is not None:
            names = dict.fromkeys(self.replacement(part)[1] for part in parts)
            return "decomposed", ", ".join(filter(None, names)), ""
        reason = self.why_missing(equation)
        return ("missing", "", reason) if reason else ("island", "na.graph.island", "")

    # -- equations -------------------------------------------------------------------------

    def translate(self, equations: Iterable[Any], env: dict[Any, Any]) -> None:
        """Translate equations in order; `env` maps variables of the source to values."""
        for equation in equations:
            with self.at(equation):
                self.step(equation, env)

    @contextlib.contextmanager
    def at(self, equation: Any) -> Iterator[Place]:
        """Translate an equation, or its functions: calls and errors have its place."""
        before = self.outer, self.builder.place
        place = self.outer = self.builder.place = self.place_of(equation, self.outer)
        try:
            yield place
        except Refused as refusal:
            refusal.place = refusal.place or f"trace_graph: {self.named(equation, place)}"
            raise
        finally:
            self.outer, self.builder.place = before

    def named(self, equation: Any, place: Place) -> str:
        """An equation in messages: ``"While (model.py:3)"``."""
        return f"{self.name_of(equation)} ({place})" if any(place) else self.name_of(equation)

    @contextlib.contextmanager
    def body(
        self, name: str, parameters: Mapping[str, Aval | Sequence[Aval | None] | None]
    ) -> Iterator[Body]:
        """Translate a function that a loop or a choice takes; see `GraphBuilder.body`."""
        with self.unrecorded(), self.builder.body(name, parameters) as body:
            yield body

    @contextlib.contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Translate equations of which a proof runs the whole only."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    # -- calls -----------------------------------------------------------------------------

    def call(self, call: rules.Call, name: str = "", *, aval: Aval | None, origin: str) -> Node:
        """Add a call; its name is the function's by default."""
        return self.builder.call(
            name or call.name.rpartition(".")[2],
            call.function,
            call.name,
            call.args,
            call.kwargs,
            aval=aval,
            origin=origin,
            is_random=call.is_random,
        )

    def op(
        self,
        name: str,
        /,
        *args: Any,
        label: str = "",
        aval: Aval | None = None,
        origin: str = "",
        **settings: Any,
    ) -> Node:
        """Add a call of an op or a transformation of `na`; `label` is the name of its value."""
        function = getattr(transforms, name, None) or getattr(ops, name)
        return self.builder.call(
            label or name, function, f"na.{name}", args, settings, aval=aval, origin=origin
        )

    def island(self, name: str, inputs: Iterable[Any], takes: Sequence[Any]) -> rules.Call:
        """The call of an operation in the framework, on the host; see `islands.island`."""
        args = (name, *map(self.node, inputs))
        settings = {"framework": self.framework, "takes": tuple(takes)}
        return rules.Call(island, "na.graph.island", args, settings)

    def carry_and_rows(self, scan: Node) -> tuple[Node, Node]:
        """The two results of a scan: the last carry, and the stacked rows."""
        return self.builder.item(scan, 0, "carry"), self.builder.item(scan, 1, "ys")

    # -- values ----------------------------------------------------------------------------

    def add(self, equation: Any, node: Node | None = None) -> Value:
        """Add an equation of the source, and its node if it has one."""
        self.equations.append(equation)
        if node is not None:
            self.assign(equation, node)
        return Value(node, equation)

    def assign(self, equation: Any, node: Node) -> None:
        """Give an equation its node; the first equation of a node has it."""
        if node not in self.of:
            self.nodes[equation] = node
            self.of[node] = equation

    def result(self, equation: Any, index: int, node: Node) -> Value:
        """The value of one of the results of an equation, which is None in a body."""
        if equation is None:
            return Value(node)
        if equation.is_single:
            self.assign(equation, node)
            return Value(node, equation)
        return self.add(Part(equation, index), node)

    def results(self, equation: Any, node: Node, avals: Sequence[Aval | None]) -> list[Value]:
        """The values of all results of a call that returns a tuple."""
        items = [self.builder.item(node, i, aval=aval) for i, aval in enumerate(avals)]
        return [self.result(equation, i, item) for i, item in enumerate(items)]

    def node(self, value: Value) -> Node:
        """The node of a value; a known one becomes a constant."""
        if value.node is None:
            constant = self.constant(value.known)
            value.node, value.of = constant.node, constant.of
        return value.node

    def constant(self, array: Any, held: Any = None) -> Value:
        """An array of the source as a constant of the graph.

        Args:
            array: the array.
            held: as the graph holds it, if that differs.
        """
        name = f"c{len(self.builder.values['constants'])}"
        node = self.builder.variable("constants", name, array if held is None else held)
        return self.add(Given(array), node)
