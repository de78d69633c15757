"""A program as users write it: `test_user_program` runs it, and the strict checker accepts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

import nestarray as na

Tree = na.Container[np.ndarray]


def regress(v: Tree, x: np.ndarray, y: np.ndarray) -> tuple[float, Tree]:
    """One step of gradient descent."""

    def loss_fn(v: Tree) -> np.ndarray:
        hidden = na.relu(na.matmul(x, v["w"]) + v["b"])
        return na.mean(na.square(na.sum(hidden, axis=-1) - y))

    loss, grads = na.value_and_grad(loss_fn)(v)
    value, more = na.execute_with_gradients(loss_fn, v)
    assert float(value) == float(loss)
    assert more.paths() == na.grad(loss_fn)(v).paths()
    return float(loss), v - grads * 0.1


def convert(net: torch.nn.Module, x: torch.Tensor, path: Path) -> na.Graph:
    """A model, checked, converted, proven and stored."""
    report = na.check(net, x, target="jax")
    assert report.ok, [operation.name for operation in report.missing]
    assert report.to_json()
    graph = na.trace_graph(net, x, dynamic={"input": {0: "batch"}}).optimize().to_backend("jax")
    proof = graph.verify()
    assert proof.ok, proof.first_divergence
    images = na.to_backend(x, "jax")
    print(graph(images).shape, graph.compile()(images).shape, graph.report(), graph.v.paths())
    print(graph.to_source())
    graph.save(path)
    return na.Graph.load(path, backend="numpy")


def train(x: np.ndarray, labels: np.ndarray) -> na.nn.Sequential:
    """A network of `na.nn`, trained with its optimizer."""
    nn = na.nn
    model = nn.Sequential(nn.Linear(8, 16), na.relu, nn.Dropout(0.1), nn.Linear(16, 2))
    model = model.init(na.random.key(0))
    optimizer = nn.AdamW(nn.schedules.cosine(1e-2, steps=100))
    v, state = model.v, optimizer.init(model.v)

    @na.jit
    def step(v: Tree, state: Tree, key: np.ndarray) -> tuple[np.ndarray, Tree, Tree]:
        def loss_fn(v: Tree) -> np.ndarray:
            logits, _ = model(x, v=v, train=True, key=key)
            return na.cross_entropy(logits, labels)

        loss, grads = na.value_and_grad(loss_fn)(v)
        new, after = optimizer.step(v, grads, state)
        return loss, new, after

    losses: list[float] = []
    for i in range(20):
        loss, v, state = step(v, state, na.random.fold_in(na.random.key(1), i))
        losses.append(float(loss))
    assert losses[-1] < losses[0]
    return model.with_variables(v)


def layer(net: torch.nn.Module, x: torch.Tensor) -> Any:
    """A torch module as a layer of nestarray."""
    module = na.to_module(net, x).to_backend("jax")
    print(module.v.summary(), module.graph, module.s)
    return module(na.to_backend(x, "jax"), v=module.v * 0.5)


def trees(v: Tree, folder: Path) -> None:
    """Selection, arithmetic, comparison, names and files."""
    average = v * 0.9 + v.at["**/b"].set(0.0) * 0.1
    for change in v.diff(average):
        print(change.path, change.status, change.statistics)
    names = v.match(average)
    names.save(folder / "names.json")
    assert na.KeyMap.load(folder / "names.json").apply(v).paths() == v.paths()
    na.Schema.of(v).check(average)
    v.save(folder / "v.npz", metadata={"licence": "MIT"})
    assert na.storage.metadata(folder / "v.npz") == {"licence": "MIT"}
    lazy = na.Container.load(folder / "v.npz", "enc/**", lazy=True)
    assert not na.storage.read(lazy).diff(v.select("enc/**"))
    chosen, others = v.partition("**/w")
    assert chosen.combine(others).paths() == v.paths()
    rows = na.stack([v, average])
    print(rows[0], na.vmap(na.tree_norm)(rows), v.describe(), v.to_flat_dict("."))


def arrays(x: np.ndarray) -> None:
    """Functions, loops and derivatives of arrays."""
    print(na.einsum("ij,kj->ik", x, x), na.softmax(x, axis=-1), na.vector_norm(x))
    print(na.scan(lambda carry, row: (carry + row, carry), na.zeros_like(x[0]), x))
    print(na.fori_loop(0, 3, lambda i, carry: carry * 2.0, x), na.map(na.tree_norm, x))
    print(na.cond(True, na.sin, na.cos, x), na.jvp(na.sin, (x,), (x,)), na.hessian(na.sum)(x[0]))
    for backend in ("numpy", "jax"):
        print(na.random.normal(na.random.key(0, backend=backend), (2,)))


def main(folder: Path) -> None:
    """Run all parts."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(16, 8)).astype("float32")
    v = na.Container(w=rng.normal(size=(8, 3)).astype("float32"), b=np.zeros(3, "float32"))
    first, v = regress(v, x, x.sum(-1))
    assert regress(v, x, x.sum(-1))[0] < first
    net = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    graph = convert(net, torch.tensor(x), folder / "net.npz")
    assert graph(x).shape == layer(net, torch.tensor(x)).shape
    train(x, (x.sum(-1) > 0).astype("int64"))
    trees(na.Container(enc={"w": x, "b": x[0]}, dec={"w": x}), folder)
    arrays(x)
