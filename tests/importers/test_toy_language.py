"""A new source needs one short importer; all else comes from the shared parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import errors
from tests.importers import toy_importer
from tests.importers.toy_language import Program

TEXT = """h = matmul x w
d = drop h 0.25
y = repeat 3 d
  y = matmul y u
  y = tanh y
set n = add n 1
o = add y b"""


@pytest.fixture
def program() -> Program:
    rng = np.random.default_rng(0)
    w, u = (rng.standard_normal(shape).astype("float32") for shape in ((3, 4), (4, 4)))
    b, n = np.ones(4, "float32"), np.zeros((), "float32")
    return Program("Toy", TEXT, {"w": w, "u": u, "b": b}, {"n": n})


X = np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)


def test_the_importer_is_short() -> None:
    assert len(Path(toy_importer.__file__).read_text().splitlines()) < 120


def test_the_graph_prints_and_runs(program: Program) -> None:
    graph = na.trace_graph(program, X)
    source = graph.to_source()
    assert source == (
        "import nestarray as na\n"
        "import tests.importers.toy_importer as toy\n\n\n"
        "def graph(x, *, v, s, constants, key=None):  # float32[2, 3]\n"
        "    h = toy.matmul(x, v['w'])  # float32[2, 4]\n"
        "    d = toy.drop(h, 0.25, key=na.random.fold_in(key, 0))  # float32[2, 4]\n\n"
        "    def step(y):  # float32[2, 4]\n"
        "        y_1 = toy.matmul(y, v['u'])  # float32[2, 4]\n"
        "        y_2 = toy.tanh(y_1)  # float32[2, 4]\n"
        "        return y_2\n\n"
        "    y_3 = toy.repeat(3.0, d, step)  # float32[2, 4]\n"
        "    n_1 = toy.add(s['n'], 1.0)  # float32[]\n"
        "    o = toy.add(y_3, v['b'])  # float32[2, 4]\n"
        "    s = s.set('n', n_1)\n"
        "    return o, s\n"
    )
    key = na.random.key(0, backend="numpy")
    out, state = graph(X, key=key)
    assert state["n"] == 1
    names: dict[str, Any] = {}
    exec(source, names)
    again, _ = names["graph"](X, v=graph.v, s=graph.s, constants=graph.constants, key=key)
    np.testing.assert_array_equal(again, out)


def test_nodes_have_lines(program: Program) -> None:
    graph = na.trace_graph(program, X)
    assert [node.line for node in graph.calls] == [f"Toy.toy:{i}" for i in (1, 2, 3, 6, 7)]


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_verify(program: Program, backend: str) -> None:
    graph = na.trace_graph(program, X).to_backend(backend)
    report = graph.verify(samples=1, nodes=True)
    assert report.ok, str(report)
    assert [row.name for row in report.nodes] == ["h", "d", "y_3", "n_1", "o"]
    assert {row.name for row in report.gradients} == {"w", "u", "b"}
    lowered = graph.optimize()
    assert all(not node.target_name.startswith("toy.") for node in lowered.calls)
    assert lowered.verify().ok


def test_verify_finds_the_diverging_call(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(toy_importer.FUNCTIONS, "add", lambda x1, x2: na.add(x1, x2) * 1.01)
    report = na.trace_graph(program, X).verify()
    assert not report.ok
    worst = report.first_divergence
    assert worst is not None
    assert worst.is_at_fault
    assert (worst.name, worst.where) == ("n_1", "toy.add Toy.toy:6")


def test_verify_finds_the_diverging_derivative(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def halved(x1: Any, x2: Any) -> Any:
        y = na.matmul(x1, x2)
        return na.stop_gradient(y) + 0.5 * (y - na.stop_gradient(y))

    monkeypatch.setitem(toy_importer.FUNCTIONS, "matmul", halved)
    monkeypatch.setattr(toy_importer, "matmul", halved)
    report = na.trace_graph(program, X).to_backend("torch").verify()
    assert not report.ok
    assert report.first_divergence is None
    assert report.wrong_call_gradient is not None
    assert report.wrong_call_gradient.name == "∂h/∂x"


def test_files(program: Program, tmp_path: Path) -> None:
    graph = na.trace_graph(program, X)
    graph.save(tmp_path / "toy.safetensors")
    loaded = na.Graph.load(tmp_path / "toy.safetensors", backend="jax")
    assert str(loaded) == str(graph)
    key = na.random.key(0, backend="numpy")
    out, _ = graph(X, key=key)
    got, _ = loaded(na.to_backend(X, "jax"), key=na.to_backend(key, "jax"))
    np.testing.assert_allclose(np.asarray(got), out, rtol=1e-5)


def test_check(program: Program) -> None:
    report = na.check(program, X, target="jax")
    assert report.ok
    assert [(op.name, op.becomes, op.count) for op in report.operations] == [
        ("matmul", "toy.matmul", 2),
        ("drop", "toy.drop", 1),
        ("repeat", "toy.repeat", 1),
        ("tanh", "toy.tanh", 1),
        ("add", "toy.add", 2),
    ]


def test_missing_operations() -> None:
    program = Program("Spectrum", "y = tanh x\nz = fft y")
    report = na.check(program, X, target="jax")
    assert [op.name for op in report.missing] == ["fft"]
    with pytest.raises(
        errors.MissingOpError,
        match=r"Spectrum uses 1 operation\(s\) that nestarray\.frontends\.toy does not have:\n"
        r"  fft \(Spectrum\.toy:2\): there is no function of that name",
    ):
        na.trace_graph(program, X)
