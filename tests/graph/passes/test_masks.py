"""Masks of attention."""

from __future__ import annotations

import numpy as np
import pytest

import nestarray as na
from nestarray.graph.passes.idioms import recognize_idioms
from tests.graph.passes.programs import applied, called, text_of

TEXT = """
def graph(q, k, u, seen):  # float32[2, 5, 4], float32[2, 5, 4], float32[2, 5, 3], bool[5, 5]
    scores = na.einsum('btd,bsd->bts', q, k)
    scaled = na.multiply(scores, 0.5)
    masked = na.where({}, {})
    weights = na.softmax(masked, axis=-1)
    y = na.matmul(weights, u)
    return y
"""


def last(mask: str, values: str, **variables: na.Container) -> str:
    text = text_of(applied(recognize_idioms, TEXT.format(mask, values), **variables))
    return text.splitlines()[-2].strip()


def test_a_triangle_is_causal() -> None:
    held = na.Container(m=np.tri(5, dtype=bool))
    value = last("constants['m']", "scaled, float('-inf')", constants=held)
    assert value == "y = na.scaled_dot_product_attention(q, k, u, is_causal=True)"


def test_another_constant_with_a_position_in_each_row_is_a_mask() -> None:
    held = na.Container(m=np.tri(5, k=1, dtype=bool))
    value = last("constants['m']", "scaled, float('-inf')", constants=held)
    assert value == "y = na.scaled_dot_product_attention(q, k, u, constants['y_mask'])"


def test_a_mask_of_the_caller_may_hide_all_positions_of_a_row() -> None:
    for values in ("scaled, -1e10", "-1e10, scaled"):
        text = text_of(applied(recognize_idioms, TEXT.format("seen", values)))
        assert "any = na.any(" in text
        assert ("na.logical_not(seen)" in text) == values.startswith("-1e10")


@pytest.mark.parametrize("fill", ["-1.0", "float('-inf')"])
def test_masks_that_the_op_does_not_have(fill: str) -> None:
    assert "softmax" in called(applied(recognize_idioms, TEXT.format("seen", f"scaled, {fill}")))
