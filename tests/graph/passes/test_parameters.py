"""Calls of parameters."""

from __future__ import annotations

import pytest

from nestarray.errors import ConversionError
from nestarray.graph.passes.parameters import fold_parameters
from tests.graph.passes.programs import applied, called, parsed

TEXT = """
def graph(x):  # float32[2, 4]
    # v['w']: float32[3, 4]
    # s['mean']: float32[3]
    kernel = na.matrix_transpose(v['w'])
    shift = na.negative(s['mean'])
    product = na.matmul(x, kernel)
    y = na.add(product, shift)
    return y
"""


def test_the_value_replaces_a_variable_that_nothing_else_reads() -> None:
    graph = applied(fold_parameters, TEXT)
    assert called(graph) == ["matmul", "add"]
    assert (graph.v.paths(), graph.s.paths()) == (("w",), ("mean",))
    assert graph.v["w"].shape == (4, 3)


def test_a_variable_with_another_reader_stays() -> None:
    graph = applied(fold_parameters, TEXT.replace("return y", "return y, v['w']"))
    assert {*graph.v.paths()} == {"w", "folded/kernel"}


def test_a_value_of_parameters_and_state_is_a_parameter() -> None:
    text = TEXT.replace("na.negative(s['mean'])", "na.matmul(s['mean'], v['w'])")
    text = text.replace("y = na.add(product, shift)", "y = na.add(x, shift)")
    assert applied(fold_parameters, text).v.paths() == ("folded/shift",)


@pytest.mark.parametrize("update", ["", "    s = s.set('mean', shift)\n"])
def test_a_graph_whose_variables_change_is_an_error(update: str) -> None:
    text = TEXT.replace("    return y", f"{update}    return y, s")
    with pytest.raises(
        ConversionError, match=r"fold_parameters: graph was traced|writes into 'mean'"
    ):
        fold_parameters(parsed(text))
