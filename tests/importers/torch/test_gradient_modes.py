"""Regions without gradients inside of torch modules: the graph's gradients are the module's."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import assert_agrees


class Net(nn.Module):
    """A layer whose values are taken with and without gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)


class NoGrad(Net):
    def forward(self, x):
        with torch.no_grad():
            y = self.fc(x)
        return y * self.fc(x)


class Decorated(Net):
    @torch.no_grad()
    def target(self, x):
        return self.fc(x), x * 2

    def forward(self, x):
        y, z = self.target(x)
        return y * self.fc(x) + z


class InferenceMode(Net):
    @torch.inference_mode()
    def decorated(self, x):
        return self.fc(x)

    def forward(self, x):
        with torch.inference_mode():
            y = self.fc(x)
        return (y.clone() + self.decorated(x).clone()) * self.fc(x)


class EnabledInside(Net):
    def forward(self, x):
        with torch.no_grad():
            y = self.fc(x)
            with torch.enable_grad():
                z = self.fc(x)
            y = y + 1
        with torch.set_grad_enabled(False):
            w = torch.relu(z)
        return y * z + w


class Detached(Net):
    def forward(self, x):
        y = self.fc(x)
        return y + (y.round() - y).detach()  # rounding, with the gradient of the identity


class Nothing(Net):
    @torch.no_grad()
    def forward(self, x):
        return self.fc(x)


class WritesInside(Net):
    def forward(self, x):
        mask = torch.zeros(4, 3)
        with torch.no_grad():
            mask[0] = 1
            mask.add_(self.fc(x))
        return self.fc(x) * mask


class Checkpointed(Net):
    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.fc, x, use_reentrant=False) * x


NETS = [
    NoGrad, Decorated, InferenceMode, EnabledInside, Detached, Nothing, WritesInside, Checkpointed
]  # fmt: skip


@pytest.fixture(scope="module")
def x() -> torch.Tensor:
    return torch.randn(4, 3, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("kind", NETS)
def test_gradients_are_the_modules(kind, x):
    torch.manual_seed(1)
    assert_agrees(kind(), x)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_the_mode_around_the_trace_does_not_matter(mode, x):
    net = NoGrad()
    outside = str(na.trace_graph(net, x))
    with mode():
        assert str(na.trace_graph(net, x)) == outside
        assert torch.is_inference_mode_enabled() == (mode is torch.inference_mode)
    assert "detach" in outside


def test_inference_mode_is_itself_again_after_a_trace(x):
    na.trace_graph(InferenceMode(), x)
    with torch.inference_mode():
        assert torch.ones(2).is_inference()
    assert torch.is_grad_enabled()


def test_a_write_past_the_gradient_is_refused_with_its_line(x):
    class Written(Net):
        def forward(self, x):
            y = self.fc(x)
            with torch.no_grad():
                y.view(-1).mul_(2)
            return y * 3

    message = (
        r"trace_graph: Written writes into a value that has a gradient, under torch\.no_grad\(\) "
        r"\(test_gradient_modes\.py:\d+, aten\.mul_\.Tensor\); write into a copy: x = x\.clone\(\) "
        r"before the block, or x\.detach\(\)\.clone\(\) in it"
    )
    with pytest.raises(errors.ConversionError) as caught:
        na.trace_graph(Written(), x)
    assert re.fullmatch(message, str(caught.value))
