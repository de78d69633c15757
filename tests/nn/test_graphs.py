"""Layers of graphs against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, ShapeError
from nestarray.testing import assert_close

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 3)).astype("float32")
EDGES = np.asarray([[0, 1, 2, 3, 0, 2, 4], [1, 2, 0, 0, 3, 2, 0]])
WEIGHTS = RNG.random(7).astype("float32")
#: ADJACENCY[i, j] is the weight of the edge from j to i
ADJACENCY = np.zeros((5, 5), "float32")
ADJACENCY[EDGES[1], EDGES[0]] = WEIGHTS
IS_EDGE = ADJACENCY > 0


def initialized(layer: nn.Module) -> nn.Module:
    """With variables that are not zero."""
    layer = layer.init(na.random.key(0))
    return layer.with_variables(layer.v + 0.1)


def out_of(layer: nn.Module, backend: str, *inputs: np.ndarray) -> np.ndarray:
    moved = [na.to_backend(x, backend) for x in inputs]
    return na.to_backend(layer.to_backend(backend)(*moved), "numpy")


@pytest.mark.parametrize("improved", [False, True])
def test_gcn(improved: bool, backend: str) -> None:
    layer = initialized(nn.GCNConv(3, 4, improved))
    loops = np.where(np.diag(IS_EDGE), np.diag(ADJACENCY), 2.0 if improved else 1.0)
    matrix = ADJACENCY - np.diag(np.diag(ADJACENCY)) + np.diag(loops)
    factor = matrix.sum(1) ** -0.5
    matrix = (factor[:, None] * matrix * factor).astype("float32")
    expected = matrix @ X @ layer.v["lin/weight"].T + layer.v["bias"]
    assert_close(out_of(layer, backend, X, EDGES, WEIGHTS), expected)


def test_sage(backend: str) -> None:
    layer = initialized(nn.SAGEConv(3, 4, normalize=True))
    v = layer.v
    means = IS_EDGE @ X / np.maximum(IS_EDGE.sum(1, keepdims=True), 1)
    out = means @ v["lin_l/weight"].T + v["lin_l/bias"] + X @ v["lin_r/weight"].T
    expected = out / np.linalg.norm(out, axis=1, keepdims=True)
    assert_close(out_of(layer, backend, X, EDGES), expected.astype("float32"))


@pytest.mark.parametrize(("concat", "loops"), [(True, True), (False, True), (True, False)])
def test_gat(concat: bool, loops: bool, backend: str) -> None:
    layer = initialized(nn.GATConv(3, 4, 2, concat, add_self_loops=loops))
    rows = (X @ layer.v["lin/weight"].T).reshape(5, 2, 4)
    of_source = (rows * layer.v["att_src"]).sum(-1)
    of_target = (rows * layer.v["att_dst"]).sum(-1)
    is_edge = IS_EDGE | np.eye(5, dtype=bool) if loops else IS_EDGE
    expected = np.zeros((5, 2, 4), "float32")
    for i in range(5):
        for head in range(2):
            scores = of_source[:, head] + of_target[i, head]
            powers = np.exp(np.where(scores > 0, scores, 0.2 * scores)) * is_edge[i]
            if powers.any():
                expected[i, head] = (powers / powers.sum()) @ rows[:, head]
    expected = expected.reshape(5, 8) if concat else expected.mean(1)
    assert_close(out_of(layer, backend, X, EDGES), expected + layer.v["bias"])


@pytest.mark.parametrize("train_eps", [False, True])
def test_gin(train_eps: bool, backend: str) -> None:
    layer = nn.GINConv(nn.Linear(3, 4), 0.5, train_eps).init(na.random.key(0))
    assert layer.v["eps"] == 0.5 if train_eps else layer.s["eps"] == 0.5
    expected = (1.5 * X + IS_EDGE @ X) @ layer.v["nn/weight"].T + layer.v["nn/bias"]
    assert_close(out_of(layer, backend, X, EDGES), expected)


def test_maxima(backend: str) -> None:
    layer = nn.MessagePassing("max").init(na.random.key(0))
    expected = [X[row].max(0) if row.any() else np.zeros(3) for row in IS_EDGE]
    assert_close(out_of(layer, backend, X, EDGES), np.asarray(expected, "float32"))


def test_messages_of_a_subclass(backend: str) -> None:
    class Differences(nn.MessagePassing):
        def message(self, sources: object, targets: object, edges: object) -> object:
            return (sources - targets) * edges

    layer = Differences().init(na.random.key(0))
    edges = RNG.normal(size=(7, 3)).astype("float32")
    expected = np.zeros_like(X)
    np.add.at(expected, EDGES[1], (X[EDGES[0]] - X[EDGES[1]]) * edges)
    assert_close(out_of(layer, backend, X, EDGES, edges), expected)


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="SAGEConv: aggr: got 'min', expected 'add', 'mean' or"):
        nn.SAGEConv(3, 4, "min")
    with pytest.raises(ArgumentError, match="GCNConv: cached: got True, expected False"):
        nn.GCNConv(3, 4, cached=True)
    with pytest.raises(
        ShapeError, match=r"edge_index: got the shape \(7, 2\), expected \(2, edges"
    ):
        nn.MessagePassing().init(na.random.key(0))(X, EDGES.T)
