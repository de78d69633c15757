"""Functions of torch tensors: code over torch is exported, code over na recorded."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import BACKENDS, assert_agrees, host


@pytest.fixture(scope="module")
def x() -> torch.Tensor:
    return torch.randn(4, 3, generator=torch.Generator().manual_seed(0))


class Model(nn.Module):
    """A layer, a method other than ``forward``, a hook on ``forward`` alone."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("shift", torch.ones(3))
        self.register_forward_hook(lambda module, args, out: out + 100)

    def encode(self, x, times=2):
        return torch.dropout(self.fc(x), 0.5, self.training) * times + self.shift

    def forward(self, x):
        return -self.encode(x)


def attention(q, k, mask=None, *, scale=1.0):
    size = q.size(-1) ** 0.5
    scores = q.matmul(k.transpose(-2, -1)) / size
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return {"weights": torch.softmax(scores, dim=-1) * scale, "scores": (scores, None)}


def test_functions_of_torch(x):
    mask = torch.tensor([[False, True, False, False]])
    graph = assert_agrees(attention, x, x + 1, gradients=False)
    assert [n.name for n in graph.inputs] == ["q", "k"]
    assert graph.name == "attention"
    assert_agrees(attention, x, x + 1, mask, scale=2.0, gradients=False)
    assert_agrees(lambda x: x.view(2, 6).size(0) * x.numel() + x.relu(), x, gradients=False)
    assert_agrees(torch.nn.functional.gelu, x, gradients=False)
    assert_agrees(functools.partial(torch.sum, dim=1), x, gradients=False)


def test_methods_called_by_their_class(x):
    assert_agrees(lambda x: torch.Tensor.exp(x), x, gradients=False)
    assert_agrees(torch.Tensor.item, x.sum(), gradients=False)


def test_a_compiled_function_is_the_function(x):
    graph = na.trace_graph(torch.compile(attention, backend="eager"), x, x + 1)
    assert str(graph) == str(na.trace_graph(attention, x, x + 1))


def test_na_and_torch_in_one_function(x):
    graph = assert_agrees(lambda x: torch.sin(x) + na.exp(x), x, gradients=False)
    assert [n.target_name for n in graph.calls] == ["torch.sin", "torch.exp", "torch.add"]
    assert graph.verify().ok


def test_code_over_na_is_recorded(x):
    w = torch.ones(3)
    graph = na.trace_graph(lambda x: w * na.relu(x) + w, x)
    assert [n.target_name for n in graph.calls] == ["na.relu", "na.multiply", "na.add"]
    np.testing.assert_array_equal(host(graph(x)), host(torch.relu(x) + 1))


def test_sizes_of_functions_stay_open(x):
    graph = na.trace_graph(lambda x: torch.sin(x) * x.shape[0], x, dynamic={"x": {0: "n"}})
    more = torch.cat([x, x])
    np.testing.assert_allclose(host(graph(more)), host(torch.sin(more) * 8), rtol=1e-6)


def test_a_method_of_a_module_has_the_modules_variables(x):
    net = Model().train()
    graph = na.trace_graph(net.encode, x, times=3)
    assert graph.v.paths() == ("fc/weight", "fc/bias")
    assert graph.s.paths() == ("shift",)
    assert net.training
    expected = net.fc(x) * 3 + 1
    for backend in BACKENDS:
        got = graph.to_backend(backend)(na.to_backend(x, backend))
        np.testing.assert_allclose(host(got), host(expected), rtol=1e-5, atol=1e-6)
    assert na.trace_graph(net.encode, x, train=False).needs_key is False


def test_modules_that_a_function_uses_by_name_are_its_layers(x):
    torch.manual_seed(0)
    net, weight = Model(), torch.arange(3.0)
    parameters = {f"net/{k.replace('.', '/')}": p for k, p in net.named_parameters()}
    net.eval()
    graph = assert_agrees(lambda x: torch.relu(net(x)) * weight, x, parameters=parameters)
    assert graph.v.paths() == ("net/fc/weight", "net/fc/bias")
    assert len(graph.constants.leaves()) == 1


def test_a_module_that_cannot_be_seen_is_refused(x):
    net = nn.Linear(3, 3)

    def inner(x):
        return net(x)

    def outer(x):
        return inner(x) * 2

    with pytest.raises(
        errors.ConversionError,
        match=r"outer calls a Linear that is no part of it, so its parameters would be constants; "
        r"make it an attribute of a torch\.nn\.Module, and trace that or a method of it",
    ):
        na.trace_graph(outer, x)
    assert net(x).shape == (4, 3)  # nothing is left behind


def test_arrays_of_other_frameworks_are_not_for_torch(x):
    with pytest.raises(errors.ConversionError, match="a function of another library was called"):
        na.trace_graph(lambda x: torch.sin(x), x.numpy())
    with pytest.raises(AttributeError, match=r"array .*has no attribute 'unfold'"):
        na.trace_graph(lambda x: x.unfold(0, 2, 1), x.numpy())
    with pytest.raises(errors.ArgumentError, match="train=True is for modules"):
        na.trace_graph(torch.sin, x, train=True)
    with pytest.raises(errors.ConversionError, match="expected names for the open sizes of code"):
        na.trace_graph(na.exp, x.numpy(), dynamic=True)


def test_distributions_of_torch_whose_arguments_it_would_check(x, monkeypatch):
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)

    def draw(x):
        normal = torch.distributions.Normal(x, 2.0)
        category = torch.distributions.Categorical(logits=x)
        return normal.log_prob(x + 1), category.entropy(), normal.rsample()

    graph = na.trace_graph(draw, x)
    assert torch.distributions.Distribution._validate_args  # torch is restored
    key = na.random.key(0, backend="torch")
    log_prob, entropy, drawn = graph(x, key=key)
    normal = torch.distributions.Normal(x, 2.0)
    np.testing.assert_allclose(host(log_prob), host(normal.log_prob(x + 1)), rtol=1e-6)
    want = torch.distributions.Categorical(logits=x).entropy()
    np.testing.assert_allclose(host(entropy), host(want), rtol=1e-6)
    assert not np.array_equal(host(drawn), host(x))
    graph.to_backend("numpy").verify().raise_if_failed()


def test_spectra_are_padded_once():
    signal, window = torch.linspace(-1, 1, 12), torch.hann_window(4)

    def spectrum(x):
        return torch.stft(x, 4, 2, window=window, return_complex=True).abs()

    graph = na.trace_graph(spectrum, signal).to_backend("numpy")
    np.testing.assert_allclose(host(graph(signal.numpy())), host(spectrum(signal)), atol=1e-6)


def test_a_module_in_two_places_is_one():
    layer = torch.nn.Linear(3, 3)
    net = torch.nn.Sequential(layer, torch.nn.ReLU(), layer)
    graph = na.trace_graph(net, torch.ones(2, 3))
    assert graph.v.paths() == ("0/weight", "0/bias")
    torch.testing.assert_close(graph(torch.ones(2, 3)), net(torch.ones(2, 3)))
    net.load_state_dict(graph.to_torch_state_dict())
