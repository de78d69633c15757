"""``vmap`` and derivatives under it, of modules whose number of rows stays open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, jacfwd, vmap
from torch.nn import functional as F

import nestarray as na


class Gradients(nn.Module):
    """The gradient of the parameters for each row."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(18, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        buffers = dict(self.net.named_buffers())

        def loss(v: Any, row: torch.Tensor) -> torch.Tensor:
            return functional_call(self.net, (v, buffers), (row[None],)).square().sum()

        found = vmap(grad(loss), (None, 0))(dict(self.net.named_parameters()), x)
        return torch.cat([part.flatten(1) for part in found.values()], 1)


class Of(nn.Module):
    """The derivative of a function of a row, for each row."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor], derivative: Any) -> None:
        super().__init__()
        self.function, self.derivative = function, derivative

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return vmap(self.derivative(self.function))(x)


class Members(nn.Module):
    """Weights for each row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kernels = x[:, :, None, :3, :3]
        return vmap(lambda row, kernel: F.conv2d(row[None], kernel, groups=2)[0])(x, kernels)


def image() -> torch.Tensor:
    return torch.linspace(-2, 2, 4 * 2 * 6 * 6).sin().reshape(4, 2, 6, 6)


def matrices() -> torch.Tensor:
    return torch.linspace(-3, 3, 4 * 3 * 3).sin().reshape(4, 3, 3) + torch.eye(3)


def rows_of(function: Callable[[torch.Tensor], torch.Tensor], derivative: Any = grad) -> Any:
    return lambda: (Of(function, derivative), matrices())


def chosen(x: torch.Tensor) -> torch.Tensor:
    best = x.sort(0)[0] * x.topk(3)[0] + x.gather(0, (x > 0).long())
    return F.embedding((best[0] > 0).long(), x, padding_idx=0).square().sum()


CASES: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "layers": lambda: (
        Gradients(
            nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.GELU(), nn.MaxPool2d(2),
            nn.ConvTranspose2d(3, 2, 2, stride=2), nn.GroupNorm(1, 2), nn.AvgPool2d(2),
        ).eval(), image(),
    ),
    "determinants": rows_of(lambda x: torch.linalg.det(x) + torch.linalg.slogdet(x)[1]),
    "choices": rows_of(chosen),
    "systems": rows_of(lambda x: torch.linalg.solve(x, x[0]).sum()),
    "padding": rows_of(
        lambda x: F.glu(F.pad(x, (1, 2), mode="reflect")).square().sum() + x.prod(0).sum()
    ),
    "windows": lambda: (
        Of(lambda x: F.unfold(F.adaptive_avg_pool2d(x[None], 4), 2).square().sum(), grad), image(),
    ),
    "samples": lambda: (
        Of(lambda x: F.grid_sample(x[None], torch.ones(1, 2, 2, 2) * 0.3,
        align_corners=True).square().sum(), grad), image(),
    ),
    "weights for each row": lambda: (Members(), image()),
    "pushes forward": lambda: (
        Of(lambda x: F.conv1d(x[None], torch.ones(2, 3, 2)).tanh()[0], jacfwd), matrices(),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [n if n == "weights for each row" else pytest.param(n, marks=pytest.mark.full) for n in CASES],
)
def test_open_rows(name: str) -> None:
    torch.manual_seed(0)
    module, x = CASES[name]()
    graph = na.trace_graph(module, x, dynamic={"x": {0: "rows"}})
    graphs = [graph, graph.to_backend("jax")]
    for count in (4, 7, 2):
        given = torch.cat([x.flip(0), 0.7 * x + 0.1])[:count]
        expected = module(given).detach()
        for each in graphs:
            found = na.to_backend(each(na.to_backend(given, each.backend)), "torch")
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
