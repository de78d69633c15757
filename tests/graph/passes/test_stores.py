"""Rows that are written and read one by one."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.stores import forward_stores, join_rows
from tests.graph.passes.programs import applied, called

TEXT = """
def graph(x, a, b):  # float32[2, 3], float32[3], float32[3]
    first = na.setitem(x, 0, a)
    row = na.getitem(first, 0)
    double = na.multiply(row, 2.0)
    second = na.setitem(first, 1, double)
    return second
"""


def test_rows_are_read_from_the_write_and_stacked() -> None:
    assert called(applied(forward_stores, TEXT)) == ["multiply", "stack"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(x, 0, a)", "(x, -1, a)"),  # an index from the end
        ("(x, 0, a)", "(x, slice(0, 1, None), a)"),
        ("return second", "return second, first"),
    ],
)
def test_other_writes_stay(old: str, new: str) -> None:
    assert "setitem" in called(applied(forward_stores, TEXT.replace(old, new)))


@pytest.mark.parametrize(
    ("index", "calls"),
    [(1, ["getitem"]), (0, ["getitem", "getitem", "stack"])],
)
def test_consecutive_rows_become_a_slice(index: int, calls: list[str]) -> None:
    text = f"""
    def graph(x):  # float32[3, 2]
        one = na.getitem(x, {index})
        two = na.getitem(x, 2)
        rows = na.stack([one, two])
        return rows
    """
    assert called(applied(join_rows, text)) == calls


def test_all_rows_are_the_array() -> None:
    text = """
    def graph(x):  # float32[2, 3]
        one = na.getitem(x, 0)
        two = na.getitem(x, 1)
        rows = na.stack([one, two])
        return rows
    """
    assert called(applied(join_rows, text)) == []
