"""Graphs and modules inside torch.compile and torch.export: one program, in first calls too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.exc import Unsupported

import nestarray as na

BATCH = {"input": {0: "batch"}}


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Dropout(0.5), torch.nn.Linear(8, 3),
    ).eval()  # fmt: skip


X = torch.randn(3, 1, 4, 4, generator=torch.Generator().manual_seed(0))
KEY = na.random.key(0, backend="torch")


class Layers(na.nn.Module):
    def __init__(self, first: na.nn.Module) -> None:
        self.first, self.rest = first, [na.nn.Linear(3, 5), na.nn.BatchNorm(5)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for layer in self.rest:
            x = layer(x)
        return x


def agree(found: Any, expected: Any) -> None:
    pairs = zip(na.tree.flatten(found)[0], na.tree.flatten(expected)[0], strict=True)
    for got, want in pairs:
        torch.testing.assert_close(got, want)


def counted(function: Callable[..., Any], **options: Any) -> tuple[Callable[..., Any], list[Any]]:
    """`function` read by torch.compile in one piece, and the programs that it has made."""
    made: list[Any] = []

    def backend(program: Any, example: Any) -> Any:
        made.append(program)
        return program

    torch._dynamo.reset()
    return torch.compile(function, backend=backend, fullgraph=True, **options), made


def evaluation() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return na.trace_graph(network(), X), (X,)


def lowered() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return na.trace_graph(network(), X).optimize(), (X,)


def gradient() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    graph = na.trace_graph(network(), X)
    return lambda v, x: na.value_and_grad(lambda v: graph(x, v=v).sum())(v), (graph.v, X)


def training() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    graph = na.trace_graph(network(), X, train=True)

    def loss(v: na.Container, s: na.Container, x: torch.Tensor, key: torch.Tensor) -> Any:
        out, s = graph(x, v=v, s=s, key=key)
        return out.sum(), s

    return na.value_and_grad(loss, has_aux=True), (graph.v, graph.s, X, KEY)


def layer() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    model = Layers(na.to_module(network(), X)).init(na.random.key(0, backend="torch"))
    return model, (X,)


def layer_in_training() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    source = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(16, 3))
    model = Layers(na.to_module(source, X)).init(na.random.key(0, backend="torch"))

    def step(v: na.Container, s: na.Container, x: torch.Tensor, key: torch.Tensor) -> Any:
        return model(x, v=v, s=s, train=True, key=key)

    return step, (model.v, model.s, X, KEY)


def loop() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    class Powers(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))
            step = torch.ops.higher_order.while_loop
            return step(lambda i, y: i < 3, lambda i, y: (i + 1, y * 1.5), (torch.tensor(0), x), ())

    return na.trace_graph(Powers(), X), (X,)


def read_in_one_piece(made: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]) -> None:
    function, args = made()
    compiled, _ = counted(function)
    first = compiled(*args)  # no plain call has filled the caches yet
    agree(first, function(*args))


def test_a_training_graph_among_layers() -> None:
    read_in_one_piece(layer_in_training)


@pytest.mark.full
@pytest.mark.parametrize("made", [evaluation, lowered, gradient, training, layer, loop])
def test_one_piece(made: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]) -> None:
    read_in_one_piece(made)


@pytest.mark.full
def test_sizes_that_are_left_open() -> None:
    graph = na.trace_graph(network(), X, dynamic=BATCH)
    compiled, programs = counted(graph)
    for batch in (5, 6, 8, 9):
        x = torch.randn(batch, 1, 4, 4)
        agree(compiled(x), graph(x))
    assert len(programs) == 2  # torch.compile leaves a size open when it has seen two


@pytest.mark.full
def test_graphs_that_are_arguments() -> None:
    compiled, programs = counted(lambda graph, x: graph(x))
    graphs = [na.trace_graph(net, X) for net in (network(), torch.nn.ReLU())]
    for graph in (*graphs, *graphs):
        agree(compiled(graph, X), graph(X))
    assert len(programs) == 2


def test_the_default_backend_is_guarded() -> None:
    def ones(x: torch.Tensor) -> torch.Tensor:
        with na.use_backend("torch"):
            inside = na.ones((2,))
        return x + inside if na.current_backend() == "torch" else x - inside

    compiled, programs = counted(ones)
    x = torch.zeros(2)
    for backend in ("torch", "numpy", "torch"):
        with na.use_backend(backend):
            agree(compiled(x), ones(x))
            assert na.current_backend() == backend
    assert len(programs) == 2


def test_wrong_arguments_are_named() -> None:
    compiled, _ = counted(na.trace_graph(network(), X))
    with pytest.raises(Unsupported, match="argument 'input': got shape"):
        compiled(X[:2])


@pytest.mark.parametrize("is_dynamic", [pytest.param(False, marks=pytest.mark.full), True])
def test_exported(is_dynamic: bool) -> None:
    class Doubled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.graph = na.trace_graph(network(), X, dynamic=BATCH)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * self.graph(x)

    shapes = ({0: torch.export.Dim("batch", min=2, max=64)},) if is_dynamic else None
    module = Doubled()
    exported = torch.export.export(module, (X,), dynamic_shapes=shapes).module()
    for batch in (3, 7) if is_dynamic else (3,):
        x = torch.randn(batch, 1, 4, 4)
        agree(exported(x), module(x))
