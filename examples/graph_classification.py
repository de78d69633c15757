"""Graph convolutions tell trees, stars and rings apart, whose edges are partly random.

All graphs of a data set are one graph without edges between them; segments of its nodes are pooled.

usage: python examples/graph_classification.py [--backend numpy | jax | torch | tensorflow]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import nestarray as na
from nestarray import nn

GRAPHS, FEATURES = 192, 1


def data(name: str, backend: str) -> na.Container:
    """Nodes `(nodes, features)`, edges `(2, edges)`, the graph of each node, the class of each graph."""
    key = na.random.fold_in(na.random.key(0, backend="numpy"), name)
    draw = {part: na.random.fold_in(key, part) for part in ("sizes", "edges", "is_random")}
    sizes = na.random.randint(draw["sizes"], (GRAPHS,), 6, 13)
    label = np.arange(GRAPHS, dtype="int32") % 3
    graph = np.repeat(np.arange(GRAPHS, dtype="int32"), sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.arange(len(graph)) - first
    earlier = (na.random.uniform(draw["edges"], graph.shape) * place).astype(int)  # trees
    before = np.where(place == 0, sizes[graph] - 1, place - 1)  # rings
    target = np.select([label[graph] == 0, label[graph] == 1], [earlier, 0 * place], before)
    is_random = na.random.uniform(draw["is_random"], graph.shape) < 0.15
    pairs = np.stack([first + place, first + np.where(is_random, earlier, target)])
    edges = np.concatenate([pairs, pairs[::-1]], axis=1).astype("int32")
    x = np.ones((len(graph), 1), "float32")
    return na.Container(x=x, edges=edges, graph=graph, label=label).to_backend(backend)


class Classifier(nn.Module):
    """The logits of the three classes for each graph."""

    def __init__(self, size: int = 32) -> None:
        self.first = nn.GCNConv(FEATURES, size)
        mlp = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size))
        self.second = nn.GINConv(mlp, train_eps=True)
        self.norm = nn.LayerNorm(size)
        self.head = nn.Linear(2 * size, 3)

    def forward(self, batch: na.Container) -> Any:
        """batch: of `data`; returns `(graphs, 3)`."""
        x = na.relu(self.first(batch.x, batch.edges))
        x = na.relu(self.norm(self.second(x, batch.edges)))
        count = batch.label.shape[0]
        mean = na.segment_mean(x, batch.graph, num_segments=count)
        square = na.segment_mean(x * x, batch.graph, num_segments=count)
        return self.head(na.concat([mean, square], axis=-1))


def main(backend: str = "jax", steps: int = 100) -> list[float]:
    """The loss of each step."""
    key = na.random.key(0, backend=backend)
    net = Classifier().init(na.random.fold_in(key, "weights"))

    def loss_fn(v: na.Container, batch: na.Container) -> Any:
        return na.cross_entropy(net(batch, v=v), batch.label)

    step = na.train_step(loss_fn, nn.Adam(0.01), compile=backend != "torch")  # its compiler is slow
    state, batch = step.init(net.v), data("training", backend)
    losses = []
    for _ in range(steps):
        state, metrics = step(state, batch)
        losses.append(float(metrics.loss))
    accuracy, test = nn.metrics.Accuracy(), data("test", backend)
    counts = accuracy.update(accuracy.init(like=test.x), net(test, v=state["v"]), test.label)
    right = float(accuracy.compute(counts))
    print(
        f"{backend}: loss {losses[0]:.4f} → {losses[-1]:.4f}, {right:.0%} of new graphs are right"
    )
    return losses


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="jax")
    main(**vars(parser.parse_args()))
