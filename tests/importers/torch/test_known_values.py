"""Numbers that a module reads: known while tracing where no input decides them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import nestarray as na
from nestarray.testing import assert_close
from tests.graph.agreement import assert_agrees


class Positions(nn.Module):
    """The last of positions that no input decides, though their number is the number of rows."""

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


class Masked(nn.Module):
    """Selections by masks that no input decides."""

    def forward(self, x):
        rows, columns = torch.arange(5) % 2 == 0, torch.tensor([True, False, True])
        y = x.clone()
        y[rows] += x[rows] * 2
        y[:, columns] = x[:, :2]
        nothing = x[torch.zeros(5, dtype=torch.bool)]
        triangle = y[torch.ones(5, 3).tril() > 0]
        places = y[rows.nonzero().squeeze(1)]
        return (
            y,
            x[rows][:, columns] * y[rows].shape[0],
            nothing,
            triangle,
            places,
            y[None, rows, 1:],
        )


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_constant_masks_compile(x, backend):
    graph = na.trace_graph(Masked(), x)
    assert graph.sized_by_values is None
    report = graph.to_backend(backend).verify(compiled=True)
    assert report.ok, str(report)


def test_constant_masks_beside_other_sizes_of_values(x):
    columns = torch.tensor([True, False, True])
    graph = na.trace_graph(lambda x: x[x[:, 0] > 0][:, columns], x)
    assert graph.calls[-1].aval.shape[1] == 2
    assert graph.verify().ok
    graph = na.trace_graph(lambda x: x[:, columns].sin(), x, dynamic={"x": {0: "batch"}})
    assert str(graph.calls[-1].aval).endswith("[batch, 2]")
    assert graph(torch.ones(7, 3)).shape == (7, 2)


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


NUMBERS = {
    "sum": lambda x: x * x.sum().item(),
    "arithmetic": lambda x: x * (1 / (x.square().mean().item() + 1) - 2 * x.max().item()),
    "setting": lambda x: torch.nn.functional.leaky_relu(x - 1, x.mean().item()),
    "filled": lambda x: x * torch.full((5, 3), x.max().item()),
}


@pytest.mark.one_in(16)
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_of_the_input_is_a_constant_for_derivatives(x, name, backend):
    source = x.clone().requires_grad_()
    (expected,) = torch.autograd.grad(NUMBERS[name](source).sum(), source)
    graph = na.trace_graph(NUMBERS[name], x).to_backend(backend)
    assert graph.sized_by_values is None
    is_setting = name == "setting"  # of a native function, which takes numbers only
    for called in (graph, *([] if is_setting else [graph.lower(), na.jit(graph)])):
        found = na.grad(lambda x, called=called: na.sum(called(x)))(na.to_backend(x, backend))
        assert_close(na.to_backend(found, "torch"), expected)


def test_a_number_of_the_input_is_a_python_number(x):
    number = na.trace_graph(lambda x: (x.sum().item(), x.sum()), x)(x)[0]
    assert type(number) is float
