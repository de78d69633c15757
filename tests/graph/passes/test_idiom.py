"""Numbers and ranges among the values of a program."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.idioms.idiom import number_of, range_axis_of
from tests.graph.passes.programs import parsed

TEXT = """
def graph(x):  # float32[2, 3]
    ones = na.full((2, 1), 1.5)
    wide = na.broadcast_to(ones, (2, 3))
    steps = na.arange(3)
    other = na.arange(1, 4)
    y = na.add(x, wide)
    return y, steps, other
"""


@pytest.mark.parametrize(
    ("name", "number"), [("ones", 1.5), ("wide", 1.5), ("steps", None), ("y", None)]
)
def test_numbers_behind_views(name: str, number: float | None) -> None:
    graph = parsed(TEXT)
    (node,) = [node for node in graph.calls if node.name == name]
    assert number_of(node, graph.constants) == number


def test_ranges() -> None:
    graph = parsed(TEXT)
    axes = {node.name: range_axis_of(node, graph.constants) for node in graph.calls}
    assert axes == {"ones": None, "wide": None, "steps": 0, "other": None, "y": None}
