"""Constants of pullbacks; the example in the docstring has one of the graph."""

from __future__ import annotations

from nestarray.graph.passes.derivatives import pass_constants_to_pullbacks
from tests.graph.passes.programs import applied, parsed, text_of

TEXT = """
def graph(x):  # float32[3]
    def function(a):
        (x_0,) = a  # float32[3]
        return (x_0,)
    def forward(b):
        (x_1,) = b  # float32[3]
        return ((x_1,), (x_1,))
    def backward(residuals, cotangents):
        (r,) = residuals  # float32[3]
        (g,) = cotangents  # float32[3]
        scaled = na.multiply(g, r)
        return (scaled,)
    y = na.call_with_vjp(function, forward, backward, (x,))
    y_0 = y[0]
    return y_0
"""


def test_a_pullback_without_constants_stays() -> None:
    assert text_of(applied(pass_constants_to_pullbacks, TEXT)) == text_of(parsed(TEXT))


def test_a_constant_is_added_to_residuals() -> None:
    text = TEXT.replace("na.multiply(g, r)", "na.where(constants['c'], g, r)")
    text = text.replace(
        "[3]\n    def function", "[3]\n    # constants['c']: bool[3]\n    def function"
    )
    after = text_of(applied(pass_constants_to_pullbacks, text))
    assert "return ((x_1,), (x_1, constants['c']))" in after
    assert "(r, residual) = residuals" in after
