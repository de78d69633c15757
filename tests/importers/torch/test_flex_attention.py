"""``flex_attention`` in modules, compared with torch's own."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention

import nestarray as na
from tests.graph.agreement import assert_agrees, leaves


def causal(b, h, i, j):
    return i >= j


def window(b, h, i, j):
    return (i >= j) & (i - j < 4) | (j < h)


class Biased(nn.Module):
    """A bias by head and distance, as ALiBi has it, over a causal mask in the scores."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.slopes = nn.Parameter(torch.rand(4))
        self.table = nn.Parameter(torch.randn(4, 31))

    def forward(self, q, k, v):
        def score(s, b, h, i, j):
            s = s + self.slopes[h] * (j - i) + self.table[h, i - j + 15]
            return torch.where(i >= j, 20 * torch.tanh(s / 20), -torch.inf)

        return flex_attention(q, k, v, score_mod=score)


class Masked(nn.Module):
    """A block mask from outside, groups of queries, and the sum of each row."""

    def __init__(self, mask) -> None:
        super().__init__()
        self.mask = mask
        self.scale = nn.Parameter(torch.tensor(0.7))

    def forward(self, q, k, v):
        out, aux = flex_attention(
            q * self.scale,
            k[:, :2],
            v[:, :2],
            block_mask=self.mask,
            scale=0.5,
            enable_gqa=True,
            return_aux=AuxRequest(lse=True),
        )
        return out, aux.lse


class MaskInside(nn.Module):
    """A block mask made in forward, some of whose rows are empty."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.7))

    def forward(self, q, k, v):
        def some(b, h, i, j):
            return (i >= j) & (i > 2)

        mask = create_block_mask(some, None, None, q.shape[2], k.shape[2], device="cpu")
        return flex_attention(q * self.scale, k, v, block_mask=mask)


def expected(module: nn.Module, *args: torch.Tensor) -> list[torch.Tensor]:
    """torch's own result, which it has without gradients only."""
    module.requires_grad_(False)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is not compiled
        found = module(*args)
    module.requires_grad_(True)
    return list(found) if isinstance(found, tuple) else [found]


MODULES = {
    "bias": Biased,
    "causal": lambda: Masked(create_block_mask(causal, None, None, 16, 16, device="cpu")),
    "window": lambda: Masked(create_block_mask(window, None, 4, 16, 16, device="cpu")),
    "inside": MaskInside,
}


class All(nn.Module):
    """All of `MODULES`, to be one graph of one export."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleDict({name: make() for name, make in MODULES.items()})

    def forward(self, q, k, v):
        return {name: part(q, k, v) for name, part in self.parts.items()}


@pytest.fixture(scope="module")
def attention():
    """The modules, their arguments, torch's own results, and the graph."""
    generator = torch.Generator().manual_seed(0)
    args = tuple(torch.randn(2, 4, 16, 8, generator=generator) for _ in range(3))
    net = All()
    wanted = {name: expected(part, *args) for name, part in net.parts.items()}
    return args, wanted, na.trace_graph(net, *args)


@pytest.mark.parametrize(
    "backend",
    [
        "numpy",
        pytest.param("torch", marks=pytest.mark.full),
        pytest.param("jax", marks=pytest.mark.full),
        pytest.param("tensorflow", marks=pytest.mark.full),
    ],
)
def test_values_are_torchs(attention, backend):
    args, wanted, graph = attention
    moved = graph.to_backend(backend)
    found = moved(*(na.to_backend(x, backend) for x in args))
    assert set(found) == set(MODULES)
    for name, want in wanted.items():
        for a, b in zip(leaves(found[name]), want, strict=True):
            torch.testing.assert_close(na.to_backend(a, "torch"), b)
    assert moved.verify().ok


@pytest.mark.full
def test_gradients_are_those_of_the_formula():
    class Plain(Biased):
        def forward(self, q, k, v):
            i, j = torch.arange(16)[:, None], torch.arange(16)[None]
            s = q @ k.mT / 8**0.5 + self.slopes[:, None, None] * (j - i) + self.table[:, i - j + 15]
            s = torch.where(i >= j, 20 * torch.tanh(s / 20), -torch.inf)
            return torch.softmax(s, -1) @ v

    args = tuple(torch.randn(2, 4, 16, 8) for _ in range(3))
    graph = assert_agrees(Plain(), *args, backends=("numpy",))
    loss = lambda graph: lambda v: na.mean(graph(*(x.numpy() for x in args), v=v) ** 2)  # noqa: E731
    of_formula = graph.to_backend("numpy")
    flexible = na.trace_graph(Biased(), *args).to_backend("numpy")
    want = na.grad(loss(of_formula))(of_formula.v)
    found = na.grad(loss(flexible))(flexible.v)
    assert na.tree_norm(found - want) <= 1e-5 * na.tree_norm(want)
