"""Adapters: the formulas of `peft`, for modules and graphs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close

X = np.random.default_rng(0).normal(size=(3, 6)).astype("float32")


def trained(adapters: na.Container) -> na.Container:
    """Adapters that are not zero."""
    rng = np.random.default_rng(1)
    return adapters.map(lambda x: x + rng.normal(size=x.shape).astype(x.dtype))


@pytest.mark.parametrize("method", [nn.LoRA, nn.DoRA])
def test_new_adapters_change_nothing(method: type[nn.LoRA], backend: str) -> None:
    v = nn.Linear(6, 4).init(na.random.key(0, backend=backend)).v
    method = method("**", rank=2)
    adapters = method.init(v, na.random.key(1, backend=backend))
    assert_close(method.merge(v, adapters), v)
    drawn = nn.LoRA("**", rank=2).init(v.to_backend("numpy"), na.random.key(1))
    assert_close(na.to_backend(adapters["weight/lora_A"], "numpy"), drawn["weight/lora_A"])
    assert abs(drawn["weight/lora_A"]).max() <= 6**-0.5


@pytest.mark.parametrize("is_rank_stabilized", [False, True])
def test_the_product_is_a_branch_of_the_layer(is_rank_stabilized: bool) -> None:
    net = nn.Linear(6, 4).init(na.random.key(0))
    lora = nn.LoRA("weight", rank=2, alpha=3, use_rslora=is_rank_stabilized)
    a = trained(lora.init(net.v, na.random.key(1)))
    scale = 3 / (math.sqrt(2) if is_rank_stabilized else 2)
    branch = X @ a["weight/lora_A"].T @ a["weight/lora_B"].T
    assert_close(net(X, v=lora.merge(net.v, a)), net(X) + np.float32(scale) * branch)


def test_magnitudes_and_their_gradients() -> None:
    weight = torch.randn(4, 6, dtype=torch.float64)
    dora = nn.DoRA("w", rank=2)
    v = na.Container(w=weight)
    a = dora.init(v, na.random.key(1, backend="torch"))
    a = a.map(lambda x: (x + torch.rand(x.shape, dtype=x.dtype)).requires_grad_())

    def loss(a: na.Container) -> torch.Tensor:
        return dora.merge(v, a)["w"].square().sum()

    direction = weight + a["w/lora_B"] @ a["w/lora_A"]
    norm = direction.norm(dim=1, keepdim=True).detach()
    merged = a["w/magnitude"][:, None] * direction / norm
    assert_close(dora.merge(v, a)["w"], merged)
    expected = torch.autograd.grad(merged.square().sum(), a.leaves())
    assert_close(na.grad(loss)(a.map(torch.detach)).leaves(), list(expected))


def test_convolutions_and_kernels_of_flax() -> None:
    conv = na.Container(w=np.random.default_rng(0).normal(size=(4, 3, 2, 2)))
    lora = nn.LoRA("w", rank=2)
    a = trained(lora.init(conv, na.random.key(0)))
    first = torch.from_numpy(a["w/lora_A"].reshape(2, 3, 2, 2))
    second = torch.from_numpy(a["w/lora_B"].reshape(4, 2, 1, 1))
    x = torch.randn(1, 3, 5, 5, dtype=torch.float64)
    branch = torch.conv2d(torch.conv2d(x, first), second)
    merged = torch.from_numpy(lora.merge(conv, a)["w"] - conv["w"])
    assert_close(torch.conv2d(x, merged), branch)
    for method in (nn.LoRA, nn.DoRA):
        flipped = conv.map(lambda x: np.moveaxis(x, 0, -1))
        first, last = method("w", rank=2), method("w", rank=2, output_axis=-1)
        a = trained(first.init(conv, na.random.key(0)))
        expected = np.moveaxis(first.merge(conv, a)["w"], 0, -1)
        assert_close(last.merge(flipped, a)["w"], expected)


def test_a_graph_of_torch_learns_in_jax() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    graph = na.trace_graph(net, torch.from_numpy(X)).to_backend("jax")
    x, lora = na.to_backend(X, "jax"), nn.LoRA("0", rank=1)
    a = lora.init(graph.v, na.random.key(0, backend="jax"))
    assert a.paths() == ("0/weight/lora_A", "0/weight/lora_B")

    @na.jit
    def step(a: na.Container) -> tuple[object, na.Container]:
        loss, grads = na.value_and_grad(
            lambda a: na.mean(na.square(graph(x, v=lora.merge(graph.v, a)) - 1.0))
        )(a)
        return loss, a - 0.3 * grads

    losses = []
    for _ in range(20):
        loss, a = step(a)
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]


def test_errors() -> None:
    v = nn.Linear(6, 4).init(na.random.key(0)).v
    with pytest.raises(ArgumentError, match=r"patterns: got \('bias',\), expected the path of a"):
        nn.LoRA("bias").init(v, na.random.key(0))
    with pytest.raises(ArgumentError, match="DoRA: rank: got 0, expected a positive number"):
        nn.DoRA("**", rank=0)
    with pytest.raises(ArgumentError, match="LoRA: got no pattern"):
        nn.LoRA(rank=2)
