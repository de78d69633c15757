"""Calls of constants."""

from __future__ import annotations

from nestarray.graph.passes.constants import fold_constants
from tests.graph.passes.programs import applied, called


def test_calls_of_constants_and_of_numbers_are_computed() -> None:
    text = """
    def graph(x):  # float32[3]
        # constants['c']: float32[3]
        steps = na.arange(3)
        half = na.multiply(constants['c'], 0.5)
        total = na.add(half, steps)
        y = na.add(x, total)
        return y
    """
    graph = applied(fold_constants, text)
    assert called(graph) == ["add"]
    assert graph.constants.paths() == ("total",)


def test_calls_of_frontends_are_folded_too() -> None:
    text = """
    def graph(x):  # float32[4, 4]
        ones = torch.full((4, 4), -1.0)
        mask = torch.triu(ones, 1)
        y = torch.add(x, mask)
        return y
    """
    assert called(applied(fold_constants, text)) == ["torch.add"]


def test_a_constant_in_a_loop_is_computed_before_it() -> None:
    text = """
    def graph(x):  # float32[3]
        # constants['c']: float32[3]
        def step(i, carry):  # int64[], ...
            (a,) = carry  # float32[3]
            half = na.multiply(constants['c'], 0.5)
            b = na.add(a, half)
            return (b,)
        loop = na.fori_loop(0, 3, step, (x,))
        y = loop[0]
        return y
    """
    assert "multiply" not in called(applied(fold_constants, text))


def test_values_that_are_larger_than_their_arguments_stay_calls() -> None:
    text = """
    def graph(x):  # float32[3]
        # constants['c']: float32[1, 1]
        wide = na.broadcast_to(constants['c'], (600, 600))
        return x, wide
    """
    assert called(applied(fold_constants, text)) == ["broadcast_to"]


def test_calls_of_parameters_and_random_numbers_stay() -> None:
    text = """
    def graph(x):  # float32[3]
        # v['w']: float32[3]
        double = na.multiply(v['w'], 2)
        noise = na.random.normal(shape=(3,), key=na.random.fold_in(key, 0))
        y = na.add(x, double)
        return y, noise
    """
    assert called(applied(fold_constants, text)) == ["multiply", "random.normal", "add"]
