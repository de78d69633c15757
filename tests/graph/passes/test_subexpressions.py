"""Equal calls."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.subexpressions import is_equal, merge_common_subexpressions
from tests.graph.passes.programs import applied, called, parsed, text_of

TEXT = """
def graph(x):  # float32[2, 2]
    a = {}
    b = {}
    c = na.add(a, b)
    return c
"""


@pytest.mark.parametrize(
    ("first", "second", "is_merged"),
    [
        ("na.exp(x)", "na.exp(x)", True),
        ("na.multiply(x, 2)", "na.multiply(2, x)", True),
        ("na.subtract(x, 2)", "na.subtract(2, x)", False),
        ("na.multiply(x, 1)", "na.multiply(x, 1.0)", False),
        ("na.multiply(x, 0.0)", "na.multiply(x, -0.0)", False),
        ("na.sum(x, axis=0)", "na.sum(x, axis=1)", False),
    ],
)
def test_calls(first: str, second: str, is_merged: bool) -> None:
    text = TEXT.format(first, second)
    graph = applied(merge_common_subexpressions, text)
    assert (len(graph.calls) == 2) == is_merged
    a, b, _ = parsed(text).calls
    assert is_equal(a, b) == (is_merged and first == second)


def test_draws_of_random_numbers_are_kept_apart() -> None:
    draw = "na.random.normal(shape=(2, 2), key=na.random.fold_in(key, {}))"
    graph = applied(merge_common_subexpressions, TEXT.format(draw.format(0), draw.format(1)))
    assert len(graph.random_numbers) == 2


def test_a_loop_that_uses_a_merged_value_uses_the_one_that_stays() -> None:
    text = """
    def graph(x):  # float32[2]
        a = na.exp(x)
        b = na.exp(x)
        def step(i, c):  # int64[], float32[2]
            d = na.multiply(b, c)
            return d
        y = na.fori_loop(0, 3, step, a)
        return y
    """
    assert "na.multiply(a, c)" in text_of(applied(merge_common_subexpressions, text))


def test_a_call_in_a_loop_is_the_equal_one_before_it() -> None:
    text = """
    def graph(x):  # float32[2]
        a = na.exp(x)
        def step(i, carry):  # int64[], ...
            (c,) = carry  # float32[2]
            b = na.exp(x)
            d = na.add(b, c)
            return (d,)
        loop = na.fori_loop(0, 3, step, (a,))
        y = loop[0]
        return y
    """
    assert called(applied(merge_common_subexpressions, text)).count("exp") == 1
