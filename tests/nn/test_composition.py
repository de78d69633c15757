"""Modules made of modules: repeated layers against loops, both directions against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close
from tests.nn.rows.composition import block

X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def test_repeat_is_a_loop_over_layers(backend: str) -> None:
    layer = block()
    net = nn.Repeat(layer, 3).init(na.random.key(0, backend=backend))
    key = na.random.key(1, backend=backend)
    x = na.to_backend(X, backend)
    out, s = net(x, train=True, key=key)
    keys = na.random.split(na.random.fold_in(key, ""), 3)
    for i in range(3):
        part = [c.map(lambda x, i=i: x[i]) for c in (net.v, net.s)]
        x, new = layer(x, v=part[0], s=part[1], train=True, key=keys[i])
        assert_close(s.map(lambda x, i=i: x[i]), new)
    assert_close(out, x)


def test_each_repetition_starts_from_other_numbers() -> None:
    net = nn.Repeat(nn.weight_norm(nn.Linear(3, 3)), 2).init(na.random.key(0))
    weight = net.v["parametrizations/weight/original1"]
    assert weight.shape == (2, 3, 3)
    assert not np.isclose(weight[0], weight[1]).any()
    norms = np.sqrt((weight**2).sum(2, keepdims=True))
    assert_close(net.v["parametrizations/weight/original0"], norms)


def test_repeat_passes_other_arguments_to_each_layer() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(3, 3)

        def forward(self, x: Any, scale: Any, *, shift: float) -> Any:
            return x * scale + shift

    net = nn.Repeat(Scaled(), 3).init(na.random.key(0))
    assert_close(net(X, np.float32(2.0), shift=1.0), X * 8 + 7)


def test_a_layer_that_drops_needs_a_key_in_repeat() -> None:
    net = nn.Repeat(nn.Dropout(0.5), 2).init(na.random.key(0))
    with pytest.raises(ArgumentError, match="key: got None, but Dropout"):
        net(X, train=True)


@pytest.mark.parametrize("lengths", [None, [2, 4, 1]])
def test_bidirectional_is_torchs(lengths: Any) -> None:
    torch.manual_seed(0)
    twin = torch.nn.GRU(2, 3, batch_first=True, bidirectional=True)
    weights = na.Container.from_torch_module(twin)
    v = na.Container(
        forward_layer={p: x for p, x in weights.items() if not p.endswith("_reverse")},
        backward_layer={
            p.removesuffix("_reverse"): x for p, x in weights.items() if p.endswith("_reverse")
        },
    )
    x = torch.randn(3, 4, 2)
    sequences = None if lengths is None else torch.tensor(lengths)
    whole = nn.GRU(2, 3, batch_first=True, bidirectional=True).with_variables(weights)
    expected, state = whole(x, lengths=sequences)
    layer = nn.GRU(2, 3, batch_first=True)
    out, states = nn.Bidirectional(layer)(x, v=v, lengths=sequences)
    assert_close(out, expected)
    assert_close(torch.concat(states), state)
    parts = expected.split(3, -1)
    merged = {"sum": parts[0] + parts[1], "mul": parts[0] * parts[1], None: parts}
    merged["ave"] = merged["sum"] / 2
    for mode, result in merged.items():
        assert_close(
            nn.Bidirectional(layer, mode)(x, v=v, lengths=sequences)[0],
            tuple(result) if mode is None else result,
        )


def test_bidirectional_continues_from_states() -> None:
    net = nn.Bidirectional(nn.LSTM(2, 3), backward_layer=nn.LSTM(2, 5)).init(na.random.key(0))
    x = np.random.default_rng(1).normal(size=(4, 2, 2)).astype(np.float32)
    out, states = net(x)
    assert out.shape == (4, 2, 8)
    again, _ = net(x, states)
    assert not np.isclose(again, out).any()


def test_settings_are_checked() -> None:
    with pytest.raises(
        ArgumentError, match="Parallel: merge: got 'mean', expected 'concat', 'stac"
    ):
        nn.Parallel(na.tanh, merge="mean")
    with pytest.raises(ArgumentError, match="Parallel: branches: got none, expected at least one"):
        nn.Parallel()
    with pytest.raises(
        ArgumentError, match="Residual: layer 0: got int, expected a module or a fun"
    ):
        nn.Residual(3)
    with pytest.raises(
        ArgumentError, match="Repeat: layer: got builtin_function_or_method, expecte"
    ):
        nn.Repeat(len, 3)
    with pytest.raises(ArgumentError, match="Repeat: got 0 repetitions, expected at least 1"):
        nn.Repeat(nn.Linear(3, 3), 0)
    with pytest.raises(ArgumentError, match="Remat: policy: got 'all', expected one of"):
        nn.Remat(nn.Linear(3, 3), "all")
    with pytest.raises(
        ArgumentError, match="Bidirectional: merge_mode: got 'max', expected 'concat"
    ):
        nn.Bidirectional(nn.GRU(2, 3), "max")
