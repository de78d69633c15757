"""Rules, and the writer of the calls that they make."""

from __future__ import annotations

from typing import Any

from nestarray.graph.node import Node
from nestarray.graph.passes.rewriting import Rule, Writer, count_uses, is_op, rewrite
from tests.graph.passes.programs import parsed, text_of

TEXT = """
def graph(x):  # float32[3]
    # v['w']: float32[3]
    a = na.negative(x)
    b = na.negative(a)
    y = na.multiply(b, v['w'])
    return y
"""


def _twice(_: Writer, node: Node) -> tuple[Any] | None:
    is_twice = is_op(node, "negative") and is_op(node.args[0], "negative")
    return (node.args[0].args[0],) if is_twice else None


TWICE = Rule(_twice, lambda writer, node, x: x)
ZERO = Rule(
    lambda writer, node: () if is_op(node, "multiply") else None,
    lambda writer, node: writer.call("zeros_like", node.args[0], like=node, aval=node.aval),
)


def test_the_first_rule_that_applies_gives_the_value() -> None:
    assert "y = na.multiply(x, v['w'])" in text_of(rewrite(parsed(TEXT), TWICE))
    text = text_of(rewrite(parsed(TEXT), TWICE, ZERO))
    assert text == "def graph(x):\n    zeros_like = na.zeros_like(x)\n    return zeros_like"


def test_variables_that_are_not_read_any_more_go_on_request() -> None:
    assert rewrite(parsed(TEXT), ZERO).v.paths() == ("w",)
    graph = rewrite(parsed(TEXT), ZERO, drop_unused=True)
    assert graph.v.paths() == ()
    assert [node.name for node in graph.inputs] == ["x"]


def test_uses_in_bodies_count() -> None:
    text = """
    def graph(x):  # float32[3]
        a = na.sin(x)
        def step(i, c):  # int64[], float32[3]
            d = na.add(a, c)
            return d
        y = na.fori_loop(0, 3, step, a)
        return y
    """
    assert count_uses(parsed(text))["call", "a"] == 2


def test_names_and_paths_are_unique() -> None:
    writer = Writer(parsed(TEXT))
    assert writer.name("a") == "a_1"
    node = writer.variable("v", "w", writer.graph.v["w"])
    assert (node.path, node.name) == ("w_1", "w_1")
    assert writer.is_read_once(writer.graph.calls[0])
