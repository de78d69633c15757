"""``rich.print`` of Containers, tables and reports."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

import nestarray as na
from tests.abstract import on_abstract_arrays


def printed(value: Any, width: int = 80, color: bool = False) -> str:
    system = "standard" if color else None
    console = Console(file=io.StringIO(), width=width, color_system=system)
    console.print(value)
    return console.file.getvalue()


def test_a_container() -> None:
    c = na.Container(
        layers=[{"w": np.ones((2, 3))}] * 4, name="relu [red]", x={"y": np.ones(2, "int8")}
    )
    assert printed(c) == (
        "Container(6 leaves, 26 elements, numpy)\n"
        "├── layers [list]  4 leaves, 24 elements  192 B\n"
        "│   └── 0 … 3  4 × 1 leaf, 6 elements  48 B\n"
        "│       └── w  f64[2, 3]  48 B\n"
        "├── name  'relu [red]'\n"
        "└── x  1 leaf, 2 elements  2 B\n"
        "    └── y  i8[2]  2 B\n"
    )
    assert "\x1b[1mlayers\x1b[0m" in printed(c, color=True)
    assert repr(c).splitlines()[0] == "Container(6 leaves, 26 elements, numpy)"  # stays


def test_small_ones() -> None:
    assert printed(na.Container()) == "Container(empty)\n"
    assert printed(na.Container(np.ones(2))) == "array([1., 1.])\n"


def test_large_ones_fit_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "20")
    c = na.Container(
        {f"a{i}": {f"{'b' * 80}{j}": np.ones(i + j) for j in range(9)} for i in range(9)}
    )
    lines = printed(c, 60).splitlines()
    assert len(lines) <= 18
    assert max(map(len, lines)) <= 60


def test_arrays_without_values() -> None:
    assert all("a  f32[2, 3]  24 B" in text for text in on_abstract_arrays(printed))


def test_a_table_has_the_lines_of_its_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    c = na.Container(w=np.ones((4, 3)), b=np.zeros(3))
    for table in (c.summary(), c.describe(statistics=True)):
        assert [line.rstrip() for line in printed(table, 100).splitlines()] == repr(
            table
        ).splitlines()


def test_reports() -> None:
    a, b = na.Container(w=np.zeros(2)), na.Container(w=np.ones(2))
    assert printed(a.diff(b)) == (
        "1 changed; 1 leaf → 1\n"
        "└── 1 difference\n"
        "    └── status   path  leaf    difference\n"
        "        changed  w     f64[2]  all 2 changed, |Δ| ≤ 1 at [0], mean 1\n"
    )
    assert printed(a.diff(a)) == "no differences in 1 leaf\n"
    assert printed(na.Schema({"w": "n float64"})).split() == (
        ["Schema", "└──", "1", "entry", "└──", "path", "leaf", "w", "n", "float64"]
    )
    net = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU())
    graph = na.trace_graph(net, torch.ones(3, 4))
    assert printed(graph.optimize().report()) == (
        "Sequential on torch (eval): 2 calls, 10 parameters, 40 B, 48 FLOPs\n"
        "├── transposes: 0\n"
        "└── functions: 2\n"
        "    └── function   calls\n"
        "        na.linear      1\n"
        "        na.relu        1\n"
    )
    checked = printed(na.check(net, torch.ones(3, 4), target="numpy"), 120)
    assert "└── operations: 2 (2 known)" in checked
    report = graph.verify()
    text = printed(report, 120)
    assert text.startswith("Sequential on torch (eval): agrees\n├── ")
    assert "outputs: 1 of 1 agree" in text
    for shown in (report, graph.report(), na.check(net, torch.ones(3, 4), target="numpy")):
        assert repr(shown) == str(shown)
    report.outputs[0].__dict__["error"] = 1.0  # a frozen dataclass
    assert "\x1b[1;31mFalse\x1b[0m" in printed(report, 120, color=True)
