"""Plots of trees: their contents, not their appearance."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nestarray as na
from nestarray.config import BACKENDS, use_backend
from nestarray.display.statistics import histogram
from nestarray.errors import ArgumentError, MissingFrameworkError


def counts(axes: Any) -> np.ndarray:
    return axes.patches[0].get_data().values


@pytest.mark.parametrize("backend", BACKENDS)
def test_histograms(backend: str) -> None:
    with use_backend(backend):
        c = na.Container(
            layer={"w": na.reshape(na.arange(60.0), (6, 10)), "h": na.ones((4,), dtype="bfloat16")},
            flags=na.asarray([True, False, True]),
        )
    c = c.set("name", "net").set("none", None).set("empty", na.zeros((0,), like=c["layer/w"]))
    axes = c.plot(bins=6).axes
    assert [a.get_title() for a in axes] == ["layer/w [6, 10]", "layer/h [4]", "flags [3]"]
    assert counts(axes[0]).tolist() == [10] * 6
    edges = axes[0].patches[0].get_data().edges
    assert (edges[0], edges[-1]) == (0.0, 59.0)
    assert counts(axes[1]).sum() == counts(axes[1]).max() == 4
    assert counts(axes[2]).tolist() == [1, 0, 0, 0, 0, 2]


@pytest.mark.parametrize("backend", BACKENDS)
def test_norms(backend: str) -> None:
    with use_backend(backend):
        c = na.Container(a=na.asarray([3.0, 4.0]), b={"c": na.asarray([[1.0, math.nan]])})
    (axes,) = c.plot(kind="norm").axes
    assert [bar.get_width() for bar in axes.patches] == [5.0, 1.0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a", "b/c (1 not finite)"]
    assert axes.get_xscale() == "linear"
    assert c.plot(kind="norm", log=True).axes[0].get_xscale() == "log"


def test_the_largest_of_many_leaves_in_the_order_of_the_tree() -> None:
    c = na.Container({f"k{i}": np.ones((i * 7) % 50 + 1) for i in range(50)})
    figure = c.plot(limit=3)
    assert [a.get_title() for a in figure.axes] == ["k7 [50]", "k14 [49]", "k21 [48]"]
    assert figure.get_suptitle() == "3 of 50 leaves, the largest"
    assert len(c.plot().axes) == 24
    assert c.plot(limit=50).get_suptitle() == ""
    many = na.Container({f"k{i}": np.ones(1) for i in range(1000)})
    assert len(many.plot(kind="norm").axes[0].patches) == 60
    assert many.plot(kind="norm").get_suptitle() == "60 of 1,000 leaves, the largest"


def test_patterns_and_a_figure_of_the_callers() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    c = na.Container(a={"w": np.ones(2), "b": np.ones(3)}, b=np.ones(4))
    assert c.plot("**/b", figure=figure) is figure
    assert [a.get_title() for a in figure.axes] == ["a/b [3]", "b [4]"]


def test_what_is_not_finite_ishistogram() -> None:
    c = na.Container(x=np.asarray([1.0, 2.0, np.nan, np.inf, -np.inf]), y=np.full(3, np.nan))
    axes = c.plot(log=True).axes
    assert axes[0].get_title() == "x [5], 1 NaN, 2 inf"
    assert counts(axes[0]).sum() == 2
    assert axes[1].get_title() == "y [3], 3 NaN, 0 inf"
    assert not axes[1].patches


def test_large_leaves_are_sampled() -> None:
    figure = na.Container(x=np.lib.stride_tricks.as_strided(np.ones(1), (10**6,), (0,))).plot()
    assert 100_000 <= counts(figure.axes[0]).sum() <= 200_000
    assert figure.axes[0].get_title() == "x [1000000]"


def test_it_can_be_drawn_and_nothing_is_saved(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    c = na.Container(
        {"$a_b$": np.ones(3), "<深>" * 40: np.arange(4)}, z=np.asarray([1e100, -1e100])
    )
    figures = c.plot(log=True), c.plot(kind="norm", log=True)
    assert list(tmp_path.iterdir()) == []
    for figure in figures:
        with pytest.warns(UserWarning, match="Glyph"):  # the default font has no such letter
            figure.savefig(tmp_path / "figure.png", dpi=30)
        assert (tmp_path / "figure.png").stat().st_size > 1000


@settings(max_examples=100)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(1, 60))
def test_bins_of_any_finite_numbers(numbers: list[float], bins: int) -> None:
    values = np.asarray(numbers)
    found, edges = histogram(values, bins)
    assert found.sum() == len(values)
    assert len(edges) == bins + 1
    assert np.isfinite(edges).all()
    assert (np.diff(edges) >= 0).all()
    assert edges[0] <= values.min()
    assert edges[-1] >= values.max()


def test_bins_are_numpys() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    found, edges = histogram(values, 20)
    expected = np.histogram(values, 20)
    np.testing.assert_allclose(edges, expected[1])
    np.testing.assert_array_equal(found, expected[0])


def test_leaves_that_cannot_be_drawn() -> None:
    import jax

    c = na.Container(a=np.asarray(["x"]), b=np.zeros(2, "datetime64[s]"), c=np.asarray([None]))
    c = c.set("d", jax.ShapeDtypeStruct((2,), "float32"))
    with pytest.raises(ArgumentError) as error:
        c.plot()
    assert str(error.value) == (
        "Container.plot: got 4 leaves, of which none is an array with elements that can be read "
        "now; expected at least one"
    )


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"kind": "bar"}, "kind: got 'bar', expected 'histogram' or 'norm'"),
        ({"limit": 0}, "limit: got 0, expected a positive integer"),
        ({"bins": 1.5}, "bins: got 1.5, expected a positive integer"),
        ({"bins": True}, "bins: got True, expected a positive integer"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ArgumentError) as error:
        na.Container(a=np.ones(2)).plot(**settings)
    assert str(error.value) == f"Container.plot: {text}"


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingFrameworkError, match=r"pip install 'nestarray\[plot\]'"):
        na.Container(a=np.ones(2)).plot()


def test_pyplot_is_left_alone() -> None:
    code = (
        "import sys, numpy as np, nestarray as na; na.Container(a=np.ones(2)).plot(); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
