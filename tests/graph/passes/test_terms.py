"""Terms are equal for calls that differ in notation only."""

from __future__ import annotations

from typing import Any

import pytest

from nestarray.graph.passes.idioms.terms import NoTerm, Terms, looks_into
from nestarray.graph.passes.views import order_of
from tests.graph.passes.programs import parsed


def scaled(*lines: str) -> Any:
    """The factor and the text of the term of the last line."""
    body = "\n".join(f"    {line}" for line in lines)
    name = lines[-1].partition(" = ")[0]
    text = f"\ndef graph(x, y):  # float32[4, 6], float32[6]\n{body}\n    return {name}\n"
    graph = parsed(text)
    nothing = lambda node: None  # noqa: E731
    terms = Terms(graph.inputs, lambda node: False, nothing, order_of, nothing)
    (factor, term), _ = terms.of(graph.calls[-1])
    return round(factor, 6), term.key


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["z = na.add(x, y)"], ["z = na.add(y, x)"]),
        (["z = na.multiply(x, 0.25)"], ["h = na.divide(x, 2.0)", "z = na.divide(h, 2.0)"]),
        (["z = na.square(x)"], ["z = na.multiply(x, x)"]),
        (["z = na.rsqrt(x)"], ["r = na.sqrt(x)", "z = na.reciprocal(r)"]),
        (["z = na.subtract(x, y)"], ["n = na.negative(y)", "z = na.add(n, x)"]),
        (["z = na.sin(x)"], ["t = na.matrix_transpose(x)", "a = na.sin(t)", "z = na.matrix_transpose(a)"]),
        (["z = na.sin(x)"], ["r = na.expand_dims(x, 1)", "a = na.sin(r)", "z = na.squeeze(a, 1)"]),
    ],
)  # fmt: skip
def test_equal(first: list[str], second: list[str]) -> None:
    assert scaled(*first) == scaled(*second)


def test_a_mean_is_a_sum_divided_by_the_number_of_elements() -> None:
    total = scaled("a = na.sum(x, axis=1)", "z = na.divide(a, 6.0)")
    assert total == scaled("z = na.mean(x, axis=1)")
    assert total != scaled("a = na.sum(x, axis=1)", "z = na.divide(a, 5.0)")


def test_a_root_of_a_negative_number_has_no_term() -> None:
    with pytest.raises(NoTerm):
        scaled("a = na.full((4, 6), -4.0)", "z = na.sqrt(a)")


def test_terms_look_into_arithmetic_and_views_only() -> None:
    text = """
    def graph(x, w):  # float32[1, 2, 8], float32[3, 2, 1]
        conv = na.conv1d(x, w)
        sort = na.sort(conv, axis=1)
        view = na.reshape(sort, (3, 8))
        y = na.tanh(view)
        return y
    """
    assert [*map(looks_into, parsed(text).calls)] == [False, False, True, True]
