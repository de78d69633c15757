"""Numbers that a module reads: known while tracing where no input decides them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import nestarray as na
from tests.graph.agreement import assert_agrees


class Positions(nn.Module):
    """The last of positions that no input decides, though their number is that of the rows."""

    def __init__(self):
        super().__init__()
        self.step = nn.Parameter(torch.randn(3))

    def forward(self, x):
        return x + self.step * torch.arange(len(x)).max().item()


class Scaled(nn.Module):
    """A number that the input decides."""

    def forward(self, x):
        return x * x.sum().item()


@pytest.fixture
def x():
    torch.manual_seed(0)
    return torch.randn(5, 3)


def test_what_constants_decide_is_a_number_of_the_program(x):
    graph = assert_agrees(Positions(), x, backends=("numpy", "torch"))
    assert not any("item" in node.target_name for node in graph.calls)
    assert graph.verify().ok


def test_a_size_that_constants_decide_is_a_number_of_the_program(x):
    class Counted(nn.Module):
        def forward(self, x):
            count = torch.tensor([2, 3]).max().item()
            torch._check(count >= 0)
            torch._check(count <= len(x))
            return x[:count] + torch.ones(count, 1)

    graph = assert_agrees(Counted(), x, backends=("numpy", "torch"), gradients=False)
    assert not any("item" in node.target_name for node in graph.calls)
    assert graph.sized_by_values is None
    assert graph.calls[-1].aval.shape == (3, 3)


@pytest.mark.parametrize("backend", ["jax", pytest.param("tensorflow", marks=pytest.mark.full)])
def test_such_a_program_compiles(x, backend):
    report = na.trace_graph(Positions(), x).to_backend(backend).verify(compiled=True)
    assert report.ok, str(report)


def test_what_an_input_decides_stays_a_call(x):
    graph = assert_agrees(Scaled(), x, backends=("numpy",), gradients=False)
    assert any("item" in node.target_name for node in graph.calls)
    numpy = graph.to_backend("numpy")
    assert numpy(2 * x.numpy()) == pytest.approx(4 * numpy(x.numpy()), rel=1e-5)


def test_what_is_drawn_stays_a_call(x):
    class Drawn(nn.Module):
        def forward(self, x):
            return x * torch.rand(()).item()

    graph = na.trace_graph(Drawn(), x, train=True)
    assert any("item" in node.target_name for node in graph.calls)
