"""Calls in the steps of a scan."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.hoisting import hoist_from_scans
from tests.graph.passes.programs import applied

TEXT = """
def graph(x, w):  # float32[5, 3], float32[3, 3]
    start = na.getitem(x, 0)
    def step(carry, row):
        (h,) = carry  # float32[3]
        (r,) = row  # float32[3]
        y = CALL
        g = na.add(h, y)
        return ((g,), ())
    scan = na.scan(step, (start,), (x,))
    return scan
"""


def inside(text: str) -> list[str]:
    """The calls in the step."""
    graph = applied(hoist_from_scans, text)
    (loop,) = [node for node in graph.calls if node.target_name == "na.scan"]
    return [node.target_name for node in loop.args[0].nodes]


@pytest.mark.parametrize(
    "call", ["na.matmul(r, w)", "na.exp(r)", "na.sum(w, axis=0)", "na.multiply(r, 2)"]
)
def test_calls_that_no_carry_decides_run_before(call: str) -> None:
    assert inside(TEXT.replace("CALL", call)) == ["na.add"]


@pytest.mark.parametrize("call", ["na.matmul(h, w)", "na.cumulative_sum(r)", "na.multiply(h, r)"])
def test_other_calls_stay(call: str) -> None:
    assert len(inside(TEXT.replace("CALL", call))) == 2


def test_calls_that_broadcast_rows_stay() -> None:
    text = """
    def graph(x, table):  # float32[5, 50], float32[40, 50]
        def step(carry, row):
            (h,) = carry  # float32[40, 50]
            (r,) = row  # float32[50]
            wide = na.multiply(r, table)
            g = na.add(h, wide)
            return ((g,), ())
        scan = na.scan(step, (table,), (x,))
        return scan
    """
    assert inside(text) == ["na.multiply", "na.add"]


def test_a_carry_that_counts_is_a_constant() -> None:
    text = """
    def graph(x):  # float32[5, 3]
        def step(carry, row):
            (i, h) = carry  # int64[], float32[3]
            (r,) = row  # float32[3]
            j = na.add(i, 2)
            time = na.astype(i, na.float32)
            g = na.multiply(h, time)
            return ((j, g), (r,))
        h_0 = na.getitem(x, 0)
        scan = na.scan(step, (3, h_0), (x,), reverse=True)
        return scan
    """
    assert "na.astype" not in inside(text)
