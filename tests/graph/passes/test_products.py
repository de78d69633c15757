"""Products with one-hot rows."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.idioms import recognize_idioms
from tests.graph.passes.programs import applied, called

TEXT = """
def graph(indices, rows):  # int32[5], float32[4, 3]
    classes = na.arange(4)
    column = na.expand_dims(indices, -1)
    is_equal = na.equal(classes, column)
    one_hot = na.astype(is_equal, na.float32)
    y = na.matmul(one_hot, rows)
    return y
"""


def test_rows_are_taken() -> None:
    calls = called(applied(recognize_idioms, TEXT))
    assert "take" in calls
    assert "matmul" not in calls


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("na.arange(4)", "na.arange(1, 5)"),
        ("int32[5]", "uint8[5]"),
        ("na.equal", "na.less"),
        ("float32", "int32"),
    ],
)
def test_other_products_stay(old: str, new: str) -> None:
    assert "matmul" in called(applied(recognize_idioms, TEXT.replace(old, new)))
