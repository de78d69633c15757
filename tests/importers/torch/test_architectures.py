"""Networks as people write them in training scripts: recursions, routing, sampling, dynamic programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import nestarray as na
from tests.graph.agreement import assert_agrees


class Transducer(nn.Module):
    """Two encoders, and the loss of all alignments by its recursion."""

    def __init__(self) -> None:
        super().__init__()
        self.audio = nn.GRU(4, 8, batch_first=True)
        self.embed = nn.Embedding(5, 6, padding_idx=0)
        self.text = nn.LSTM(6, 8, batch_first=True)
        self.joint = nn.Linear(8, 5)

    def forward(self, x, labels, steps, lengths):
        sounds, words = self.audio(x)[0], self.text(F.pad(self.embed(labels), (0, 0, 1, 0)))[0]
        scores = self.joint(torch.tanh(sounds[:, :, None] + words[:, None])).log_softmax(-1)
        blank = scores[..., 0]
        places = labels[:, None, :, None].expand(-1, x.shape[1], -1, 1)
        emit = scores[:, :, :-1].gather(3, places).squeeze(3)
        row = F.pad(emit[:, 0].cumsum(1), (1, 0))
        rows = [row]
        for t in range(1, x.shape[1]):
            above = row + blank[:, t - 1]
            cells = [above[:, 0]]
            for u in range(1, labels.shape[1] + 1):
                cells.append(torch.logaddexp(above[:, u], cells[-1] + emit[:, t, u - 1]))
            row = torch.stack(cells, 1)
            rows.append(row)
        each = torch.arange(x.shape[0])
        return -(torch.stack(rows, 1)[each, steps - 1, lengths] + blank[each, steps - 1, lengths])


class Routed(nn.Module):
    """Two experts for each row, of which each takes three rows at most."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(6, 4, bias=False)
        self.up = nn.Parameter(torch.randn(4, 6, 8) * 0.3)
        self.down = nn.Parameter(torch.randn(4, 8, 6) * 0.3)

    def forward(self, x):
        count = x.shape[0]
        shares, experts = self.gate(x).softmax(-1).topk(2, -1)
        chosen = F.one_hot(experts, 4).transpose(0, 1).reshape(2 * count, 4)
        places = (chosen.cumsum(0) - 1) * chosen
        fits = ((places < 3) & (chosen > 0)).any(-1, keepdim=True)
        at = experts.T.reshape(-1), places.sum(-1).clamp(max=2)
        taken = torch.zeros(4, 3, 6).index_put(at, x.repeat(2, 1) * fits, accumulate=True)
        given = torch.bmm(F.gelu(torch.bmm(taken, self.up)), self.down)[at]
        return (given * shares.T.reshape(-1, 1) * fits).view(2, count, 6).sum(0)


class Tagged(nn.Module):
    """A conditional random field: its loss, and the best path."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(3, 4)
        self.moves = nn.Parameter(torch.randn(4, 4))

    def forward(self, x, labels, mask):
        scores = self.score(x)
        total = best = scores[:, 0]
        given = scores[:, 0].gather(1, labels[:, :1]).squeeze(1)
        back = []
        for t in range(1, x.shape[1]):
            step = self.moves + scores[:, t, None]
            total = torch.where(mask[:, t, None], (total[:, :, None] + step).logsumexp(1), total)
            moved = step[torch.arange(x.shape[0]), labels[:, t - 1], labels[:, t]]
            given = given + moved * mask[:, t]
            best, origin = (best[:, :, None] + step).max(1)
            back.append(origin)
        path = [best.argmax(-1)]
        for origin in reversed(back):
            path.append(origin.gather(1, path[-1][:, None]).squeeze(1))
        return (total.logsumexp(-1) - given).mean(), torch.stack(path[::-1], 1)


class Deformed(nn.Module):
    """Bilinear reads at places that the image itself decides, and an affine map of it."""

    def __init__(self) -> None:
        super().__init__()
        self.offsets = nn.Conv2d(2, 2, 3, padding=1)
        self.pose = nn.Linear(60, 6)

    def forward(self, x):
        rows, height, width = x.shape[0], x.shape[2], x.shape[3]
        grid = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        places = torch.stack(grid) + self.offsets(x)
        y, z = places[:, 0].clamp(0, height - 1.01), places[:, 1].clamp(0, width - 1.01)
        top, left = y.floor().long(), z.floor().long()
        read = 0
        for dy, dz in ((0, 0), (0, 1), (1, 0), (1, 1)):
            at = ((top + dy) * width + left + dz).flatten(1)[:, None].expand(-1, 2, -1)
            weight = (1 - (y - top - dy).abs()) * (1 - (z - left - dz).abs())
            read = read + x.flatten(2).gather(2, at).view_as(x) * weight[:, None]
        pose = self.pose(x.flatten(1)).view(rows, 2, 3)
        lines = F.affine_grid(pose, list(x.shape), align_corners=False)
        return read, F.grid_sample(x, lines, padding_mode="border", align_corners=False)


Example = Callable[[int], tuple[torch.Tensor, ...]]

NETWORKS: dict[str, tuple[Callable[[], nn.Module], Example, tuple[str, ...]]] = {
    "transducer": (
        Transducer,
        lambda n: (torch.randn(n, 4, 4), torch.randint(1, 5, (n, 3)),
                   torch.tensor([4, 3, 2, 4])[:n], torch.tensor([3, 2, 1, 3])[:n]),
        ("x", "labels", "steps", "lengths"),
    ),
    "routing with capacity": (Routed, lambda n: (torch.randn(n + 4, 6),), ("x",)),
    "conditional random field": (
        Tagged,
        lambda n: (torch.randn(n, 4, 3), torch.randint(0, 4, (n, 4)), torch.rand(n, 4) > 0.3),
        ("x", "labels", "mask"),
    ),
    "deformable reads": (Deformed, lambda n: (torch.randn(n, 2, 5, 6),), ("x",)),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_at_several_sizes(name: str) -> None:
    torch.manual_seed(0)
    make, example, names = NETWORKS[name]
    net = make()
    args: Any = example(2)
    graph = na.trace_graph(net, *args, dynamic={n: {0: "rows"} for n in names})
    for count in (2, 3, 4):
        torch.manual_seed(count)
        backends = ("numpy", "jax", "tensorflow") if count == 3 else ("numpy",)
        assert_agrees(net, *example(count), graph=graph, backends=backends)
