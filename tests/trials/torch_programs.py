"""Modules in the style of PyTorch packages: state, views, checks, indices, open sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class Trial(NamedTuple):
    """A module, its inputs, and the axes of the inputs that are open."""

    build: Callable[[], nn.Module]
    inputs: Callable[[], tuple[torch.Tensor, ...]]
    dynamic: dict[str, Any] | None = None


TRIALS: dict[str, Trial] = {}


def trial(*shapes: Any, dynamic: dict[str, Any] | None = None) -> Callable[[type], type]:
    """Register a module; a shape is a tuple, or a tensor."""

    def register(module: type) -> type:
        def inputs() -> tuple[torch.Tensor, ...]:
            torch.manual_seed(1)
            return tuple([torch.randn(*s) if isinstance(s, tuple) else s.clone() for s in shapes])

        def build() -> nn.Module:
            torch.manual_seed(0)
            return module().eval()

        TRIALS[module.__name__] = Trial(build, inputs, dynamic)
        return module

    return register


# -- state ----------------------------------------------------------------------------------------


@trial((2, 5))
class LeakyNeuron(nn.Module):
    """The membrane is an empty buffer, which the first call replaces."""

    def __init__(self) -> None:
        super().__init__()
        self.beta = nn.Parameter(torch.tensor(0.9))
        self.register_buffer("membrane", torch.zeros(0), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.membrane = torch.zeros_like(x)
        self.membrane = self.beta * self.membrane + x
        return torch.sigmoid(self.membrane - 1.0)


@trial((3, 4, 6))
class LazyPositions(nn.Module):
    """A table of positions that is made for the length of the first input."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.empty(0), persistent=False)
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.table.size(0) < x.size(1):
            position = torch.arange(x.size(1)).float()[:, None]
            rate = torch.exp(torch.arange(0, 6, 2).float() * (-math.log(100.0) / 6))
            self.table = torch.cat([torch.sin(position * rate), torch.cos(position * rate)], -1)
        return x * self.scale + self.table[: x.size(1)]


@trial((4, 3))
class RunningRange(nn.Module):
    """Extrema that each call widens in place."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("low", torch.full((3,), 0.5))
        self.register_buffer("high", torch.full((3,), -0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.low.copy_(torch.minimum(self.low, x.detach().amin(0)))
        self.high.copy_(torch.maximum(self.high, x.detach().amax(0)))
        return (x - self.low) / (self.high - self.low + 1e-3)


@trial((2, 4))
class RingBuffer(nn.Module):
    """A queue of the last inputs, with a pointer that counts calls."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("queue", torch.zeros(6, 4))
        self.register_buffer("pointer", torch.zeros(1, dtype=torch.long))
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        index = (self.pointer + torch.arange(x.shape[0])) % 6
        queue = self.queue.index_copy(0, index, x.detach())
        self.queue.copy_(queue)
        self.pointer.add_(x.shape[0]).remainder_(6)
        return self.fc(x) @ queue.T


@trial((3, 4))
class WeightStandardized(nn.Module):
    """A weight that the forward pass normalizes, and a spectral vector that it updates."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 4))
        self.register_buffer("u", F.normalize(torch.randn(5), dim=0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            v = F.normalize(self.weight.T @ self.u, dim=0)
            self.u.copy_(F.normalize(self.weight @ v, dim=0))
        sigma = self.u.clone() @ self.weight @ v
        return F.linear(x, self.weight / sigma)


# -- checks ---------------------------------------------------------------------------------------


@trial((2, 8))
class PaddedAudio(nn.Module):
    """An assertion about values, which only checks."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        padded = F.pad(x, (2, 3))
        out = padded[..., 2 : 2 + x.shape[-1]]
        assert out.shape == x.shape
        assert (out == x).all()
        return padded.unfold(-1, 4, 2).mean(-1)


@trial((3, 3))
class GuardedInverse(nn.Module):
    """An error for a singular matrix."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = x @ x.T + torch.eye(3)
        if torch.linalg.det(a) <= 0:
            raise ValueError("the matrix is singular")
        return torch.linalg.solve(a, x)


@trial((2, 5))
class CheckedProbabilities(nn.Module):
    """Messages that name values."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        p = x.softmax(-1)
        if not torch.isfinite(p).all():
            raise RuntimeError(f"not finite: {p.sum().item()}")
        torch._assert(p.shape[-1] == 5, "five classes")
        return -(p * p.clamp_min(1e-6).log()).sum(-1)


# -- views and writes -----------------------------------------------------------------------------


@trial((4, 6))
class WritesThroughViews(nn.Module):
    """Writes into views of one array, in several shapes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2.0
        even = y[:, ::2]
        even += 1.0
        y.view(2, 12)[0].mul_(3.0)
        diagonal = y[:, :4].diagonal()
        diagonal.zero_()
        y.T[1].add_(x[:, 0])
        return y


@trial((5,))
class RepeatedWrites(nn.Module):
    """Writes at repeated positions: the last counts, sums add."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        index = torch.tensor([0, 0, 1])
        y = x.clone()
        y = y.index_add(0, index, x[:3] * 2)
        y = y.scatter_reduce(0, index, x[1:4], "amax")
        return y.index_put((torch.tensor([4, 4]),), x[:2], accumulate=True).sum() * x


@trial((2, 3, 4))
class ChunkedGates(nn.Module):
    """Gates from chunks of one projection, written into a result."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 9)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = x.new_zeros(2, 3, 3)
        for t, row in enumerate(self.fc(x).unbind(1)):
            a, b, c = row.chunk(3, -1)
            out[:, t] = torch.sigmoid(a) * torch.tanh(b) + c.relu()
        return out


@trial((3, 7))
class MaskedSelect(nn.Module):
    """A masked write and masked reductions."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = x > 0
        y = x.masked_fill(~mask, 0.0)
        y[mask] = y[mask].sqrt()
        return y.sum(1) / mask.sum(1).clamp(min=1)


@trial((2, 6, 6))
class StridedWindows(nn.Module):
    """Windows by as_strided, and a roll."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        windows = x.as_strided((2, 3, 3, 2, 2), (36, 12, 2, 6, 1))
        rolled = torch.roll(x, (1, -2), (1, 2))
        return windows.amax((-1, -2)) + rolled[:, ::2, ::2]


# -- indices and sorts ----------------------------------------------------------------------------


@trial((4, 10))
class TopKRouter(nn.Module):
    """A router with capacities: the two best experts of each row."""

    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.Parameter(torch.randn(5, 10, 3) * 0.3)
        self.gate = nn.Linear(10, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores, chosen = self.gate(x).softmax(-1).topk(2, -1)
        scores = scores / scores.sum(-1, keepdim=True)
        outputs = torch.einsum("bi,beio->beo", x, self.experts[chosen])
        return (scores[..., None] * outputs).sum(1)


@trial((3, 5, 2), torch.tensor([5, 2, 3]))
class PackedMean(nn.Module):
    """Means over lengths, and the last step of each row."""

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        steps = torch.arange(x.shape[1])
        mask = (steps < lengths[:, None]).to(x.dtype)[..., None]
        mean = (x * mask).sum(1) / lengths[:, None]
        last = x[torch.arange(len(x)), lengths - 1]
        gathered = x.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, 2)).squeeze(1)
        return mean + last * gathered


@trial((6, 3), torch.tensor([0, 2, 2, 1, 0, 2]))
class SegmentAttention(nn.Module):
    """A softmax within groups of nodes, as graph networks take it."""

    def forward(self, x: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
        index = group[:, None].expand(-1, 3)
        top = torch.full((3, 3), float("-inf")).scatter_reduce(0, index, x.detach(), "amax")
        weights = (x - top[group]).exp()
        total = torch.zeros(3, 3).index_add(0, group, weights)
        return weights / total[group]


@trial((2, 9))
class SortedGaps(nn.Module):
    """Order statistics: gaps, ranks and a median."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values, order = x.sort(-1, descending=True)
        ranks = order.argsort(-1)
        gaps = values.diff(dim=-1)
        return gaps.cumsum(-1)[:, :3] * x.median(-1, keepdim=True).values + ranks[:, :3]


# -- control --------------------------------------------------------------------------------------


@trial((3, 4))
class UnrolledSolver(nn.Module):
    """Newton steps in a Python loop, with a break at a fixed number."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.ones_like(x)
        for step in range(10):
            if step == 4:
                break
            y = y - (y * y - x.abs() - 0.1) / (2 * y)
        return y


@trial((2, 3, 8, 8))
class OptionalBranches(nn.Module):
    """Settings that choose the branches; a dict of modules; a stochastic depth that is off."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.ModuleDict({"stem": nn.Conv2d(3, 4, 3, 2, 1), "body": nn.Conv2d(4, 4, 1)})
        self.skip: nn.Module | None = None
        self.drop = 0.2

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        features = {}
        for name, stage in self.stages.items():
            y = stage(x)
            if self.training and self.drop:
                y = y * (torch.rand(len(y), 1, 1, 1) > self.drop)
            x = y if self.skip is None else y + self.skip(x)
            features[name] = F.adaptive_avg_pool2d(x, 2)
        return features


@trial((2, 4), dynamic=None)
class CustomFunction(nn.Module):
    """A clamp whose derivative passes through."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + (x.clamp(-0.5, 0.5) - x).detach()


# -- open sizes -----------------------------------------------------------------------------------


@trial((3, 8), dynamic={"x": {0: "batch"}})
class OpenChunks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(8, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b, c = self.fc(x).chunk(3, -1)
        first, second = torch.split(a * b.sigmoid() + c, [1, 3], -1)
        return torch.cat([second, first], -1)


@trial((2, 6, 4), dynamic={"x": {0: "batch", 1: "length"}})
class OpenRelativeBias(nn.Module):
    """A bias by distance, made for the length of the input."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Embedding(7, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[1]
        distance = (torch.arange(n)[None] - torch.arange(n)[:, None]).clamp(-3, 3) + 3
        scores = x @ x.transpose(1, 2) / math.sqrt(x.shape[-1]) + self.bias(distance).squeeze(-1)
        causal = torch.ones(n, n, dtype=torch.bool).tril()
        return scores.masked_fill(~causal, float("-inf")).softmax(-1) @ x


@trial((2, 5, 3), dynamic={"x": {0: "batch", 1: "length"}})
class OpenTokens(nn.Module):
    """A class token for each example, and positions up to the length."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 3))
        self.position = nn.Parameter(torch.randn(1, 16, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.token.repeat(x.shape[0], 1, 1), x], 1)
        return (x + self.position[:, : x.shape[1]])[:, 0]


@trial((1, 2, 6, 8), dynamic={"x": {2: "height", 3: "width"}})
class OpenUpsampling(nn.Module):
    """Twice the size of the input, padded to it again."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        half = F.avg_pool2d(x, 2)
        up = F.interpolate(half, scale_factor=2.0, mode="nearest")
        pad = (0, x.shape[3] - up.shape[3], 0, x.shape[2] - up.shape[2])
        return F.pad(up, pad) + x


@trial((2, 9), dynamic={"x": {1: "length"}})
class OpenThirds(nn.Module):
    """A fraction of the length, rounded."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, : x.shape[1] // 3].sum(1) + x[:, -math.ceil(x.shape[1] / 2) :].mean(1)
