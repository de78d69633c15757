"""A network of PyTorch, fine-tuned in mixed precision elsewhere: frozen layers, schedule, clipping,
averaged weights, a checkpoint that resumes bit for bit, and back to PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from tests.arrays import on

STEPS = 6


class Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.up, self.down = nn.Linear(channels, 2 * channels), nn.Linear(2 * channels, channels)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.dropout(self.down(nn.functional.gelu(self.up(self.norm(x)))))


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(12, 8)
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.head = nn.Linear(8, 3)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.embedding(tokens)).mean(1))


def batch(i: int, backend: str) -> tuple[Any, Any]:
    """Tokens, and their sum modulo 3."""
    tokens = np.random.default_rng(i).integers(0, 12, (16, 4))
    return on(backend, tokens), on(backend, tokens.sum(1) % 3)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_fine_tuning(backend: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = Network().train()
    example = torch.zeros(16, 4, dtype=torch.int64)
    graph = na.trace_graph(network, example, train=True).to_backend(backend)
    mixed = graph.cast(compute="bfloat16", params="float32", outputs="float32", keep="**/norm*")

    schedule = na.nn.schedules.warmup(na.nn.schedules.cosine(3e-3, steps=STEPS), steps=2)
    optimizer = na.nn.AdamW(schedule, decay="**/weight")
    trainable = ("blocks/**", "head/**")

    @na.jit
    def step(state: Any, tokens: Any, labels: Any, key: Any) -> tuple[Any, Any]:
        def loss(v: Any) -> Any:
            logits, _ = mixed(tokens, v=v, key=key)
            return na.cross_entropy(logits, labels)

        value, grads = na.execute_with_gradients(loss, state.v, wrt=trainable)
        part, optimizer_state = optimizer.step(
            state.v.select(*trainable), grads.global_clip(1.0), state.optimizer
        )
        v = state.v.update(part)
        smoothed = state.smoothed.ema(v, 0.9)
        return na.Container(v=v, optimizer=optimizer_state, smoothed=smoothed), value

    def train(state: Any, first: int, last: int) -> tuple[Any, list[float]]:
        losses = []
        for i in range(first, last):
            key = na.random.fold_in(na.random.key(7, backend=backend), i)
            state, value = step(state, *batch(i, backend), key)
            losses.append(float(value))
        return state, losses

    start = na.Container(
        v=graph.v, optimizer=optimizer.init(graph.v.select(*trainable)), smoothed=graph.v
    )
    half, losses = train(start, 0, STEPS // 2)
    half.save(tmp_path / "half.safetensors")
    whole, rest = train(half, STEPS // 2, STEPS)

    again = na.Container.load(tmp_path / "half.safetensors", backend=backend)
    resumed, repeated = train(again, STEPS // 2, STEPS)
    assert repeated == rest
    assert not resumed.diff(whole)  # bit for bit
    assert np.isfinite([*losses, *rest]).all()
    assert {str(na.dtype_of(leaf)) for leaf in whole.v.leaves()} == {"float32"}
    assert not whole.v.select("embedding").diff(graph.v.select("embedding"))  # frozen
    assert whole.v.select("head").diff(graph.v.select("head"))

    network.load_state_dict(graph.to_torch_state_dict(whole.smoothed))
    network.eval()
    tokens, _ = batch(99, "torch")
    served = na.trace_graph(network, tokens).to_backend(backend)
    with torch.no_grad():
        np.testing.assert_allclose(
            na.to_backend(served(on(backend, tokens.numpy())), "numpy"), network(tokens), atol=1e-5
        )
