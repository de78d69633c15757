"""Patterns match programs up to the order of sums and products."""

from __future__ import annotations

from typing import Any

import pytest

import nestarray.ops as ops
from nestarray.graph.node import Input, Node
from nestarray.graph.passes.idioms import replaced
from nestarray.graph.passes.idioms.idiom import Idiom, Match, idiom_of, tolerance_of
from nestarray.graph.passes.idioms.matching import Bindings, letters_of
from tests.graph.passes.programs import applied, parsed, text_of


def _pattern(x: Any, w: Any, factor: Any) -> Any:
    return (x * w + ops.sin(x)) * factor


def _replacement(match: Match) -> Node | None:
    x, w = match.node("x"), match.node("w")
    assert x.aval is not None
    settings = {"value": match.numbers["factor"]}
    y = match.call("lerp", x, w, settings["value"], shape=x.aval.shape)
    return match.finish(y, match.axes["x"], "lerp")


RULE = Idiom(
    "lerp", _pattern, {"x": "n c", "w": "c", "factor": ""}, frozenset(["multiply", "divide"]),
    frozenset(["sin"]), _replacement,
)  # fmt: skip

TEXT = """
def graph(x, w):  # float32[4, 3], float32[3]
    sine = na.sin(x)
    product = na.multiply({})
    total = na.add({})
    y = na.{}
    return y
"""


@pytest.mark.parametrize(
    ("product", "total", "last", "number"),
    [
        ("x, w", "product, sine", "multiply(total, 3.0)", "3.0"),
        ("w, x", "sine, product", "divide(total, 4.0)", "0.25"),
    ],
)
def test_any_order(product: str, total: str, last: str, number: str) -> None:
    graph = replaced(parsed(TEXT.format(product, total, last)), (RULE,))
    assert text_of(graph) == f"def graph(x, w):\n    y = na.lerp(x, w, {number})\n    return y"
    assert [idiom_of(node) for node in graph.calls] == ["lerp"]


@pytest.mark.parametrize(
    ("product", "total"),
    [("w, w", "product, sine"), ("x, x", "product, sine"), ("x, w", "product, w")],
)
def test_other_calls_stay(product: str, total: str) -> None:
    text = TEXT.format(product, total, "multiply(total, 3.0)")
    assert "lerp" not in text_of(applied(lambda graph: replaced(graph, (RULE,)), text))


def test_axes_that_belong_to_other_uses_have_no_letter() -> None:
    a, b, p, q = (("a",), ("b",), ("p",), ("q",))
    node = Input("x", source="x")
    uses = (("x", ((a,), (b,)), ((p,), (q,))), ("w", ((b,),), ((q,),)))
    letters = letters_of(Bindings({"x": node, "w": node}, {}, uses), {a: "n", b: "c"})
    assert letters == {p: "n", q: "c"}
    uses = (uses[0], ("w", ((b,),), ((("r",),),)))
    assert letters_of(Bindings({"x": node, "w": node}, {}, uses), {a: "n", b: "c"}) is None


@pytest.mark.parametrize(
    ("dtype", "least"), [("float32", 1e-6), ("float16", 1e-3), ("int32", 1e-6)]
)
def test_numbers_are_compared_in_the_precision_of_the_result(dtype: str, least: float) -> None:
    (node,) = parsed(f"def graph(x):  # {dtype}[3]\n    return x\n").inputs
    assert least <= tolerance_of(node) < 3 * least
