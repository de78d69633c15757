"""State that the first call of a module makes, and tensors that no call reads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import BACKENDS, host


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / (1 + (torch.pi * x) ** 2)


class Neuron(nn.Module):
    """A leaky neuron; its membrane gets the shape of the batch."""

    def __init__(self, keeps: bool, spike) -> None:
        super().__init__()
        self.keeps, self.spike = keeps, spike
        self.register_buffer("beta", torch.tensor(0.8))
        self.register_buffer("membrane", torch.zeros(0), persistent=False)

    def start(self):
        self.membrane = torch.zeros_like(self.membrane)
        return self.membrane

    def forward(self, current, membrane=None):
        if membrane is not None:
            self.membrane = membrane
        if self.membrane.shape != current.shape:
            self.membrane = torch.zeros_like(current)
        self.reset = self.spike(self.membrane - 0.5).detach()
        self.membrane = self.beta * self.membrane + current - 0.5 * self.reset
        spikes = self.spike(self.membrane - 0.5)
        return spikes if self.keeps else (spikes, self.membrane)


class Spiking(nn.Module):
    def __init__(self, keeps: bool, starts: bool = True, spike=torch.sigmoid) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.neuron, self.starts = nn.Linear(3, 4), Neuron(keeps, spike), starts

    def forward(self, x):
        membrane = self.neuron.start() if self.starts else None
        rows = []
        for _ in range(2):
            if self.neuron.keeps:
                spikes = self.neuron(self.fc(x))
            else:
                spikes, membrane = self.neuron(self.fc(x), membrane)
            rows.append(spikes + self.neuron.membrane)
        return torch.stack(rows)


class Positions(nn.Module):
    """A table of positions that is made when it is needed."""

    def __init__(self, first) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(3, 3)
        self.register_buffer("table", first)

    def forward(self, x):
        if self.table is None or self.table.size(0) < x.size(1):
            places = torch.arange(x.size(1), dtype=x.dtype)
            self.table = torch.sin(places[:, None] / torch.arange(1, 4))
        return self.fc(x) + self.table[: x.size(1)]


class Recurrent(nn.Module):
    """State in an attribute that is no buffer."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.hidden = nn.Linear(3, 3), None

    def forward(self, x):
        if self.hidden is None:
            self.hidden = torch.zeros_like(x)
        self.hidden = torch.tanh(self.fc(x) + self.hidden)
        return self.hidden * 2


class Standardized(nn.Module):
    """The mean of the first batch."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(3, 3)
        self.register_buffer("mean", torch.empty(0))

    def forward(self, x):
        y = self.fc(x)
        if self.mean.numel() == 0:
            self.mean = y.mean(0)
        return y - self.mean


class Layer(nn.Module):
    """A linear layer, and a call with its result."""

    def __init__(self, function, **buffers) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.function = nn.Linear(3, 3), function
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, x):
        return self.function(self, self.fc(x))


X = torch.randn(2, 3, generator=torch.Generator().manual_seed(1))
ROWS = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(1))


def _verified(net, x, backends=("jax",), **settings):
    graph = na.trace_graph(net, x, **settings)
    for backend in backends:
        assert graph.to_backend(backend).verify().ok
    return graph


@pytest.mark.parametrize("keeps", [pytest.param(False, marks=pytest.mark.full), True])
def test_state_that_a_call_resets_is_dropped(keeps):
    if not keeps:
        _verified(Spiking(keeps), X, BACKENDS)
    graph = na.trace_graph(Spiking(keeps), X, dynamic={"x": {0: "batch"}})
    assert graph.s.paths() == ("neuron/beta",)
    assert not graph.state_updates
    (sentence,) = graph.report().dropped
    assert sentence == (
        "state 'neuron.membrane' (float32[0], after a call float32[2, 4]), whose value before a call "
        "does not influence the output"
    )
    x = torch.cat([X, X + 1])
    np.testing.assert_allclose(host(graph(x)), host(Spiking(keeps)(x)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("train", [pytest.param(False, marks=pytest.mark.full), True])
@pytest.mark.parametrize(
    "spike", [torch.sigmoid, pytest.param(Spike.apply, marks=pytest.mark.full)]
)
def test_state_that_a_call_reads_has_the_shape_of_the_first_call(spike, train):
    net = Spiking(keeps=True, starts=False, spike=spike)
    graph = _verified(net, X, train=train)
    assert net.neuron.membrane.shape == (0,)
    assert not hasattr(net.neuron, "reset")
    assert graph.s.paths() == ("neuron/beta", "neuron/membrane")
    assert [*graph.state_updates] == ["neuron/membrane"]
    s = graph.s
    for x in (X, X + 1, X - 1):
        out, s = graph(x, s=s)
        np.testing.assert_allclose(host(out), host(net(x)), rtol=1e-5, atol=1e-6)


def test_an_open_size_of_state_is_refused():
    with pytest.raises(
        errors.ConversionError,
        match=r"State has the shape of the first call: 'hidden', float32\[2, 3\]",
    ):
        na.trace_graph(Recurrent(), X, dynamic={"x": {0: "batch"}})


@pytest.mark.parametrize("first", [torch.zeros(0), pytest.param(None, marks=pytest.mark.full)])
def test_a_table_that_is_made_when_needed_is_no_state(first, tmp_path):
    graph = _verified(Positions(first), ROWS, dynamic={"x": {1: "length"}})
    assert not graph.s.paths()
    for length in (2, 5, 9):
        x = ROWS.repeat(1, 2, 1)[:, :length]
        np.testing.assert_allclose(host(graph(x)), host(Positions(first)(x)), rtol=1e-5, atol=1e-6)
    graph.save(tmp_path / "graph.safetensors")
    loaded = na.Graph.load(tmp_path / "graph.safetensors")
    assert loaded.dropped == graph.dropped
    Positions(first).load_state_dict(loaded.to_torch_state_dict())


@pytest.mark.parametrize("calls", [0, pytest.param(1, marks=pytest.mark.full)])
def test_an_attribute_that_keeps_a_tensor_is_state(calls):
    net = Recurrent()
    for _ in range(calls):
        net(X)
    graph = _verified(net, X, BACKENDS)
    s = graph.s
    assert s.paths() == ("hidden",)
    for x in (X, X + 1):
        out, s = graph(x, s=s)
        np.testing.assert_allclose(host(out), host(net(x)), rtol=1e-5)


def test_values_of_the_first_call_that_later_ones_read():
    net = Standardized()
    graph = _verified(net, X)
    np.testing.assert_allclose(host(graph(X)), host(net(X)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(host(graph(X + 1)), host(net(X + 1)), rtol=1e-5, atol=1e-6)


def _append(net, y):
    net.seen = torch.cat([net.seen, y])
    return net.seen.mean(0)


def _remember(net, y):
    y = y if net.seen.numel() else 2 * y
    net.seen = y
    return y


def _resize(net, y):
    net.seen.resize_(y.shape).copy_(y)
    return net.seen * 2


@pytest.mark.parametrize(
    ("function", "first", "text"),
    [
        (
            _append,
            torch.zeros(0, 3),
            r"Layer assigns another shape to 'seen' in each call \(float32\[0, 3\], then "
            r"float32\[2, 3\], then float32\[4, 3\]\); the state of a graph keeps its shapes: register "
            "a buffer with the shape that it has in the end, and write into it",
        ),
        (
            _remember,
            torch.zeros(0),
            "Layer computes something else in its first call, before its buffer 'seen' changes its "
            "shape; call it once before it is traced",
        ),
        (
            _resize,
            torch.zeros(0),
            r"Layer resizes its buffer 'seen' in place, from \[0\] to \[2, 3\]; assign a new tensor",
        ),
    ],
)
def test_state_without_a_shape_is_refused(function, first, text):
    with pytest.raises(errors.ConversionError, match=f"trace_graph: {text}"):
        na.trace_graph(Layer(function, seen=first), X)


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.eye(3).to_sparse(),
        lambda: torch.eye(3).to_sparse_csr(),
        lambda: torch.ones(3).to(torch.float8_e4m3fn),
    ],
    ids=["coo", "csr", "float8"],
)
def test_tensors_that_no_call_reads_are_kept_for_the_state_dict(make, tmp_path):
    tensor = make()
    net = Layer(lambda net, y: torch.relu(y), heads=tensor)
    graph = _verified(net, X)
    assert not graph.s.paths()
    graph.to_backend("jax").save(tmp_path / "graph.safetensors")
    loaded = na.Graph.load(tmp_path / "graph.safetensors").to_backend("numpy")
    for values in (loaded.to_torch_state_dict(), graph.to_torch_module().state_dict()):
        net.load_state_dict(values)
        assert values["heads"].layout is tensor.layout
        assert values["heads"].dtype is tensor.dtype
        if tensor.dtype is torch.float32:
            assert torch.equal(values["heads"].to_dense(), torch.eye(3))
