"""Calls and carries that no result depends on."""

from __future__ import annotations

from nestarray.graph.passes.dead_code import remove_dead_code
from tests.graph.passes.programs import applied, called, text_of


def test_unused_calls_and_constants_go_and_parameters_stay() -> None:
    text = """
    def graph(x):  # float32[3]
        # v['w']: float32[3]
        # constants['c']: float32[3]
        a = na.multiply(v['w'], constants['c'])
        b = na.exp(a)
        y = na.sin(x)
        return y
    """
    graph = applied(remove_dead_code, text)
    assert called(graph) == ["sin"]
    assert graph.v.paths() == ("w",)
    assert graph.constants.paths() == ()


SCAN = """
def graph(x):  # float32[4, 3]
    def step(carry, row):
        (count, h) = carry  # float32[3], float32[3]
        (r,) = row  # float32[3]
        next = na.add(count, 1.0)
        g = na.add(h, r)
        z = na.exp(r)
        return ((next, g), (z, g))
    x_0 = na.getitem(x, 0)
    scan = na.scan(step, (x_0, x_0), (x,))
    carry_0 = scan[0]
    last = carry_0[1]
    rows = scan[1]
    first = rows[0]
    return {}
"""


def test_a_counter_that_only_counts_goes() -> None:
    text = text_of(applied(remove_dead_code, SCAN.format("last, first")))
    assert "count" not in text
    assert "last = carry_0[0]" in text


def test_rows_that_nothing_reads_go() -> None:
    assert "exp" not in called(applied(remove_dead_code, SCAN.format("last")))


def test_a_loop_whose_test_reads_a_counter_keeps_it() -> None:
    text = """
    def graph(x):  # float32[3]
        def test(carry):
            (i, a) = carry  # int64[], float32[3]
            is_less = na.less(i, 3)
            return is_less
        def step(carry_1):
            (i_1, a_1) = carry_1  # int64[], float32[3]
            j = na.add(i_1, 1)
            b = na.sin(a_1)
            return (j, b)
        loop = na.while_loop(test, step, (0, x))
        y = loop[1]
        return y
    """
    assert "add" in called(applied(remove_dead_code, text))
