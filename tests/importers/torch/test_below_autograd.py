"""Modules whose forward differentiates: values and gradients equal the module's."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import assert_agrees

#: JAX compiles every operation of an eager call, so one module is enough in the default run.
FAST = ("numpy", "torch")


class Potential(nn.Module):
    """An energy of points, and its forces."""

    def __init__(self, differentiable: bool = True) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(6, 8), nn.SiLU(), nn.Linear(8, 1))
        self.differentiable = differentiable

    def forward(self, x):
        x = x.requires_grad_(True)
        distances = (x[:, None] - x[None]).square().sum(-1)
        features = torch.exp(-distances[..., None] * torch.linspace(0.1, 1, 6))
        energy = (self.net(features).squeeze(-1) * torch.sigmoid(2 - distances)).sum()
        (slope,) = torch.autograd.grad(
            energy, x, create_graph=self.differentiable, retain_graph=True
        )
        return {"energy": energy, "forces": -slope}


class Residual(nn.Module):
    """A differential equation's, by the transformations of ``torch.func``."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 1))

    def forward(self, x):
        def u(point):
            return self.net(point).squeeze(-1)

        slope = torch.func.vmap(torch.func.grad(u))(x)
        bend = torch.func.vmap(torch.func.hessian(u))(x)
        # not through the normalization: torch's reverse mode over its forward mode is wrong there
        pushed = torch.func.jvp(lambda x: self.net[:2](x).sum(-1), (x,), (torch.ones_like(x),))
        return slope[:, 0] + pushed[0] * slope[:, 1] - bend.diagonal(0, 1, 2).sum(-1), pushed[1]


class Ensemble(nn.Module):
    """Members of one structure in one call."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.members = nn.ModuleList([nn.Linear(4, 2) for _ in range(3)])

    def forward(self, x):
        weights = {
            name: torch.stack([dict(m.named_parameters())[name] for m in self.members])
            for name in ("weight", "bias")
        }
        call = lambda w, x: torch.func.functional_call(self.members[0], w, (x,))  # noqa: E731
        return torch.vmap(call, in_dims=(0, None))(weights, x)


class Stops(nn.Module):
    """Derivatives with everything that stops them: detach, no_grad, data."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b, self.c, self.d = (nn.Linear(3, 3) for _ in range(4))

    def forward(self, x):
        x = x.requires_grad_(True)
        y = torch.tanh(self.a(x))
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        with torch.no_grad():
            quiet = torch.sigmoid(self.b(slope)) * y
        kept = self.c(y)
        return slope * kept.detach() + quiet + torch.exp(self.d(y)).data + kept * y.sigmoid()


class Data(nn.Module):
    """A value without a gradient, as old code takes it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        y = self.fc(x)
        return y * y.data


class Own(torch.autograd.Function):
    """A custom gradient: three times the usual one."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x.cos()


class WithOwn(nn.Module):
    """A Function behind a derivative."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        def f(x):
            return self.fc(x).square().sum()

        return Own.apply(torch.func.grad(f)(x))


class Regularized(nn.Module):
    """In training: dropout, a batch normalization whose state is written, and a penalty."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.norm, self.out = (
            nn.Linear(4, 6, bias=False),
            nn.BatchNorm1d(6),
            nn.Linear(6, 1),
        )
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, *, scale=2.0):
        x = x.requires_grad_(True)
        y = F.dropout(torch.relu(self.norm(self.fc(x))), 0.25, self.training)
        y = self.out(y).squeeze(-1)
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        self.calls = self.calls + 1
        return y, scale * slope.square().sum(-1).mean()


class Descent(nn.Module):
    """The prediction after a step of descent on the module's weights, and one on the input."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        weights = dict(self.fc.named_parameters())

        def loss(weights):
            return torch.func.functional_call(self.fc, weights, (x,)).square().mean()

        slopes = torch.func.grad(loss)(weights)
        weights = {name: w - 0.1 * slopes[name] for name, w in weights.items()}
        near = x.detach().requires_grad_()
        self.fc(near).tanh().sum().backward()
        assert near.grad is not None
        return torch.func.functional_call(self.fc, weights, (x - 0.1 * near.grad,))


class Convolved(nn.Module):
    """How an image moves a score: backward of convolutions, pools and a softmax."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(
            nn.Conv2d(1, 3, 3), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 4)
        )

    def forward(self, x):
        x = x.requires_grad_(True)
        score = F.log_softmax(self.net(x), -1)[:, 0].sum()
        return torch.autograd.grad(score, x, create_graph=True)[0].abs().mean((1, 2, 3))


X = torch.linspace(-1, 1, 12).reshape(4, 3).sin()

MODULES = {
    "potential": (Potential, (X,)),
    "forces without a gradient": (lambda: Potential(differentiable=False), (X,)),
    "residual": (Residual, (X[:, :2].contiguous(),)),
    "ensemble": (Ensemble, (torch.cat([X, X[:, :1]], 1),)),
    "stops": (Stops, (X,)),
    "data": (Data, (X,)),
    "descent": (Descent, (X,)),
    "function": (WithOwn, (X,)),
    "convolved": (Convolved, (torch.linspace(-1, 1, 72).reshape(2, 1, 6, 6).sin(),)),
}


@cache
def traced(name):
    """A module, and its graph for any number of rows."""
    make, (x,) = MODULES[name]
    module = make()
    return module, na.trace_graph(module, x, dynamic={"x": {0: "rows"}})


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_on_compiled_backends(backend):
    module, graph = traced("data")
    assert_agrees(module, X, graph=graph, backends=(backend,))


@pytest.mark.full
@pytest.mark.parametrize("name", MODULES)
def test_on_all_backends(name):
    make, args = MODULES[name]
    assert_agrees(make(), *args)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", MODULES)
def test_one_graph_is_the_module_at_all_sizes(name):
    module, graph = traced(name)
    _, (x,) = MODULES[name]
    assert graph.sizes.ranges == {"rows": (0, None)}
    assert graph.sizes.conditions == ()
    other = torch.randn(1, *x.shape[1:], generator=torch.Generator().manual_seed(0))
    many = torch.cat([other, x, -x])
    assert_agrees(module, many, graph=graph, backends=("torch",), rtol=2e-5)
    assert_agrees(module, other, graph=graph, backends=("numpy",), gradients=False, rtol=2e-5)
    assert graph.to_backend("numpy").verify().ok
    assert graph.optimize().to_backend("numpy").verify(gradients=False).ok


@pytest.mark.full
@pytest.mark.parametrize("backend", ["numpy", "jax", "tensorflow"])
@pytest.mark.parametrize("name", MODULES)
def test_gradients_at_all_sizes_on_other_backends(name, backend):
    module, graph = traced(name)
    _, (x,) = MODULES[name]
    for rows in (1, 7):
        other = torch.randn(rows, *x.shape[1:])
        assert_agrees(module, other, graph=graph, backends=(backend,), rtol=2e-5)


def test_in_training():
    net = Regularized().train()
    x = torch.randn(6, 4)
    graph = na.trace_graph(net, x, scale=3.0, train=True)
    report = graph.to_backend("numpy").verify()
    assert report.ok
    assert {row.name for row in report.state} >= {"calls", "norm/running_mean"}
    key = na.random.key(0, backend="torch")
    (y, penalty), state = graph(x, scale=3.0, key=key)
    assert y.shape == (6,)
    assert penalty.shape == ()
    assert float(state["calls"]) == 1
    assert int(state["norm/num_batches_tracked"]) == 1
    masked, _ = graph(x, scale=3.0, key=na.random.key(1, backend="torch"))
    assert not np.allclose(masked[0].detach(), y.detach())


class Everything(nn.Module):
    """Backward operations of many kinds in one: layers, factorizations, resizing."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.steps = nn.LSTM(4, 5, batch_first=True)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, x):
        x = x.requires_grad_(True)
        gram = self.scale * x @ x.mT + torch.eye(3)
        image = F.interpolate(x[:, None], scale_factor=2, mode="bilinear")
        terms = [
            self.steps(x)[0],
            self.attention(x, x, x)[0],
            torch.linalg.det(gram),
            torch.logdet(gram),
            torch.linalg.solve(gram, x),
            torch.linalg.eigvalsh(gram),
            image,
        ]
        energy = torch.stack([term.square().mean() for term in terms]).sum()
        return torch.autograd.grad(energy, x, create_graph=True)[0]


@pytest.mark.full
def test_backward_operations_of_many_kinds():
    x = torch.linspace(-1, 1, 24).reshape(2, 3, 4).sin()
    assert_agrees(Everything(), x, backends=("numpy",), rtol=2e-5)


def test_what_torch_cannot_differentiate_is_a_note():
    net = nn.Linear(4, 4)

    def different(x):
        return torch.unique(net(x).round()).sum()

    report = na.trace_graph(different, torch.randn(3, 4)).to_backend("numpy").verify()
    assert report.ok
    assert report.gradient_note.startswith("verify: PyTorch: the derivative for '_unique2' is not")


@pytest.mark.full
def test_weights_go_back():
    net, (_, graph) = Potential(), traced("potential")  # of the same seed
    before = net.state_dict()["net.0.bias"].clone()
    net.load_state_dict(graph.to_torch_state_dict(graph.v * 2))
    assert torch.equal(net.state_dict()["net.0.bias"], before * 2)


# -- open sizes -----------------------------------------------------------------------------


class Asks(nn.Module):
    """Slopes, and `question` of them; its questions about sizes are not recorded calls."""

    def __init__(self, question) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.question = question

    def forward(self, x):
        x = x.requires_grad_(True)
        (slope,) = torch.autograd.grad(self.fc(x).tanh().sum(), x, create_graph=True)
        return self.question(slope)


def test_what_code_asks_of_sizes_is_a_condition():
    many = na.trace_graph(
        Asks(lambda g: g * 2 if g.shape[0] > 2 else g), X, dynamic={"x": {0: "rows"}}
    )
    assert many.sizes.ranges == {"rows": (3, None)}
    even = na.trace_graph(
        Asks(lambda g: g * 2 if g.shape[0] % 2 == 0 else g), X, dynamic={"x": {0: "rows"}}
    )
    assert [*map(str, even.sizes.conditions)] == ["rows % 2 == 0"]


def test_a_size_that_is_a_constant_is_named():
    with pytest.raises(errors.ConversionError) as caught:
        na.trace_graph(Asks(lambda g: g * torch.ones(4, 1)), X, dynamic={"x": {0: "rows"}})
    assert "You marked rows (dimension 0 of 'x') as dynamic but your code specialized it" in str(
        caught.value
    )


def test_rows_that_values_choose_before_a_derivative():
    class Chosen(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.fc = nn.Linear(3, 3)

        def forward(self, x):
            x = x.requires_grad_(True)
            energy = self.fc(x)[x[:, 0] > 0].tanh().exp().sum()
            return torch.autograd.grad(energy, x, create_graph=True)[0]

    module = Chosen()
    graph = na.trace_graph(module, X)
    for other in (-X, X.flip(0) + 0.2):  # other numbers of rows
        assert_agrees(module, other, graph=graph, backends=FAST)


def test_a_choice_by_a_derivative_is_refused_with_its_line():
    with pytest.raises(errors.ConversionError) as caught:
        na.trace_graph(Asks(lambda g: g * 2 if g.sum() > 0 else g), X)
    assert "a choice by a value: " in str(caught.value)
    assert "if g.sum() > 0 else g" in str(caught.value)


# -- forward mode ---------------------------------------------------------------------------

PUSHED = {
    "layer_norm": (lambda x: F.layer_norm(x, (6,)), False),
    "group_norm": (lambda x: F.group_norm(x, 2), True),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), False),
    "batch_norm_eval": (
        lambda x: F.batch_norm(x, torch.zeros(4), torch.full((4,), 2.0)),
        True,
    ),
    "embedding": (lambda x: x * F.embedding(torch.tensor([1, 0, 1, 1]), x[0, :2, :1]), True),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2, mode="linear"), True),
    "rfft": (lambda x: torch.fft.rfft(x).abs(), True),
    "cholesky": (lambda x: torch.linalg.cholesky(x @ x.mT + torch.eye(4)), True),
    "softmax": (lambda x: x.softmax(-1), True),
    "cat": (lambda x: torch.cat([x.sin(), torch.ones_like(x), x]), True),
    "stack": (lambda x: torch.stack([torch.ones_like(x), x.sin()], -1), True),
}


@pytest.mark.parametrize(
    "name",
    [n if n in ("layer_norm", "rfft") else pytest.param(n, marks=pytest.mark.full) for n in PUSHED],
)
def test_tangents_are_torchs(name):
    # torch's reverse mode over these of layer_norm and batch_norm is not what differences say
    function, is_differentiable = PUSHED[name]

    class Pushed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(6))

        def forward(self, x):
            return torch.func.jvp(function, (x * self.scale,), (torch.cos(x),))[1]

    module, x = Pushed(), torch.linspace(-2, 2, 48).reshape(2, 4, 6).sin()
    graph = na.trace_graph(module, x, dynamic={"x": {0: "rows"}})
    for rows in (2, 3):
        other = torch.randn(rows, 4, 6, generator=torch.Generator().manual_seed(1))
        options = {"graph": graph, "gradients": is_differentiable, "rtol": 5e-5}
        assert_agrees(module, other, backends=FAST, **options)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_the_slope_of_a_loss_of_padded_labels(reduction: str) -> None:
    class Slope(nn.Module):
        def forward(self, x, labels):
            loss = lambda x: F.multilabel_margin_loss(x, labels, reduction=reduction).square().sum()  # noqa: E731
            return torch.func.grad_and_value(loss)(x)

    torch.manual_seed(0)
    x, labels = torch.randn(3, 4), torch.tensor([[3, 0, -1, 1], [1, -1, 2, 0], [0, 1, 2, 3]])
    given = x.clone().requires_grad_()
    value = F.multilabel_margin_loss(given, labels, reduction=reduction).square().sum()
    value.backward()
    slope, found = na.trace_graph(Slope(), x, labels).to_backend("numpy")(x.numpy(), labels.numpy())
    na.testing.assert_close(slope, given.grad.numpy())
    na.testing.assert_close(found, value.detach().numpy())
