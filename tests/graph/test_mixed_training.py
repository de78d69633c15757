"""Training in bfloat16 by `Graph.cast`: the loss curve of ``torch.autocast``, within its noise.

The noise is measured in the same run: the distance of curves of ``torch.autocast`` that see the same
batches in other orders, the mean over steps of the range of three. The converted model sees the
batches of the first; its curve has to be closer to that one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import nestarray as na

STEPS, RATE, ORDERS = 30, 3e-3, 3


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.norm1, self.norm2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x: Any) -> Any:
        y = torch.relu(self.norm1(self.first(x)))
        return torch.relu(x + self.norm2(self.second(y)))


class ResNet(nn.Module):
    """Images and labels → the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.blocks, self.head = nn.Sequential(Block(16), Block(16)), nn.Linear(16, 5)

    def forward(self, x: Any, labels: Any) -> Any:
        x = self.blocks(torch.relu(self.stem(x))).mean((2, 3))
        return F.cross_entropy(self.head(x), labels)

    @staticmethod
    def batches() -> list[tuple[Any, Any]]:
        rng = np.random.default_rng(0)
        labels = rng.integers(0, 5, (STEPS, 16))
        centers = rng.normal(size=(5, 3, 1, 1))
        images = centers[labels] + rng.normal(size=(STEPS, 16, 3, 8, 8))
        return [
            (torch.tensor(x).float(), torch.tensor(y)) for x, y in zip(images, labels, strict=True)
        ]


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Any) -> Any:
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, 2, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Tokens and the tokens that follow → the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(12, 32), nn.Embedding(16, 32)
        self.layers = nn.Sequential(Layer(32), Layer(32))
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 12)

    def forward(self, ids: Any, labels: Any) -> Any:
        x = self.tokens(ids) + self.places.weight
        return F.cross_entropy(self.head(self.norm(self.layers(x))).flatten(0, 1), labels.flatten())

    @staticmethod
    def batches() -> list[tuple[Any, Any]]:
        """Each token is three more than the one before, modulo 12, with noise."""
        rng = np.random.default_rng(0)
        ids = rng.integers(0, 12, (STEPS, 16, 17))
        for i in range(1, 17):
            is_next = rng.random((STEPS, 16)) < 0.9
            ids[..., i] = np.where(is_next, (ids[..., i - 1] + 3) % 12, ids[..., i])
        return [(torch.tensor(each[:, :-1]), torch.tensor(each[:, 1:])) for each in ids]


def _net(kind: Any) -> Any:
    torch.manual_seed(0)
    return kind().train()


def _curve_of_torch(kind: Any, order: int, *, autocast: bool) -> np.ndarray:
    net = _net(kind)
    optimizer = torch.optim.Adam(net.parameters(), RATE)
    batches, losses = kind.batches(), []
    for i in np.random.default_rng(order).permutation(STEPS):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            loss = net(*batches[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def _curve_of_graph(kind: Any, backend: str) -> np.ndarray:
    batches = kind.batches()
    graph = na.trace_graph(_net(kind), *batches[0], train=True)
    graph = graph.cast(compute="bfloat16", keep="**/norm*").to_backend(backend)
    optimizer = na.nn.Adam(RATE)

    @na.jit
    def step(v: Any, s: Any, state: Any, *batch: Any) -> Any:
        (loss, s), grads = na.value_and_grad(lambda v: graph(*batch, v=v, s=s), has_aux=True)(v)
        v, state = optimizer.step(v, grads, state)
        return loss, v, s, state

    v, s, losses = graph.v, graph.s, []
    state = optimizer.init(v)
    for i in np.random.default_rng(0).permutation(STEPS):
        batch = [na.to_backend(x, backend) for x in batches[i]]
        loss, v, s, state = step(v, s, state, *batch)
        losses.append(float(loss))
    assert {na.dtype_of(x) for x in v.leaves()} == {na.float32}
    return np.array(losses)


@pytest.mark.full
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
@pytest.mark.parametrize("kind", [ResNet, GPT])
def test_loss_curves_are_those_of_autocast(kind: Any, backend: str) -> None:
    curves = np.array([_curve_of_torch(kind, order, autocast=True) for order in range(ORDERS)])
    noise = (curves.max(0) - curves.min(0)).mean()
    ours = _curve_of_graph(kind, backend)
    distance = np.abs(ours - curves[0]).mean()
    rounding = np.abs(_curve_of_torch(kind, 0, autocast=False) - curves[0]).mean()
    print(
        f"{kind.__name__} on {backend}: loss {curves[0][0]:.3f} to {curves[0][-3:].mean():.3f}, "
        f"distance {distance:.4f}, of torch's float32 {rounding:.4f}, noise {noise:.4f}"
    )
    assert distance < noise
    assert ours[-3:].mean() < 0.9 * ours[0]
