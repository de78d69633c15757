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


def places(x: torch.Tensor) -> torch.Tensor:
    i = torch.tensor([2, 0, 1, 1])
    moved = x.index_select(0, i).index_add(0, i, x[i]).index_copy(0, i[:2], x[:2] * 2)
    largest = x.scatter_reduce(0, torch.tensor([[0, 0, 1]]).expand(3, 3), x, "amax")
    parts = x.select_scatter(x[0] * 2, 0, 1).slice_scatter(x[:1], 0, 2).diagonal_scatter(x[0])
    return moved.pow(3).sum() + (largest * parts).sum() + x.take(i * 2).pow(3).sum()


def written(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    y[0] = x[1]
    y[1:, 0] += x[0, :2]
    y[1:].addcmul_(x[1:], x[:2]).clamp_(-1, 1).lerp_(x[1:], 0.3)
    return y.scatter_add_(0, (x > 0).long(), x).square().sum()


def products(x: torch.Tensor) -> torch.Tensor:
    crossed = torch.kron(torch.linalg.cross(x, x.flip(0)), torch.diag(x)).diff(dim=0)
    return crossed.square().sum() + F.bilinear(x, x, x.expand(2, 3, 3)).square().sum()


def attended(x: torch.Tensor) -> torch.Tensor:
    rows = x[None, None]
    return F.scaled_dot_product_attention(rows, rows.flip(2), rows * 2, is_causal=True).pow(3).sum()


def pairs(x: torch.Tensor) -> torch.Tensor:
    x = torch.cat([x, x[:1]])  # two rows are equal
    return sum((F.pdist(x, p).square().sum() for p in (0.0, 1.0, 2.0, 3.0, float("inf"))), x.sum())


def bags(x: torch.Tensor) -> torch.Tensor:
    i, starts = torch.tensor([0, 2, 1, 1, 2]), torch.tensor([0, 2, 2])  # the second is empty
    sums = F.embedding_bag(i, x, starts, mode="sum", per_sample_weights=x.flatten()[:5])
    means = F.embedding_bag(i, x, starts, padding_idx=1)
    ends = torch.cat([starts, torch.tensor([5])])
    largest = F.embedding_bag(i, x, ends, mode="max", include_last_offset=True)
    chosen = F.embedding_bag((x > 0).long(), x)
    return sum(part.pow(3).sum() for part in (sums, means, largest, chosen))  # type: ignore[return-value]


def masked(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(3, 3).masked_scatter(x > 0, (2 * x).flatten())
    return (torch._weight_norm(y + x, x[:1], 1).pow(3) + torch.linalg.lu(x)[2]).sum()


def histograms(x: torch.Tensor) -> torch.Tensor:
    ends, edges = torch.linspace(-1, 1, 6), torch.histogram(x, 4)[1]
    counts = torch.histogram(x, 5, range=(-1.0, 0.5), weight=x.exp(), density=True)[0]
    between = torch.histogram(x, ends)[0] + torch.histogram(0 * x, 5)[0]
    occurrences = torch.bincount((x > 0).long().flatten(), x.flatten(), minlength=5)
    bins = torch.histc(x, 5) + torch.histc(x, 5, -1, 0.5) + torch.histc(0 * x, 5)
    return bins + counts + between + edges + occurrences


def aligned(x: torch.Tensor) -> torch.Tensor:
    log_probs = torch.stack([x, 2 * x.T], 1).log_softmax(-1)
    targets, lengths = torch.tensor([[1, 2], [2, 0]]), torch.tensor([[3, 2], [2, 1]])
    loss = lambda *args, **settings: F.ctc_loss(log_probs, *args, *lengths, **settings)  # noqa: E731
    in_a_row = targets.flatten()[:3]
    alone = F.ctc_loss(log_probs[:, 0], targets[0], *lengths[:, 0])
    each = loss(targets, reduction="none", zero_infinity=True)
    return loss(targets) + 2 * loss(in_a_row, reduction="sum") + each[1] + alone


def without_derivative(x: torch.Tensor) -> torch.Tensor:
    rows = F.layer_norm(x, (3,), x[0], x[1])[None, None]
    attention = F.scaled_dot_product_attention(rows, rows.flip(2), rows * 2, is_causal=True)[0]
    return F.group_norm(attention.mT, 3, x[0]) + F.bilinear(x, x, x.expand(3, 3, 3), x[0])


def _itself(function: Any) -> Any:
    return function


CASES: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "layers": lambda: (
        Gradients(
            nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.GELU(), nn.MaxPool2d(2),
            nn.ConvTranspose2d(3, 2, 2, stride=2), nn.GroupNorm(1, 2), nn.AvgPool2d(2),
        ).eval(), image(),
    ),
    "determinants": rows_of(lambda x: torch.linalg.det(x) + torch.linalg.slogdet(x)[1]),
    "choices": rows_of(chosen),
    "places": rows_of(places),
    "writes": rows_of(written),
    "products": rows_of(products),
    "pairs": rows_of(pairs),
    "combinations": rows_of(lambda x: torch.combinations(x[0]).prod(-1).square().sum()),
    "reflections": rows_of(
        lambda x: torch.ormqr(x, x[0], torch.linalg.householder_product(x, x[0])), _itself
    ),
    "reflected": rows_of(lambda x: torch.linalg.householder_product(x, x[0]).square().sum()),
    "bags": rows_of(bags),
    "masked": rows_of(masked),
    "histograms": rows_of(histograms, _itself),
    "alignments": rows_of(aligned),
    "alignments, no derivative": rows_of(aligned, _itself),
    "without a derivative": rows_of(without_derivative, _itself),
    "margins": rows_of(lambda x: F.multi_margin_loss(x.renorm(2, 1, 0.5), torch.arange(3)), _itself),
    "attention": rows_of(attended),
    "pooling": rows_of(
        lambda x: F.max_unpool1d(*F.max_pool1d(x[None], 2, return_indices=True), [2]).pow(3).sum()
        + F.adaptive_max_pool1d(F.pad(x[None], (1, 2), mode="replicate"), 2).pow(3).sum()
    ),
    "frames": rows_of(lambda x: F.instance_norm(x.unfold(0, 2, 1)).pow(3).sum() + x.quantile(0.3)),
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
@pytest.mark.filterwarnings("ignore:There is a performance drop")  # torch, of the module itself
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


@pytest.mark.parametrize("rows", [torch.tensor([[0, 1, 2]]), torch.tensor([[0, 1, 1], [2, 0, 2]])])
def test_mapped_tables_have_no_gradient_at_the_padding(rows: torch.Tensor) -> None:
    class Tables(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(matrices())

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return vmap(lambda table: F.embedding(rows, table, padding_idx=0))(self.weight)

    net = Tables()
    net(rows).square().sum().backward()
    assert net.weight.grad is not None
    graph = na.trace_graph(net, rows).to_backend("numpy")
    grads = na.grad(lambda v: na.sum(na.square(graph(rows.numpy(), v=v))))(graph.v)
    torch.testing.assert_close(torch.from_numpy(grads.weight), net.weight.grad)


def test_bags_in_a_forward_that_differentiates() -> None:
    class Slopes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return grad(bags)(x)

    x = matrices()[0]
    graph = na.trace_graph(Slopes(), x)
    torch.testing.assert_close(graph(x), grad(bags)(x))
    assert graph.to_backend("numpy").verify().ok


def test_bags_whose_gradient_is_divided_by_counts() -> None:
    i, starts = torch.tensor([2, 2, 2, 1, 0, 1]), torch.tensor([0, 2])

    def half_squares(x: torch.Tensor) -> torch.Tensor:
        sums = F.embedding_bag(i, x, starts, mode="sum", scale_grad_by_freq=True, padding_idx=0)
        return sums.square().sum() / 2

    graph = na.trace_graph(Of(half_squares, grad), matrices(), dynamic={"x": {0: "rows"}})
    x = torch.cat([matrices(), 2 * matrices()])
    first, second = 2 * x[:, 2], x[:, 2] + 2 * x[:, 1]  # the padding at 0 does not count
    expected = torch.stack([0 * first, second, (2 * first + second) / 3], 1)
    torch.testing.assert_close(graph(x), expected)
    found = na.to_backend(graph.to_backend("jax")(na.to_backend(x, "jax")), "torch")
    torch.testing.assert_close(found, expected)
