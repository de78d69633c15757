"""The translator of equations, on programs of a few lines."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ConversionError, Refused
from nestarray.errors.foreign import foreign
from nestarray.frontends import rules
from nestarray.graph.builder import Place, aval_of
from nestarray.graph.graph import Graph
from nestarray.importers.protocol import Request
from nestarray.importers.translator import Translator, Value

X = np.asarray([1.0, 2.0], "float32")
TWO = np.float32(2)


class Line(NamedTuple):
    """``result = operation *operands`` at a line of the source."""

    result: str
    operation: str
    operands: tuple[Any, ...]
    line: int
    is_single: bool = True


class Rule(rules.Rule):
    @property
    def function(self) -> Any:
        return getattr(na, self.operation)


class Lines(Translator):
    """Translates lines; ``call`` has the lines of a function, ``both`` returns two arrays."""

    framework = "numpy"

    def __init__(self, *lines: Line, islands: bool = False) -> None:
        super().__init__("lines", Request(None, (X,), islands=islands))
        self.lines = lines

    def calls(self) -> Iterable[tuple[Line, Place]]:
        return [(line, self.place_of(line, Place())) for line in self.lines]

    def name_of(self, equation: Line) -> str:
        return equation.operation

    def place_of(self, equation: Line, outer: Place) -> Place:
        return Place("/".join(filter(None, [outer.module, equation.result])), f"m:{equation.line}")

    def rule_of(self, equation: Line) -> Rule | None:
        if equation.operation == "print":
            return Rule("print", "")
        is_known = equation.operation in ("add", "tanh")
        return Rule(equation.operation, f"na.{equation.operation}") if is_known else None

    def parts_of(self, equation: Line) -> Iterable[Line] | None:
        twice = [Line("y", "add", ("x", "x"), 0), Line("y", "add", ("y", "y"), 0)]
        return twice if equation.operation == "four_times" else None

    def why_missing(self, equation: Line) -> str:
        return "" if self.request.islands else "unknown"

    def step(self, equation: Line, env: dict[Any, Any]) -> None:
        if equation.operation == "call":
            with self.body("step", {"x": aval_of(X)}) as body:
                inner = {"x": Value(body.parameters[0])}
                self.translate(equation.operands, inner)
                body.output = self.node(inner["y"])
            env[equation.result] = body
            return
        rule = self.rule_of(equation)
        if rule is None:
            raise Refused("unknown", remedy="leave it out")
        inputs = [env.get(x, Value(known=x)) for x in equation.operands]
        call = rules.Call(rule.function, rule.name, tuple(map(self.node, inputs)), {})
        node = self.call(call, equation.result, aval=aval_of(X), origin=equation.operation)
        source = None if self.depth else equation
        env[equation.result] = self.result(source, 0, node)

    def graph(self) -> Graph:
        x = self.builder.argument("x", aval_of(X))
        self.builder.sign(lambda x: x, [x], {})
        env = {"x": Value(x)}
        self.translate(self.lines, env)
        return self.builder.finish(self.node(env["y"]))


def test_known_values_become_constants() -> None:
    graph = Lines(Line("z", "add", ("x", TWO), 1), Line("y", "add", ("z", TWO), 2)).graph()
    assert [str(value) for value in graph.constants.leaves()] == ["2.0", "2.0"]
    np.testing.assert_array_equal(graph(X), X + 4)
    assert [(node.module, node.line) for node in graph.calls] == [("z", "m:1"), ("y", "m:2")]


def test_a_value_of_a_constant_is_reused() -> None:
    to = Lines()
    value = Value(known=np.ones(2))
    assert to.node(value) is to.node(value)
    assert list(to.builder.values["constants"]) == ["c0"]
    assert value.of is to.equations[0]


def test_functions_have_the_place_of_their_equation_and_no_source() -> None:
    to = Lines(Line("f", "call", (Line("y", "tanh", ("x",), 5),), 4))
    env: dict[Any, Any] = {"x": Value()}
    to.translate(to.lines, env)
    (node,) = env["f"].nodes
    assert (node.module, node.line) == ("f/y", "m:5")
    assert to.equations == []
    assert to.depth == 0


def test_a_refusal_has_the_place_of_the_innermost_equation() -> None:
    inner = Line("y", "fly", ("x",), 7)
    to = Lines(Line("f", "call", (inner,), 4))
    with pytest.raises(
        ConversionError, match=r"^trace_graph: fly \(f/y, m:7\): unknown; leave"
    ) as e:
        to.translate(to.lines, {"x": Value()})
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)
    assert to.builder.place == Place()
    assert to.depth == 0


@pytest.mark.parametrize("islands", [False, True])
def test_the_replacement_of_each_operation(*, islands: bool) -> None:
    names = ("add", "print", "four_times", "fly")
    lines = [Line("y", name, ("x",), i) for i, name in enumerate(names)]
    imported = Lines(*lines, islands=islands).operations()
    assert [(op.name, op.status, op.becomes) for op in imported] == [
        ("add", "function", "na.add"),
        ("print", "dropped", ""),
        ("four_times", "decomposed", "na.add"),
        ("fly", "island" if islands else "missing", "na.graph.island" if islands else ""),
    ]
    assert imported[3].reason == ("" if islands else "unknown")


def test_errors_of_foreign_code_become_errors_of_this_package() -> None:
    with pytest.raises(Refused, match=r"^KeyError: 'x'$") as e, foreign():
        {}["x"]
    assert isinstance(e.value.__cause__, KeyError)
    with pytest.raises(ConversionError, match=r"^no$"), foreign(kind=ConversionError):
        raise Refused("no")
    with pytest.raises(Refused, match=r"^ConversionError: no$"), foreign():
        raise ConversionError("no")
