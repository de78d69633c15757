"""Parts of concatenations."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.concatenations import read_parts
from tests.graph.passes.programs import applied, called

TEXT = """
def graph(x, y):  # int64[4, 1], int64[4, 1]
    both = na.concat([x, y], axis=-1)
    column = na.getitem(both, (..., -2))
    return column
"""


def test_a_column_is_read_from_its_part() -> None:
    assert called(applied(read_parts, TEXT)) == ["getitem"]


def test_rows_stay() -> None:
    text = TEXT.replace("axis=-1", "axis=0").replace("-2", "-1")
    assert called(applied(read_parts, text)) == ["concat", "getitem"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y):  # int64[4, 1], int64[4, 1]", "y):  # int64[4, 1], int64[4, 2]"),
        ("y):  # int64[4, 1], int64[4, 1]", "y):  # int64[4, 1], int32[4, 1]"),
        ("(..., -2)", "(0, -2)"),
        ("(..., -2)", "(..., slice(0, 1, None))"),
    ],
)
def test_other_indices_stay(old: str, new: str) -> None:
    assert called(applied(read_parts, TEXT.replace(old, new))) == ["concat", "getitem"]
