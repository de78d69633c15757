"""Moments of a batch."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.moments import share_moments
from tests.graph.passes.programs import applied, called

TEXT = """
def graph(x, w):  # float64[4, 3, 5], float64[3]
    mean = na.mean(x, axis=(0, 2))
    norm = na.batch_norm_training(x, w)
    y = norm[0]
    return y, mean
"""


def test_the_normalization_moves_before_its_first_moment() -> None:
    graph = applied(share_moments, TEXT)
    assert called(graph) == ["batch_norm_training", "getitem", "getitem"]


@pytest.mark.parametrize(
    "mean",
    ["na.mean(x, axis=(0, 1))", "na.mean(x)", "na.var(x, axis=(0, 2), correction=1)", "na.max(x)"],
)
def test_other_moments_stay(mean: str) -> None:
    graph = applied(share_moments, TEXT.replace("na.mean(x, axis=(0, 2))", mean))
    assert called(graph)[0] == mean.partition("(")[0].removeprefix("na.")


def test_a_scale_that_reads_the_moment_is_computed_before() -> None:
    text = TEXT.replace("    norm", "    scale = na.multiply(w, mean)\n    norm").replace(
        "x, w)\n    y", "x, scale)\n    y"
    )
    assert called(applied(share_moments, text))[0] == "mean"
