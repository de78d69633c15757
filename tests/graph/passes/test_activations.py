"""Activations and softmax that a program writes out."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.idioms import replaced
from nestarray.graph.passes.idioms.activations import RULES
from tests.graph.passes.programs import applied, text_of


def result(*lines: str) -> str:
    """The last call of the program after the rules of the file."""
    body = "\n".join(f"    {line}" for line in lines)
    name = lines[-1].partition(" = ")[0]
    text = f"\ndef graph(x):  # float32[2, 3, 4]\n{body}\n    return {name}\n"
    return text_of(applied(lambda graph: replaced(graph, RULES), text)).splitlines()[-2].strip()


EXP = (
    "top = na.max(x, axis=1, keepdims=True)",
    "shifted = na.subtract(x, top)",
    "e = na.exp(shifted)",
)


def test_softmax_along_any_axis() -> None:
    total = "total = na.sum(e, axis=1, keepdims=True)"
    assert result(*EXP, total, "y = na.divide(e, total)") == "y = na.softmax(x, axis=1)"
    inverse = "inverse = na.reciprocal(total)"
    assert (
        result(*EXP, total, inverse, "y = na.multiply(inverse, e)") == "y = na.softmax(x, axis=1)"
    )


def test_a_maximum_along_another_axis_is_only_subtracted() -> None:
    total = "total = na.sum(e, axis=0, keepdims=True)"
    assert result(*EXP, total, "y = na.divide(e, total)") == "y = na.softmax(shifted, axis=0)"


def test_log_softmax() -> None:
    lines = "total = na.sum(e, axis=1, keepdims=True)", "log = na.log(total)"
    assert result(*EXP, *lines, "y = na.subtract(shifted, log)") == "y = na.log_softmax(x, axis=1)"


@pytest.mark.parametrize(
    ("factor", "op"), [("0.7071067811865476", "na.gelu(x)"), ("0.71", "na.multiply(half, one)")]
)
def test_gelu_has_its_own_number(factor: str, op: str) -> None:
    lines = f"scaled = na.multiply(x, {factor})", "erf = na.erf(scaled)", "one = na.add(1.0, erf)"
    assert result(*lines, "half = na.divide(x, 2.0)", "y = na.multiply(half, one)") == f"y = {op}"


def test_silu_and_hard_swish() -> None:
    assert result("gate = na.sigmoid(x)", "y = na.multiply(gate, x)") == "y = na.silu(x)"
    lines = "three = na.add(x, 3.0)", "cut = na.relu6(three)"
    assert result(*lines, "y = na.divide(cut, 6.0)") == "y = na.hard_sigmoid(x)"
    scaled = "product = na.multiply(x, cut)", "y = na.multiply(product, 0.16666666666666666)"
    assert result(*lines, *scaled) == "y = na.hard_swish(x)"
