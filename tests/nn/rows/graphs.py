"""Rows of `nestarray.nn.graphs`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import nn
from tests.nn.rows.row import Row

#: sources and targets, with a loop and a node without edges
EDGES = np.asarray([[0, 1, 2, 3, 0, 2], [1, 2, 0, 0, 3, 2]])


def graph(rng: Any) -> tuple[Any, ...]:
    return rng.normal(size=(5, 3)).astype("float32"), EDGES


def weighted(rng: Any) -> tuple[Any, ...]:
    return *graph(rng), rng.random(EDGES.shape[1]).astype("float32")


ROWS = [
    Row("MessagePassing", nn.MessagePassing, None, inputs=weighted),
    Row("GCNConv", lambda: nn.GCNConv(3, 4), None, inputs=weighted),
    Row(
        "GCNConv bare",
        lambda: nn.GCNConv(3, 4, add_self_loops=False, bias=False),
        None,
        inputs=graph,
    ),
    Row("SAGEConv", lambda: nn.SAGEConv(3, 4), None, inputs=graph),
    Row(
        "SAGEConv max",
        lambda: nn.SAGEConv(3, 4, "max", normalize=True, project=True),
        None,
        inputs=graph,
        has_kinks=True,
    ),
    Row("GATConv", lambda: nn.GATConv(3, 4, 2), None, inputs=graph, has_kinks=True),
    Row(
        "GATConv mean",
        lambda: nn.GATConv(3, 4, 2, False, add_self_loops=False),
        None,
        inputs=graph,
        has_kinks=True,
    ),
    Row("GINConv", lambda: nn.GINConv(nn.Linear(3, 4), 0.1), None, inputs=graph),
    Row("GINConv trained", lambda: nn.GINConv(nn.Linear(3, 4), 0.1, True), None, inputs=graph),
]
