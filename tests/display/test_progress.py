"""The line of progress."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest
import torch

import nestarray as na
from nestarray.display import progress as module
from nestarray.display.progress import progress
from nestarray.graph import graph as graph_module

X = torch.ones(3)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def no_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    """rich is not installed."""
    monkeypatch.setitem(sys.modules, "rich", None)


@pytest.mark.usefixtures("no_rich")
@pytest.mark.parametrize("is_terminal", [False, True])
@pytest.mark.parametrize("is_long", [False, True])
def test_long_calls_in_terminals_show_their_step(
    is_terminal: bool, is_long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(module, "DELAY", 0.01 if is_long else 60.0)
    with progress("verify Net") as step:
        step("compile")
        while is_terminal and is_long and "compile" not in stream.getvalue():
            time.sleep(0.01)
    shown = stream.getvalue()
    assert bool(shown) == (is_terminal and is_long)
    if shown:
        assert shown.startswith("\rverify Net: compile, 0 s")
        assert shown.endswith("\r")


@pytest.mark.usefixtures("no_rich")
def test_one_line_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(module, "DELAY", 0.01)
    with progress("outer"):
        with progress("inner") as step:
            step("hidden")
        while "outer, 0 s" not in stream.getvalue():
            time.sleep(0.01)
    assert "inner" not in stream.getvalue()
    with pytest.raises(ValueError, match="inside"), progress("failed"):
        raise ValueError("inside")
    with progress("next"):
        while "next" not in stream.getvalue():
            time.sleep(0.01)


@pytest.mark.usefixtures("no_rich")
@pytest.mark.parametrize(
    ("operation", "title"),
    [
        (lambda graph, path: na.trace_graph(torch.nn.ReLU(), X), "trace ReLU"),
        (lambda graph, path: na.trace_graph(na.square, X), "trace square"),
        (lambda graph, path: na.check(torch.nn.ReLU(), X, target="jax"), "check ReLU"),
        (lambda graph, path: graph.optimize(), "optimize ReLU"),
        (lambda graph, path: graph.to_backend("jax").compile()(jnp.ones(3)), "compile ReLU for jax"),
        (lambda graph, path: graph.save(path / "a.npz"), "save a.npz"),
        (lambda graph, path: graph.v.save(path / "a.safetensors", max_shard_bytes=9), "save a"),
        (lambda graph, path: na.Graph.load(path / "graph.npz"), "load graph.npz"),
        (lambda graph, path: graph.verify(), "verify ReLU on torch"),
    ],
)  # fmt: skip
def test_operations_with_a_line(
    operation: Any, title: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    graph = na.trace_graph(torch.nn.ReLU(), X)
    graph.save(tmp_path / "graph.npz")
    stream = Terminal()

    class Shown(threading.Thread):
        """Starts when the line is on the screen."""

        def start(self) -> None:
            super().start()
            while not stream.getvalue():
                time.sleep(0.001)

    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(module, "DELAY", 0.0)
    monkeypatch.setattr(module.threading, "Thread", Shown)
    operation(graph, tmp_path)
    assert stream.getvalue().startswith("\r" + title)


def test_compiled_calls_have_a_line_once(monkeypatch: pytest.MonkeyPatch) -> None:
    titles: list[str] = []
    monkeypatch.setattr(
        graph_module, "progress", lambda title: contextlib.nullcontext(titles.append(title))
    )
    call = na.trace_graph(torch.nn.ReLU(), X).to_backend("jax").compile()
    for _ in range(3):
        call(jnp.ones(3))
    assert titles == ["compile ReLU for jax"]


@pytest.mark.parametrize("has_rich", [False, True])
def test_a_known_share_is_a_bar(has_rich: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_rich:
        monkeypatch.setitem(sys.modules, "rich", None)
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(module, "DELAY", 0.01)
    monkeypatch.setattr(module, "INTERVAL", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    done = 1
    with progress("save [a]") as step:
        step("1 of 4", lambda: done / 4)
        while " 25%" not in stream.getvalue():
            time.sleep(0.01)
        done = 9  # more bytes than expected
        while "100%" not in stream.getvalue():
            time.sleep(0.01)
    shown = stream.getvalue()
    assert "save [a]: 1 of 4" in shown
    assert ("#####" in shown) is not has_rich
    assert ("━━━" in shown) is has_rich


def test_storage_tells_its_share(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shares: list[float] = []

    @contextlib.contextmanager
    def recorded(title: str) -> Any:
        given: list[Any] = []
        yield lambda text, share=None: given.append(share)
        shares.append(given[-1]() if callable(given[-1]) else given[-1])

    for name in ("files", "stored"):
        monkeypatch.setattr(f"nestarray.storage.{name}.progress", recorded)
    c = na.Container(a=jnp.ones(1000), b=jnp.zeros(1000))
    c.save(tmp_path / "c.safetensors", max_shard_bytes=4000)
    na.Container.load(tmp_path / "c.safetensors")
    assert shares == [0.5, 1.0]  # as the last shard is written; when all is read
    c.save(tmp_path / "c.npz")
    assert len(shares) == 3
