"""Uniform numbers from bits."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.idioms import replaced
from nestarray.graph.passes.idioms.random_numbers import RULES
from tests.graph.passes.programs import applied, called

TEXT = """
def graph(seed):  # uint32[2]
    bits = na.random_bits(seed, shape=(4,))
    mantissa = na.bitwise_right_shift(bits, 9)
    number = na.bitwise_or(1065353216, mantissa)
    fraction = na.bitcast(number, na.float32)
    y = na.subtract(fraction, 1.0)
    z = na.maximum(y, 0.0)
    return {}
"""


@pytest.mark.parametrize("result", ["y", "z"])
def test_with_and_without_the_lowest_value(result: str) -> None:
    text = TEXT.format(result)
    assert called(applied(lambda g: replaced(g, RULES), text))[0] == "random_uniform"


@pytest.mark.parametrize(("old", "new"), [(", 9)", ", 8)"), ("1065353216", "1073741824")])
def test_other_bits_stay(old: str, new: str) -> None:
    calls = called(applied(lambda g: replaced(g, RULES), TEXT.format("z").replace(old, new)))
    assert "random_bits" in calls
