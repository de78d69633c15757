"""Attention that a program writes out."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.idioms import recognize_idioms
from tests.graph.passes.programs import applied, called, text_of

TEXT = """
def graph(q, k, u, bias):  # float32[2, 5, 4], float32[2, 6, 4], float32[2, 6, 3], float32[2, 5, 6]
    scores = na.einsum('btd,bsd->bts', q, k)
    scaled = {}
    weights = na.softmax(scaled, axis={})
    y = na.matmul(weights, u)
    return y
"""


@pytest.mark.parametrize(
    ("scaled", "arguments"),
    [
        ("na.divide(scores, 2.0)", "q, k, u"),
        ("na.multiply(0.3, scores)", "q, k, u, scale=0.3"),
    ],
)
def test_the_scale(scaled: str, arguments: str) -> None:
    text = text_of(applied(recognize_idioms, TEXT.format(scaled, -1)))
    assert f"y = na.scaled_dot_product_attention({arguments})" in text


def test_a_bias_is_the_mask() -> None:
    text = TEXT.format("na.multiply(scores, 0.5)", -1)
    text = text.replace(
        "    weights = na.softmax(scaled",
        "    sum = na.add(bias, scaled)\n    weights = na.softmax(sum",
    )
    assert "attention(q, k, u, bias)" in text_of(applied(recognize_idioms, text))


def test_a_softmax_over_queries_is_no_attention() -> None:
    calls = called(applied(recognize_idioms, TEXT.format("na.multiply(scores, 0.5)", 1)))
    assert "softmax" in calls


def test_heads_are_moved_before_the_rows() -> None:
    text = """
    def graph(q, k, u):  # float32[2, 5, 3, 4], float32[2, 6, 3, 4], float32[2, 6, 3, 4]
        scores = na.einsum('bthd,bshd->bhts', q, k)
        scaled = na.multiply(scores, 0.5)
        weights = na.softmax(scaled, axis=-1)
        y = na.einsum('bhts,bshd->bthd', weights, u)
        return y
    """
    calls = called(applied(recognize_idioms, text))
    assert calls == [*["permute_dims"] * 3, "scaled_dot_product_attention", "permute_dims"]
