"""Cross entropy that a program writes out."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.idioms import recognize_idioms
from tests.graph.passes.programs import applied, called, text_of

CLASSES = """
def graph(x, target):  # float32[4, 3], int32[4]
    log = na.log_softmax(x, axis=-1)
    index = na.clip(target, {}, 2)
    column = na.expand_dims(index, -1)
    picked = na.take_along_axis(log, column, axis=1)
    value = na.squeeze(picked, 1)
    y = na.negative(value)
    return {}
"""


def test_class_indices() -> None:
    text = text_of(applied(recognize_idioms, CLASSES.format(0, "y")))
    assert "y = na.cross_entropy(x, index, reduction='none')" in text
    positive = text_of(applied(recognize_idioms, CLASSES.format(0, "value")))
    assert "negative = na.negative(cross_entropy)" in positive


@pytest.mark.parametrize(("lowest", "result"), [(-1, "y"), (0, "y, log")])
def test_other_programs_stay(lowest: int, result: str) -> None:
    calls = called(applied(recognize_idioms, CLASSES.format(lowest, result)))
    assert "log_softmax" in calls


def test_the_difference_to_logsumexp() -> None:
    text = """
    def graph(x, target):  # float32[4, 3], int32[4]
        index = na.clip(target, 0, 2)
        column = na.expand_dims(index, -1)
        picked = na.take_along_axis(x, column, axis=1)
        value = na.squeeze(picked, 1)
        total = na.logsumexp(x, axis=1)
        y = na.subtract(total, value)
        return y
    """
    assert called(applied(recognize_idioms, text)) == ["clip", "cross_entropy"]
