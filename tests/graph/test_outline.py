"""Graphs as HTML in notebooks, and as trees of rich."""

from __future__ import annotations

import io
import re

import jax
import jax.numpy as jnp
import pytest
import torch
from rich.console import Console

import nestarray as na
from nestarray.graph.viewer import outline
from tests.display.test_html import Reader
from tests.graph.test_viewer import NASTY, Net, large_graph, nasty_graph


@pytest.fixture(scope="module")
def graph() -> na.Graph:
    return na.trace_graph(Net().eval(), torch.ones(3, 4))


def words(graph: na.Graph) -> str:
    text = " ".join(" ".join(Reader(graph._repr_html_()).words).split())
    return re.sub(r" ·? ?[\w.]+\.py:\d+", "", text)


def test_html(graph: na.Graph) -> None:
    text = words(graph)
    assert text.startswith(
        "Graph(Net, torch, eval: 13 calls, 10 parameters, 0 state arrays) 360 B "
        "x float32[3, 4] blocks 12 calls, 80 parameters, 320 B 0 6 calls, 40 parameters, 160 B "
        "linear torch.nn.functional.linear float32[3, 4] lin · 20 parameters, 80 B "
        "relu torch.relu float32[3, 4] act mix 2 calls, 20 parameters, 80 B linear_1"
    )
    assert text.endswith("head · 10 parameters, 40 B output float32[3, 2]")
    assert Reader(graph._repr_html_()).tags.count("details") == 6  # graph, blocks, 0, mix, 1, mix


def test_loops() -> None:
    def loop(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c) + i, x)

    text = words(na.trace_graph(loop, jnp.ones(4)))
    assert re.search(r"jax\.lax\.\w+ \d calls? \w+ \d calls? .*jax\.lax\.tanh float32\[4\]", text)
    assert "return" in text


def test_text_is_escaped() -> None:
    reader = Reader(nasty_graph()._repr_html_())
    assert set(reader.tags) == {"div", "style", "details", "summary", "span"}
    assert any(NASTY in word for word in reader.words)


def test_large_graphs() -> None:
    for has_modules in (True, False):
        graph = large_graph(5000, has_modules)
        reader = Reader(graph._repr_html_())
        assert reader.tags.count("div") < 2 * outline.ROWS
    assert "… 4,802 more …" in words(graph)


def test_rich(graph: na.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), width=100)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "40")
    console.print(graph)
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "Graph(Net, torch, eval: 13 calls, 10 parameters, 0 state arrays)"
    assert lines[1:4] == [
        "├── x  float32[3, 4]",
        "├── blocks  12 calls, 80 parameters, 320 B",
        "│   ├── 0  6 calls, 40 parameters, 160 B",
    ]
    assert lines[-1] == "└── output  float32[3, 2]"
    console.print(large_graph(5000, True))
    assert len(console.file.getvalue().splitlines()) - len(lines) <= 60
