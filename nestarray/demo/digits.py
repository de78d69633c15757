"""A PyTorch network, trained on digits, moved, fine-tuned in JAX, and moved back.

A small convolutional network with batch normalization and dropout learns scikit-learn's digits
in PyTorch. The same network then runs in JAX, TensorFlow and NumPy, with proof that it computes
the same. Then the data change (another camera: shifted, dimmed, noisy) and the network fails.
JAX and optax fine-tune it through `na.execute_with_gradients`, and the new parameters go back into
the PyTorch module, which is now accurate again.

usage: nestarray demo
"""

from __future__ import annotations

import copy
import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np

import nestarray as na

BATCH = 64
BACKENDS = ("torch", "jax", "tensorflow", "numpy")


@dataclasses.dataclass(frozen=True)
class Images:
    """Images `(batch, 1, 8, 8)` in float32 and their labels `(batch,)`, for training and test."""

    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray


def load_images() -> Images:
    """scikit-learn's 1,797 digits, split into training and test images."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    x = (np.asarray(x) / 8.0 - 1.0).astype("float32").reshape(-1, 1, 8, 8)
    y = np.asarray(y, "int64")
    train, test, labels, test_labels = map(
        np.asarray, train_test_split(x, y, test_size=512, random_state=0, stratify=y)
    )
    return Images(train, labels, test, test_labels)


def other_camera(images: Images) -> Images:
    """The same digits one or two pixels away, half as bright, with noise."""
    rng = np.random.default_rng(0)

    def shoot(x: np.ndarray) -> np.ndarray:
        padded = np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)), constant_values=-1.0)
        shots = np.empty_like(x)
        for i, (dy, dx) in enumerate(rng.integers(1, 4, (len(x), 2))):
            shots[i] = padded[i, :, dy : dy + 8, dx : dx + 8]
        noise = rng.normal(0.0, 0.1, x.shape)
        return (0.5 * shots - 0.5 + noise).astype("float32")

    return dataclasses.replace(images, train=shoot(images.train), test=shoot(images.test))


def make_network() -> Any:
    """Two convolutions with batch normalization, dropout, a linear layer."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 10),
    )


def batches(images: Images, epochs: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Shuffled batches of `BATCH` for several epochs."""
    rng = np.random.default_rng(seed)
    size = len(images.train)
    order = [rng.permutation(size)[: size - size % BATCH] for _ in range(epochs)]
    rows = np.concatenate(order).reshape(-1, BATCH)
    return [(images.train[row], images.train_labels[row]) for row in rows]


def train_in_torch(net: Any, images: Images, *, epochs: int, progress: Any) -> list[float]:
    """Train with torch's own Adam; returns the loss of each step."""
    import torch

    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    losses = []
    for x, y in progress(batches(images, epochs, seed=1), "training in PyTorch"):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(torch.from_numpy(x)), torch.from_numpy(y))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def torch_accuracy(net: Any, images: Images) -> float:
    """The accuracy of a torch network on the test images."""
    import torch

    with torch.no_grad():
        logits = net.eval()(torch.from_numpy(images.test)).numpy()
    return accuracy(logits, images.test_labels)


def accuracy(logits: np.ndarray, labels: np.ndarray) -> float:
    """The share of rows whose largest logit is the label's."""
    return float((logits.argmax(-1) == labels).mean())


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of the table; `gradient` is None on a backend without gradients."""

    backend: str
    accuracy: float
    forward: float
    gradient: float | None
    agrees: bool
    layers: list[tuple[str, float]]


def compare_backends(graph: Any, images: Images, *, progress: Any) -> list[Row]:
    """Run the graph on every backend and compare it with the torch module."""
    rows = []
    for backend in progress(BACKENDS, "moving and comparing"):
        moved = graph.to_backend(backend)
        logits = na.to_backend(moved(na.to_backend(images.test, backend)), "numpy")
        report = moved.verify()
        layers = [(node.name, node.relative) for node in report.nodes]
        rows.append(
            Row(
                backend,
                accuracy(np.asarray(logits), images.test_labels),
                report.output_error,
                report.gradient_error if report.gradients else None,
                report.ok,
                layers,
            )
        )
    return rows


def fine_tune_in_jax(
    graph: Any, images: Images, *, epochs: int, progress: Any
) -> tuple[Any, Any, list[float]]:
    """Train a graph traced with ``train=True`` by optax; returns (v, s, losses)."""
    import optax

    graph = graph.to_backend("jax")
    optimizer = optax.adam(2e-3)

    @na.jit
    def step(v: Any, s: Any, opt_state: Any, x: Any, y: Any, key: Any) -> Any:
        def loss_fn(v: Any) -> Any:
            logits, new_s = graph(x, v=v, s=s, key=key)
            return na.cross_entropy(logits, y), new_s

        (loss, s_after), grads = na.execute_with_gradients(loss_fn, v, has_aux=True)
        updates, opt_state = optimizer.update(grads, opt_state, v)
        return v + updates, s_after, opt_state, loss

    v, s = graph.v, graph.s
    opt_state = optimizer.init(v)
    with na.use_backend("jax"):
        key = na.random.key(0)
    losses = []
    for i, (x, y) in enumerate(progress(batches(images, epochs, seed=2), "fine-tuning in JAX")):
        x, y = na.to_backend(x, "jax"), na.to_backend(y.astype("int32"), "jax")
        v, s, opt_state, loss = step(v, s, opt_state, x, y, na.random.fold_in(key, i))
        losses.append(float(loss))
    return v, s, losses


def run(output: Path, *, epochs: int = 8, tuning_epochs: int = 25) -> dict[str, Any]:
    """Run all steps, print them, and return the figures."""
    import torch
    from rich.console import Console
    from rich.progress import track

    console = Console()
    start = time.perf_counter()

    def progress(steps: Any, description: str) -> Any:
        return track(steps, f"  {description}", console=console)

    def chapter(title: str) -> None:
        console.print(f"\n[bold]{title}[/bold]")

    chapter("1. A PyTorch network learns digits")
    clean = load_images()
    net = make_network()
    torch_losses = train_in_torch(net, clean, epochs=epochs, progress=progress)
    console.print(f"  test accuracy {torch_accuracy(net, clean):.1%}")

    chapter("2. Its parameters are a Container, its program a Graph")
    console.print(na.Container.from_torch_module(net), highlight=False, markup=False)
    x_test = torch.from_numpy(clean.test)
    graph = na.trace_graph(net.eval(), x_test)
    console.print(f"\n{graph.to_source()}", highlight=False, markup=False, soft_wrap=True)

    chapter("3. The same network on every framework, compared with PyTorch")
    rows = compare_backends(graph, clean, progress=progress)
    console.print(table(rows))

    chapter("4. Another camera: JAX and optax fine-tune the network")
    shifted = other_camera(clean)
    before = torch_accuracy(net, shifted)
    console.print(f"  accuracy of the PyTorch network on the new images: {before:.1%}")
    x, _ = batches(shifted, 1, seed=0)[0]
    training = na.trace_graph(copy.deepcopy(net).train(), torch.from_numpy(x), train=True)
    v, s, jax_losses = fine_tune_in_jax(training, shifted, epochs=tuning_epochs, progress=progress)
    tuned = graph.to_backend("jax")(na.to_backend(shifted.test, "jax"), v=v, s=s)
    in_jax = accuracy(np.asarray(tuned), shifted.test_labels)
    console.print(f"  accuracy in JAX after fine-tuning: {in_jax:.1%}")

    chapter("5. Back to PyTorch")
    v.update(s).load_into_torch_module(net)
    after = torch_accuracy(net, shifted)
    console.print(
        f"  accuracy of the PyTorch network on the new images: {before:.1%} → {after:.1%}"
    )

    picture = draw(output, torch_losses, jax_losses, rows)
    seconds = time.perf_counter() - start
    console.print(
        f"\nLoss curves and errors by layer: {picture}   ({seconds:.0f} s)", soft_wrap=True
    )
    return {"rows": rows, "before": before, "in_jax": in_jax, "after": after, "picture": picture}


def table(rows: list[Row]) -> Any:
    """The comparison as a rich table."""
    from rich.table import Table

    result = Table(caption="errors relative to the largest magnitude, against the PyTorch module")
    for column in ("backend", "test accuracy", "error forward", "error gradient", "verdict"):
        result.add_column(column, justify="left" if column == "backend" else "right")
    for row in rows:
        gradient = "no gradients" if row.gradient is None else f"{row.gradient:.1e}"
        verdict = "[green]agrees[/green]" if row.agrees else "[red]differs[/red]"
        result.add_row(row.backend, f"{row.accuracy:.1%}", f"{row.forward:.1e}", gradient, verdict)
    return result


def draw(output: Path, torch_losses: list[float], jax_losses: list[float], rows: list[Row]) -> Path:
    """Plot the loss curves and the error of each layer; returns the file."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    left.semilogy(torch_losses, label="PyTorch, clean digits", lw=0.9)
    steps = range(len(torch_losses), len(torch_losses) + len(jax_losses))
    left.semilogy(steps, jax_losses, label="JAX, the other camera", lw=0.9)
    left.set(xlabel="step", ylabel="cross-entropy", title="loss")
    left.legend()
    for row in rows:
        errors = [max(error, 1e-9) for _, error in row.layers]
        right.semilogy(errors, "o-", ms=3, lw=0.9, label=row.backend)
    names = [name for name, _ in rows[0].layers]
    right.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7)
    right.set(ylabel="relative error (1e-9: none)", title="error by layer, against PyTorch")
    right.legend()
    output.mkdir(parents=True, exist_ok=True)
    path = output / "demo.png"
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path
