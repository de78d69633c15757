"""Calls and carries that no result depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import nestarray as na
from nestarray.graph.node import Node, all_calls
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


_LOOPS = ("scan", "while_loop", "fori_loop")


def _loops(graph: na.Graph) -> list[Node]:
    names = {f"na.{name}" for name in _LOOPS}
    return [node for node in all_calls(graph.calls) if node.target_name in names]


def _num_carries(node: Node) -> int:
    return len(node.args[{"na.scan": 1, "na.while_loop": 2, "na.fori_loop": 3}[node.target_name]])


def _looped(kind: str, step: Any, carry: Any) -> Any:
    """The carry after three steps."""
    if kind == "scan":
        return na.scan(lambda c, _: (step(c), None), carry, length=3)[0]
    if kind == "fori_loop":
        return na.fori_loop(0, 3, lambda i, c: step(c), carry)
    count = na.zeros((), dtype=na.int32, like=carry[0])
    return na.while_loop(
        lambda c: na.less(c[0], 3), lambda c: (na.add(c[0], 1), step(c[1])), (count, carry)
    )[1]


@settings(max_examples=15)
@given(
    kind=st.sampled_from(_LOOPS),
    edges=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=4, max_size=4),
    read=st.sets(st.integers(0, 3), min_size=1),
    is_nested=st.booleans(),
)
def test_the_carries_that_stay_are_those_that_results_depend_on(
    kind: str, edges: list[list[bool]], read: set[int], is_nested: bool
) -> None:
    def step(carry: Any) -> Any:
        given = [[x for x, edge in zip(carry, row, strict=True) if edge] for row in edges]
        return tuple([sum(xs, 1.0 * xs[0]) if xs else x * 0.5 for xs, x in zip(given, carry)])

    def program(*arrays: Any) -> Any:
        outer = (lambda c: _looped("scan", step, c)) if is_nested else step
        last = _looped(kind, outer, arrays)
        return [last[i] for i in sorted(read)]

    arrays = [np.full(2, float(i)) for i in range(4)]
    graph = na.trace_graph(program, *arrays)
    short = remove_dead_code(graph)
    depends = np.array(edges) | np.eye(4, dtype=bool)
    for row, own in zip(depends, edges, strict=True):
        row[:] = own if any(own) else row
    reach = np.isin(np.arange(4), sorted(read))
    for _ in range(4):
        reach = reach | (reach @ depends)
    counter = kind == "while_loop"
    assert _num_carries(_loops(short)[-1]) == reach.sum() + counter
    for got, want in zip(short(*arrays), program(*arrays), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_scan_keeps_the_number_and_the_framework_of_its_steps() -> None:
    def of_rows(x: Any) -> Any:
        return na.scan(lambda c, row: (c + 1.0, x[0] * 2.0), x[0], x)[1]

    def of_numbers(x: Any) -> Any:
        return na.scan(lambda c, _: (c + 1.0, x * 2.0), x, length=3)[1]

    x = torch.arange(6.0).reshape(3, 2)
    for program in (of_rows, of_numbers):
        short = remove_dead_code(na.trace_graph(program, x))
        torch.testing.assert_close(short(x), program(x))
