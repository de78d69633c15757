"""Repeated calls as loops."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.loops import roll_loops
from tests.graph.passes.programs import applied, called


def text(count: int, step: str, result: str = "") -> str:
    lines = [f"    y{i + 1} = {step.format(x=f'y{i}', i=i)}" for i in range(count)]
    body = "\n".join(lines)
    return f"""
def graph(y0, xs):  # float64[3], float64[6, 3]
{body}
    return {result or f"y{count}"}
"""


def test_equal_steps_are_a_loop() -> None:
    assert called(applied(roll_loops, text(5, "na.sin({x})"))) == ["sin", "fori_loop", "getitem"]


def test_steps_that_differ_in_numbers_are_a_scan() -> None:
    assert "scan" in called(applied(roll_loops, text(5, "na.multiply({x}, 0.{i}5)")))


def test_values_of_all_steps_are_results_of_a_scan() -> None:
    graph = applied(roll_loops, text(4, "na.sin({x})", "[y1, y2, y3, y4]"))
    assert "scan" in called(graph)


@pytest.mark.parametrize("step", ["na.sum({x}, keepdims=True)", "na.sin(y0)"])
def test_calls_of_other_shapes_or_of_no_step_stay(step: str) -> None:
    calls = called(applied(roll_loops, text(2, step)))
    assert not {"scan", "fori_loop"} & {*calls}
