"""A denoiser of PyTorch in another framework: a sampler, gradients of each example, curvature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import nestarray as na
from tests.arrays import on

STEPS = 8


class Denoiser(nn.Module):
    """The noise in `x` at a time in [0, 1]."""

    def __init__(self, channels: int = 8) -> None:
        super().__init__()
        self.register_buffer("frequencies", torch.exp(torch.arange(4.0)))
        self.time = nn.Linear(8, channels)
        self.first = nn.Conv2d(1, channels, 3, padding=1)
        self.norm = nn.GroupNorm(2, channels)
        self.attention = nn.MultiheadAttention(channels, 2, batch_first=True)
        self.last = nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        phases = time[:, None] * self.frequencies
        embedding = self.time(torch.cat([phases.sin(), phases.cos()], dim=1))
        hidden = nn.functional.silu(self.norm(self.first(x)) + embedding[:, :, None, None])
        batch, channels, height, width = hidden.shape
        tokens = hidden.flatten(2).transpose(1, 2)
        tokens = tokens + self.attention(tokens, tokens, tokens, need_weights=False)[0]
        return self.last(tokens.transpose(1, 2).reshape(batch, channels, height, width))


def sampled_by_torch(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """A deterministic sampler (DDIM) with the noise level cos(πt/2)."""
    for i in range(STEPS):
        now, after = 1.0 - i / STEPS, 1.0 - (i + 1) / STEPS
        noise = model(x, torch.full((len(x),), now))
        clean = (x - math.sin(0.5 * math.pi * now) * noise) / max(
            math.cos(0.5 * math.pi * now), 0.1
        )
        x = math.cos(0.5 * math.pi * after) * clean + math.sin(0.5 * math.pi * after) * noise
    return x


def sampled(graph: Any, v: Any, x: Any) -> Any:
    """The same sampler over `na`, one loop."""

    def step(i: Any, x: Any) -> Any:
        now = 1.0 - na.astype(i, na.float32) / STEPS
        after = now - 1.0 / STEPS
        noise = graph(x, na.ones(x.shape[0], dtype=x.dtype, like=x) * now, v=v)
        scale = na.maximum(na.cos(0.5 * math.pi * now), 0.1)
        clean = (x - na.sin(0.5 * math.pi * now) * noise) / scale
        return na.cos(0.5 * math.pi * after) * clean + na.sin(0.5 * math.pi * after) * noise

    return na.fori_loop(0, STEPS, step, x)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_sampler_and_derivatives(backend: str) -> None:
    torch.manual_seed(0)
    model = Denoiser().eval()
    start = torch.randn(3, 1, 6, 6)
    graph = na.trace_graph(
        model, start[:1], torch.ones(1), dynamic={"x": {0: "batch"}, "time": {0: "batch"}}
    ).to_backend(backend)
    x = on(backend, start.numpy())
    with torch.no_grad():
        expected = sampled_by_torch(model, start)
    result = na.jit(lambda v, x: sampled(graph, v, x))(graph.v, x)
    np.testing.assert_allclose(na.to_backend(result, "numpy"), expected, rtol=2e-3, atol=2e-4)

    def loss(v: Any, x: Any) -> Any:
        """Of one example: the batch is one."""
        time = na.ones(1, dtype=x.dtype, like=x) * 0.5
        return na.mean((graph(x[None], time, v=v) - x[None]) ** 2)

    each = na.jit(na.vmap(na.grad(loss), in_axes=(None, 0)))(graph.v, x)
    for i in range(3):
        model.zero_grad()
        ((model(start[i : i + 1], torch.full((1,), 0.5)) - start[i : i + 1]) ** 2).mean().backward()
        for path, leaf in each.flat_items():
            gradient = model.get_parameter(path.replace("/", ".")).grad
            np.testing.assert_allclose(
                na.to_backend(leaf, "numpy")[i], gradient, rtol=2e-3, atol=2e-5, err_msg=path
            )

    direction = graph.v.map(na.ones_like)
    curvature = na.hvp(lambda v: loss(v, x[0]), [graph.v], [direction])
    parameters = dict(model.named_parameters())

    def torch_loss(p: dict[str, torch.Tensor]) -> torch.Tensor:
        inputs = (start[:1], torch.full((1,), 0.5))
        return ((torch.func.functional_call(model, p, inputs) - start[:1]) ** 2).mean()

    with sdpa_kernel(SDPBackend.MATH):  # the others have no second derivatives
        tangents = {name: torch.ones_like(p) for name, p in parameters.items()}
        product = torch.func.jvp(torch.func.grad(torch_loss), (parameters,), (tangents,))[1]
    for path, leaf in curvature.flat_items():
        expected = product[path.replace("/", ".")].detach()
        scale = float(expected.abs().max()) + 1e-3
        np.testing.assert_allclose(
            na.to_backend(leaf, "numpy") / scale, expected / scale, atol=2e-3, err_msg=path
        )
