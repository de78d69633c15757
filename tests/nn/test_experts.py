"""Mixtures of experts: equal to Mixtral, and to a loop over tokens."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from transformers.models.mixtral.modeling_mixtral import (
    MixtralSparseMoeBlock,
    load_balancing_loss_func,
)

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close

X = np.random.default_rng(0).normal(size=(2, 5, 6)).astype("float32")


def test_the_block_of_mixtral(backend: str) -> None:
    config = transformers.MixtralConfig(
        hidden_size=6, intermediate_size=4, num_local_experts=4, num_experts_per_tok=2
    )
    twin = MixtralSparseMoeBlock(config)
    torch.manual_seed(0)
    for parameter in twin.parameters():
        torch.nn.init.normal_(parameter, 0.0, 0.4)
    gate, up = na.split(twin.experts.gate_up_proj.detach(), 4, axis=1)
    weights = {"gate_proj": gate, "up_proj": up, "down_proj": twin.experts.down_proj.detach()}
    v = na.Container(
        experts={name: {"weight": x} for name, x in weights.items()},
        gate={"weight": twin.gate.weight.detach()},
    )
    layer = nn.MixtureOfExperts(6, nn.GatedMLP(6, 4), 4).with_variables(v).to_backend(backend)
    out, s = layer(na.to_backend(X, backend), train=True)
    with torch.no_grad():
        expected = twin(torch.from_numpy(X))
        logits = torch.from_numpy(X.reshape(-1, 6)) @ twin.gate.weight.T
    assert_close(na.to_backend(out, "numpy"), expected.numpy())
    balance = load_balancing_loss_func((logits,), 4, 2).numpy()
    assert_close(na.to_backend(s["load_balance_loss"], "numpy"), balance)
    z = torch.logsumexp(logits, -1).square().mean().numpy()
    assert_close(na.to_backend(s["router_z_loss"], "numpy"), z)


@pytest.mark.parametrize(("top_k", "factor"), [(1, 0.6), (2, 0.5), (2, 2.0)])
def test_a_loop_over_tokens(top_k: int, factor: float, backend: str) -> None:
    layer = nn.MixtureOfExperts(6, nn.Linear(6, 6), 3, top_k, factor, normalize=False)
    layer = layer.init(na.random.key(0))
    rows, v = X.reshape(-1, 6), layer.v
    powers = np.exp(rows @ v["gate/weight"].T)
    probabilities = powers / powers.sum(1, keepdims=True)
    capacity, used = math.ceil(factor * top_k * 10 / 3), [0] * 3
    expected = np.zeros_like(rows)
    for choice in range(top_k):
        for i, row in enumerate(rows):
            expert = np.argsort(-probabilities[i])[choice]
            if used[expert] < capacity:
                used[expert] += 1
                out = v["experts/weight"][expert] @ row + v["experts/bias"][expert]
                expected[i] += probabilities[i, expert] * out
    assert (max(used) == capacity) == (factor < 2)
    out = layer.to_backend(backend)(na.to_backend(X, backend))
    assert_close(na.to_backend(out, "numpy").reshape(-1, 6), expected)


def test_losses_pass_through_a_stack_of_layers() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            self.mlp = nn.MixtureOfExperts(6, nn.Linear(6, 6), 3)

        def forward(self, x: Any, mask: Any, *, positions: Any, cache: Any) -> Any:
            return self.mlp(x)

    net = nn.CausalTransformer(Block(), 2).init(na.random.key(0, backend="torch"))

    def balance(v: Any) -> Any:
        _, s = net(torch.from_numpy(X), v=v, train=True)
        assert s["layers/mlp/load_balance_loss"].shape == (2,)
        return na.sum(s["layers/mlp/load_balance_loss"])

    assert (na.grad(balance)(net.v)["layers/mlp/gate/weight"].abs().sum((1, 2)) > 0).all()


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="top_k: got 3, expected 1 to num_experts=2"):
        nn.MixtureOfExperts(6, nn.Linear(6, 6), 2, 3)
    with pytest.raises(
        ArgumentError, match=r"capacity_factor: got 0\.0, expected a positive number"
    ):
        nn.MixtureOfExperts(6, nn.Linear(6, 6), 2, 1, 0.0)
    with pytest.raises(ArgumentError, match="got 0 experts, expected at least 1"):
        nn.MixtureOfExperts(6, nn.Linear(6, 6), 0)
