"""Modules of fake quantization: observers run, switches are state."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch.ao import quantization

import nestarray as na
from nestarray.errors import ConversionError

X = torch.linspace(-2, 3, 12).sin().reshape(4, 3)
AVERAGE = quantization.MovingAverageMinMaxObserver
BY_CHANNEL = {
    "observer": quantization.MovingAveragePerChannelMinMaxObserver,
    "dtype": torch.qint8,
    "quant_min": -128,
    "quant_max": 127,
    "qscheme": torch.per_channel_affine,
    "ch_axis": 1,
}


def quantized(**settings: Any) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 3), quantization.FakeQuantize(**settings))


def fixed() -> nn.Sequential:
    observer = quantization.default_fixed_qparams_range_0to1_observer
    return nn.Sequential(quantization.FixedQParamsFakeQuantize(observer=observer))


MODULES = {
    "averages": lambda: quantized(observer=AVERAGE),
    "extremes": lambda: quantized(observer=quantization.MinMaxObserver),
    "channels": lambda: quantized(**BY_CHANNEL),
    "fixed": fixed,
}
SWITCHES = {
    quantization.disable_observer: "observer_enabled",
    quantization.disable_fake_quant: "fake_quant_enabled",
}


@pytest.mark.parametrize(
    "name", [n if n == "averages" else pytest.param(n, marks=pytest.mark.full) for n in MODULES]
)
@pytest.mark.parametrize("is_seen", [True, pytest.param(False, marks=pytest.mark.full)])
def test_steps_and_switches(name: str, is_seen: bool) -> None:
    net = MODULES[name]()
    if is_seen or name == "channels":
        net(X)
    graph = na.trace_graph(net, X, train=True).to_backend("numpy")
    net, s = copy.deepcopy(net).train(), graph.s
    for scale, switch in zip((1.0, 2.0, 3.0), (None, *SWITCHES), strict=True):
        if switch is not None:
            net.apply(switch)
            path = f"{len(net) - 1}/{SWITCHES[switch]}"
            s = s.set(path, 0 * s[path])
        expected = net(scale * X).detach()
        found, s = graph((scale * X).numpy(), s=s)
        torch.testing.assert_close(torch.from_numpy(found), expected)
        for path, x in net.named_buffers():
            torch.testing.assert_close(torch.from_numpy(s[path.replace(".", "/")]), x)


def test_channels_that_no_observer_has_seen() -> None:
    message = r"FakeQuantize: min_val has the shape \(0,\) and gets .*; call the module once before"
    with pytest.raises(ConversionError, match=message):
        na.trace_graph(quantized(**BY_CHANNEL), X)
