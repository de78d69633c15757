"""Normalization that a program writes out."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.idioms import recognize_idioms
from tests.graph.passes.programs import applied, called

TEXT = """
def graph(x, weight, bias):  # float32[6, 4, 5], float32[{width}], float32[{width}]
    mean = na.mean(x, axis={axis}, keepdims=True)
    centered = na.subtract(x, mean)
    square = na.square(centered)
    variance = na.mean(square, axis={axis}, keepdims=True)
    shifted = na.add(variance, {eps})
    root = na.rsqrt(shifted)
    normal = na.multiply(centered, root)
    scaled = na.multiply(normal, weight)
    y = na.add(scaled, bias)
    return {result}
"""


def ops(axis: str, width: str, eps: str = "1e-05", result: str = "y") -> list[str]:
    text = TEXT.format(axis=axis, width=width, eps=eps, result=result)
    return called(applied(recognize_idioms, text))


def test_the_axes_that_are_averaged_decide() -> None:
    assert ops("-1", "5") == ["layer_norm"]
    assert ops("(1, 2)", "4, 5") == ["layer_norm"]
    assert ops("(0, 2)", "4, 1")[-2:] == ["batch_norm_training", "getitem"]
    assert ops("(2,)", "4, 1")[-1] == "group_norm"


@pytest.mark.parametrize(("eps", "result"), [("-0.01", "y"), ("1e-05", "y, normal")])
def test_a_negative_number_and_a_value_with_other_readers(eps: str, result: str) -> None:
    calls = ops("-1", "5", eps, result)
    assert "add" in calls


def test_evaluation_reads_moments() -> None:
    text = """
    def graph(x):  # float32[6, 5]
        # v['weight']: float32[5]
        # s['mean']: float32[5]
        # s['variance']: float32[5]
        centered = na.subtract(x, s['mean'])
        shifted = na.add(s['variance'], 0.001)
        root = na.sqrt(shifted)
        normal = na.divide(centered, root)
        y = na.multiply(normal, v['weight'])
        return y
    """
    assert called(applied(recognize_idioms, text)) == ["batch_norm"]


def test_values_around_a_loop_are_not_computed_in_it() -> None:
    text = """
    def graph(x):  # float32[5, 4]
        wide = na.multiply(x, 2.0)
        total = na.sum(wide, axis=0)
        def step(i, c):  # int64[], float32[4]
            mean = na.divide(total, 5.0)
            d = na.add(c, mean)
            return d
        start = na.getitem(x, 0)
        y = na.fori_loop(0, 3, step, start)
        return y
    """
    calls = called(applied(recognize_idioms, text))
    assert calls == ["multiply", "sum", "getitem", "divide", "add", "fori_loop"]


def test_root_mean_square_and_variance() -> None:
    text = """
    def graph(x):  # float32[6, 5]
        square = na.multiply(x, x)
        mean = na.mean(square, axis=-1, keepdims=True)
        shifted = na.add(mean, 1e-06)
        root = na.sqrt(shifted)
        y = na.divide(x, root)
        total = na.sum(x, axis=0)
        average = na.divide(total, 6.0)
        centered = na.subtract(x, average)
        power = na.pow(centered, 2)
        variance = na.mean(power, axis=0)
        return y, variance
    """
    assert called(applied(recognize_idioms, text)) == ["rms_norm", "var"]
