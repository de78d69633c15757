"""Functions with a custom backward keep it in graphs, on every backend."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn
from torch.autograd import Function

import nestarray as na
from nestarray import errors
from tests.graph.agreement import assert_agrees


class Round(Function):
    """Rounds; the gradient is 2."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Product(Function):
    """Several inputs, outputs and settings; wrong by a factor 3."""

    @staticmethod
    def forward(ctx, a, b, k):
        ctx.save_for_backward(a, b)
        ctx.k = k
        order = a.argsort(1)
        ctx.mark_non_differentiable(order)
        return a @ b * k, a.sum(), order

    @staticmethod
    def backward(ctx, g, h, _):
        a, b = ctx.saved_tensors
        return 3 * g @ b.t() * ctx.k + h, a.t() @ g * ctx.k, None


class Halved(Function):
    """The style with ``setup_context``; writes into a copy of the gradient."""

    @staticmethod
    def forward(x):
        return x.clamp(min=0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g.clone()
        g[x < 0] = 0
        return g.mul_(0.5)


class Reversed(Function):
    """The identity with the gradient's sign changed."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg()


class Clipped(Function):
    """The identity with the gradient clipped."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g.clamp(-0.1, 0.1)


class Ignoring(Clipped):
    """A backward that does not use the gradient."""

    @staticmethod
    def backward(ctx, g):
        return torch.ones_like(g)


class Dirty(Clipped):
    """Writes into its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)


class Net(nn.Module):
    """A layer, and a function of it."""

    def __init__(self, function) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(3, 3)
        self.function = function

    def forward(self, x):
        return self.function(self.fc, x)


def _products(fc, x):
    a, b, order = Product.apply(fc(x), fc.weight, 2.0)
    return torch.sin(a) * b, order


def _without_gradient(fc, x):
    with torch.no_grad():
        y = Round.apply(fc(x) * 3)
    return y * fc(x)


@pytest.fixture(scope="module")
def x() -> torch.Tensor:
    return torch.randn(4, 3, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    "function",
    [
        lambda fc, x: Round.apply(fc(x) * 3),
        _products,
        lambda fc, x: Halved.apply(fc(x)).sin(),
        lambda fc, x: Reversed.apply(fc(Halved.apply(fc(x))).sin()).cos(),
        _without_gradient,
    ],
    ids=["straight-through", "several", "setup_context", "nested", "no_grad"],
)
def test_gradients_are_those_of_backward(x, function):
    graph = assert_agrees(Net(function), x)
    assert graph.verify().ok


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            Clipped,
            r"trace_graph: the backward of Clipped is not linear in the gradient that it gets, such as "
            r"a clipped or rounded gradient; change the gradients where they are used",
        ),
        (
            Ignoring,
            r"trace_graph: the backward of Ignoring does not use the gradient that it gets; multiply "
            r"by it, and return None where there is no gradient",
        ),
        (
            Dirty,
            r"trace_graph: a torch\.autograd\.Function writes into its input \(ctx\.mark_dirty\), and "
            r"a graph changes no array; return a new tensor",
        ),
    ],
)
def test_what_has_no_graph_is_refused(x, function, text):
    with pytest.raises(errors.ConversionError) as caught:
        na.trace_graph(Net(lambda fc, x: function.apply(fc(x))), x)
    assert re.fullmatch(text, str(caught.value))
    leaf = x.clone().requires_grad_()  # torch's own apply is back
    Clipped.apply(leaf).sum().backward()
    assert torch.allclose(leaf.grad, torch.full_like(x, 0.1))


class Recomputed(Function):
    """A layer whose activations are computed again in the backward pass."""

    @staticmethod
    def forward(ctx, x, layer):
        ctx.save_for_backward(x)
        ctx.layer = layer
        return layer(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        x = x.detach().requires_grad_()
        with torch.enable_grad():
            ctx.layer(x).backward(g)  # reaches the layer's parameters by side effect
        return x.grad, None


class Saving(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([1.0, 2.0]))
        self.layer = nn.Linear(2, 3)

    def forward(self, x):
        return Recomputed.apply(x * self.scale, self.layer).tanh()


def test_a_function_of_a_layer_has_the_gradients_of_the_layer():
    torch.manual_seed(0)
    net, x = Saving(), torch.randn(4, 2)
    net(x).pow(2).sum().backward()
    graph = na.trace_graph(net, x).to_backend("numpy")
    ours = na.grad(lambda v: na.sum(graph(x.numpy(), v=v) ** 2))(graph.v)
    for name, parameter in net.named_parameters():
        got = torch.from_numpy(ours[name.replace(".", "/")])
        torch.testing.assert_close(got, parameter.grad)
