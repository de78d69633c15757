"""Repeated calls as loops: the same values, and other calls stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.graph import passes
from nestarray.graph.passes.stores import forward_stores
from tests.arrays import host
from tests.importers.numpy.programs import PROGRAMS, newton

pytestmark = pytest.mark.usefixtures("x64")
X = np.asarray([0.3, 1.2, -0.7])


def _calls(graph: Any) -> list[str]:
    return [node.target_name for node in graph.calls]


@pytest.mark.parametrize(
    ("name", "backend", "loop", "most"),
    [
        ("heat_equation", "jax", "na.fori_loop", 2),
        ("n_body", "tensorflow", "na.fori_loop", 5),
        ("lstm", "jax", "na.scan", 5),
        ("lstm", "torch", "na.scan", 5),
        ("k_means", "numpy", "na.scan", 8),
        ("kalman_filter", "jax", "na.scan", 3),
    ],
)
def test_loops_of_programs(name: str, backend: str, loop: str, most: int) -> None:
    program, args = PROGRAMS[name]
    plain = na.trace_graph(program, *map(np.array, args))
    graph = na.trace_graph(program, *map(np.array, args), roll_loops=True).to_backend(backend)
    assert loop in _calls(graph)
    assert len(graph.calls) <= most < len(plain.calls)
    graph.verify().raise_if_failed()
    others = [x * 0.9 + 0.01 for x in args]
    found = graph.lower()(*[na.to_backend(x, backend) for x in others])
    for got, want in zip(na.tree.leaves(found), na.tree.leaves(plain(*others)), strict=True):
        np.testing.assert_allclose(host(got), want, rtol=1e-9, atol=1e-12)


def _numbers(x: Any) -> Any:
    rows = []
    for i in range(5):
        x = na.sin(x) * (i + 1) + np.float64(i) / 3
        rows.append(x)
    return rows[1], na.stack(rows), x


def _nested(x: Any) -> Any:
    for _ in range(4):
        for _ in range(3):
            x = na.exp(-x)
        x = x - na.mean(x)
    return x


def _rows(x: Any) -> Any:
    table = na.stack([x] * 4)
    total = na.zeros_like(x)
    for i in range(4):
        row = table[i] * 2
        total = total + na.tanh(row)
        table = na.setitem(table, i, total)
    return table


@pytest.mark.parametrize("program", [_numbers, _nested, _rows])
def test_loops_of_code_over_na(program: Any) -> None:
    graph = na.trace_graph(program, X, roll_loops=True)
    loops = {"na.scan", "na.fori_loop"} & {*_calls(graph)}
    assert loops
    graph.verify().raise_if_failed()
    for got, want in zip(na.tree.leaves(graph(X * 2)), na.tree.leaves(program(X * 2)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    if program is _nested:
        body = graph.calls[0].args[2]
        assert "na.fori_loop" in [node.target_name for node in body.nodes]


def _steps_in_rows(start: Any) -> Any:
    x, total = np.zeros((6, 3)), np.empty(5)
    x[0] = start
    for i in range(5):
        x[i + 1] = x[i] + 0.1 * np.sin(x[i])
        total[i] = x[i].sum() * x[0, 1]
    return x, total


def test_rows_of_an_array_are_results_of_the_steps() -> None:
    graph = na.trace_graph(_steps_in_rows, X, roll_loops=True)
    assert "na.scan" in _calls(graph)
    assert "na.setitem" not in _calls(graph.lower())
    graph.verify().raise_if_failed()
    for got, want in zip(graph(X * 2), _steps_in_rows(X * 2), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def _rows_and_whole_arrays(x: Any) -> Any:
    x[0] = x[1] * 2
    whole = x * 1
    x[1], x[2] = x[0] + 1, x[0] - x[1]
    x[0] = 3
    return x[0], x, whole


def test_writes_between_reads_of_the_whole_array_stay() -> None:
    graph = na.trace_graph(_rows_and_whole_arrays, np.array(X))
    forwarded = forward_stores(graph)
    reads = [node for node in forwarded.calls if node.target_name == "na.getitem"]
    assert len(reads) < len([node for node in graph.calls if node.target_name == "na.getitem"])
    want = _rows_and_whole_arrays(X * 2)
    for got, expected in zip(forwarded(X * 2), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def _results_after_a_loop(x: Any) -> Any:
    for _ in range(5):
        x = na.exp(-x)
        x = na.tanh(x) - na.cos(x)
    return na.exp(-x)


def test_calls_after_a_loop_are_no_step() -> None:
    graph = na.trace_graph(_results_after_a_loop, X, roll_loops=True)
    assert _calls(graph)[-2:] == ["na.negative", "na.exp"]
    np.testing.assert_allclose(graph(X * 2), _results_after_a_loop(X * 2), rtol=1e-12)


def test_assumptions_of_the_steps_are_checked() -> None:
    x = np.asarray([1.0, 2.0])
    graph = na.trace_graph(newton, x, roll_loops=True)
    assert "na.scan" in _calls(graph)
    np.testing.assert_allclose(graph(x), newton(x))
    with pytest.raises(na.errors.AssumptionError, match="read True"):
        graph(x * 100)


def _two_steps_back(x: Any) -> Any:
    before = x
    for _ in range(6):
        before, x = x, na.sin(x) + before
    return x


def _slices(x: Any) -> Any:
    x = na.concat([x] * 4)
    return na.stack([na.sum(na.sin(x[i : i + 3])) for i in range(4)])


def _shapes(x: Any) -> Any:
    for _ in range(4):
        x = na.sin(na.concat([x, x]))
    return x


def _elements(x: Any) -> Any:
    return x[0] + x[1], x[2]


@pytest.mark.parametrize("program", [_slices, _shapes, _elements])
def test_other_calls_stay(program: Any) -> None:
    graph = na.trace_graph(program, X)
    assert str(passes.roll_loops(graph)) == str(graph)


def test_values_of_two_steps_before() -> None:
    graph = na.trace_graph(_two_steps_back, X, roll_loops=True)
    np.testing.assert_allclose(graph(X * 2), _two_steps_back(X * 2), rtol=1e-12)


def test_the_error_names_a_selection_in_a_loop() -> None:
    def selected(x: Any) -> Any:
        return na.stack([na.sum(na.exp(x[na.asarray(mask)] ** 2)) for mask in np.eye(3) == 0])

    graph = na.trace_graph(selected, X, roll_loops=True).to_backend("jax")
    assert "na.scan" in _calls(graph)
    with pytest.raises(na.errors.UnsupportedError, match="values decide the size of 'getitem"):
        graph.compile()(na.to_backend(X, "jax"))
