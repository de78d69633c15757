"""Code over `na` recorded with open sizes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import errors, nn
from tests.arrays import host

X = np.arange(12, dtype="float32").reshape(4, 3)
Y = np.linspace(-1, 1, 21, dtype="float32").reshape(7, 3)
OPEN = {"x": {0: "batch"}}


def _shapes(x: Any) -> Any:
    rows = na.concat([x, na.ones((x.shape[0] + 1, 3), like=x)])
    return na.softmax(na.reshape(rows, (-1, 3))) * x.shape[0], na.sum(x, axis=0) / x.shape[0]


def _scan(x: Any) -> Any:
    last, before = na.scan(lambda c, row: (c + row, c * row), na.zeros((3,), like=x), x)
    return before * last / before.shape[0]


def _loops(x: Any) -> Any:
    def step(c: Any, row: Any) -> tuple[Any, Any]:
        c = na.fori_loop(0, 2, lambda i, c: na.reshape(c, (c.shape[0], -1)) / x.shape[0] + x, c)
        return c, na.sum(c, axis=1) * row

    last, rows = na.scan(step, na.zeros_like(x), na.matrix_transpose(x))
    return na.cond(na.sum(x) > 0, lambda: last * x.shape[0], lambda: last - x), rows


@pytest.mark.parametrize("program", [_shapes, _scan, _loops])
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_functions(program: Any, backend: str) -> None:
    traced = na.trace_graph(program, X, dynamic=OPEN)
    traced.verify().raise_if_failed()
    graph = traced.to_backend(backend)
    y = na.to_backend(Y, backend)
    for run in (graph, graph.lower(), graph.compile()):
        for got, want in zip(na.tree.leaves(run(y)), na.tree.leaves(program(Y)), strict=True):
            np.testing.assert_allclose(host(got), want, rtol=1e-5)
    with pytest.raises(errors.ShapeError, match="argument 'x': got shape"):
        graph(y[:, :2])


class Net(nn.Module):
    """Convolution, batch norm, attention over pixels."""

    def __init__(self) -> None:
        self.conv, self.norm = nn.Conv2d(1, 4, 3), nn.BatchNorm(4)
        self.attention, self.head = nn.MultiHeadAttention(8, 2), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        y = na.relu(self.norm(self.conv(x)))
        return self.head(self.attention(na.reshape(y, (y.shape[0], -1, 8)))[:, 0])


@pytest.mark.parametrize("train", [False, True])
def test_modules(train: bool) -> None:
    key = na.random.key(1, backend="torch")
    net = Net().init(key)
    images, others = (na.random.normal(key, (n, 1, 8, 8)) for n in (2, 5))
    graph = na.trace_graph(net, images, dynamic={"x": {0: "batch"}}, train=train)
    graph.verify().raise_if_failed()
    got, want = graph(others, key=key), net(others, train=train, key=key)
    for x, y in zip(na.tree.leaves(got), na.tree.leaves(want), strict=True):
        np.testing.assert_allclose(host(x), host(y), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: [x[i] for i in range(x.shape[0])], "the code needs the value of the size batch"),
        (lambda x: x if na.sum(x) > 0 else -x, "the code needs the values of an array"),
    ],
)  # fmt: skip
def test_code_that_depends_on_a_size(program: Any, message: str) -> None:
    with pytest.raises(errors.ConversionError, match=message):
        na.trace_graph(program, X, dynamic=OPEN)


def test_a_comparison_of_sizes_is_a_condition() -> None:
    graph = na.trace_graph(lambda x: x if x.shape[0] > 5 else -x, X, dynamic=OPEN)
    assert [*map(str, graph.sizes.conditions)] == ["batch <= 5"]
    np.testing.assert_array_equal(graph(X[:3]), -X[:3])
    with pytest.raises(errors.ShapeError, match=r"batch <= 5.*test_record_open_sizes.py:\d+"):
        graph(Y)


def test_rounded_sizes(tmp_path: Path) -> None:
    def program(x: Any) -> Any:
        return x[: math.floor(x.shape[0] * 0.3) + 1] * 2

    graph = na.trace_graph(program, X, dynamic=OPEN)
    graph.save(tmp_path / "net.safetensors")
    again = na.Graph.load(tmp_path / "net.safetensors")
    for rows in (1, 3, 7):
        np.testing.assert_array_equal(graph(Y[:rows]), program(Y[:rows]))
        np.testing.assert_array_equal(again(Y[:rows]), program(Y[:rows]))
    assert graph.sizes.conditions == ()


def test_rows_of_an_open_length() -> None:
    graph = na.trace_graph(
        na.vmap(lambda row: row / row.shape[0]), X, dynamic={"row": {1: "length"}}
    )
    np.testing.assert_allclose(graph(Y[:4, :2]), Y[:4, :2] / 2)


def test_names_of_arguments_in_containers() -> None:
    c = na.Container(b=X, a=X[:2])
    graph = na.trace_graph(lambda c: c["a"] + 1, c, dynamic={"c": {"a": {0: "n"}}})
    assert graph(na.Container(b=X, a=Y)).shape == (7, 3)
    with pytest.raises(errors.ArgumentError, match=r"dynamic: got 'y', which the example does not"):
        na.trace_graph(na.exp, X, dynamic={"y": {0: "n"}})
