"""Layers with special rules: recurrent ones, attention, bags, parametrizations; dtypes."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune

import nestarray as na
from nestarray import errors
from tests.graph.agreement import BACKENDS, assert_agrees, host

STEPS = torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(0))
TOKENS = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1))
ROWS = STEPS[0]

RECURRENT = {
    "rnn": (nn.RNN(3, 4, nonlinearity="relu"), STEPS),
    "lstm": (nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True, dropout=0.5), STEPS),
    "gru": (nn.GRU(3, 4, bidirectional=True), STEPS, torch.zeros(2, 2, 4)),
    "projected": (nn.LSTM(3, 4, proj_size=2, bias=False), STEPS),
    "unbatched": (nn.GRU(3, 4), STEPS[:, 0]),
    "state": (nn.LSTM(3, 4), STEPS, (torch.ones(1, 2, 4), torch.ones(1, 2, 4))),
    "lstm cell": (nn.LSTMCell(3, 4), ROWS),
    "gru cell": (nn.GRUCell(3, 4), ROWS),
}

_ENCODER = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
_PADDING = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])

ATTENTION = {
    "encoder": (nn.TransformerEncoder(_ENCODER, 2), TOKENS, None, _PADDING),
    "decoder": (nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 1), TOKENS, TOKENS),
    "attention": (
        nn.MultiheadAttention(8, 2, kdim=4, vdim=6),
        TOKENS,
        TOKENS[..., :4],
        TOKENS[..., :6],
    ),
}

BAGS = {
    "mean": (nn.EmbeddingBag(10, 3), torch.tensor([[1, 2, 2], [4, 9, 0]])),
    "sum": (nn.EmbeddingBag(10, 3, mode="sum"), torch.arange(7), torch.tensor([0, 3, 5])),
    "max": (nn.EmbeddingBag(10, 3, mode="max"), torch.tensor([[1, 2, 2], [4, 9, 0]])),
    "by frequency": (
        nn.EmbeddingBag(10, 3, scale_grad_by_freq=True),
        torch.tensor([[1, 2, 2], [4, 4, 1]]),
    ),
    "rows by frequency": (
        nn.Embedding(10, 3, padding_idx=4, scale_grad_by_freq=True),
        torch.tensor([[1, 2, 2], [4, 4, 9]]),
    ),
}


def _pruned() -> nn.Module:
    layer = nn.Linear(3, 3)
    prune.random_unstructured(layer, "weight", 0.3)
    return layer


PARAMETRIZED = {
    "weight norm": (parametrizations.weight_norm(nn.Linear(3, 3)), ROWS),
    "spectral norm": (parametrizations.spectral_norm(nn.Linear(3, 3)), ROWS),
    "orthogonal": (parametrizations.orthogonal(nn.Linear(3, 3)), ROWS),
    "pruned": (_pruned(), ROWS),
}

LAYERS = RECURRENT | ATTENTION | BAGS | PARAMETRIZED
FAST = {"rnn", "gru cell", "mean", "weight norm"}


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
@pytest.mark.parametrize(
    "name", [n if n in FAST else pytest.param(n, marks=pytest.mark.full) for n in LAYERS]
)
def test_layers_agree(name):
    net, *args = LAYERS[name]
    assert_agrees(net, *args, rtol=1e-4 if name in ATTENTION else 1e-5)


@pytest.mark.parametrize(
    "net", [nn.RReLU(), nn.Dropout(), nn.AlphaDropout(), nn.GRU(3, 3, 2, dropout=0.5)], ids=repr
)
def test_random_layers_need_a_key_in_training_only(net):
    assert not na.trace_graph(net, ROWS).needs_key
    assert na.trace_graph(net, ROWS, train=True).needs_key


@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
def test_rows_that_are_shortened_when_they_are_read(kind):
    torch.manual_seed(0)
    net, rows = kind(5, 3, max_norm=1.0, norm_type=1.0), torch.tensor([[0, 1], [1, 4]])
    graph = na.trace_graph(copy.deepcopy(net), rows).to_backend("numpy")
    assert graph.verify().ok
    found = net(rows)
    np.testing.assert_allclose(graph(rows.numpy()), found.detach(), rtol=1e-5, atol=1e-6)
    found.square().sum().backward()
    grads = na.grad(lambda v: na.sum(na.square(graph(rows.numpy(), v=v))))(graph.v)
    np.testing.assert_allclose(grads.weight, net.weight.grad, rtol=1e-5, atol=1e-6)
    _, s = na.trace_graph(copy.deepcopy(kind(5, 3, max_norm=1.0)), rows, train=True)(rows)
    assert s.paths() == ("weight",)
    net.weight.requires_grad_(False)
    assert na.trace_graph(net, rows, train=True).verify(gradients=False).ok


def test_gradients_of_bags_are_divided_by_how_often_an_index_occurs():
    net = nn.EmbeddingBag(4, 2, mode="sum", scale_grad_by_freq=True)
    indices, starts = torch.tensor([2, 2, 2, 1, 0, 1]), torch.tensor([0, 2])
    graph = na.trace_graph(net, indices, starts).to_backend("numpy")
    assert graph.verify().ok
    grads = na.grad(lambda v: na.sum(graph(indices.numpy(), starts.numpy(), v=v)))(graph.v)
    np.testing.assert_allclose(host(grads.weight), [[1, 1], [1, 1], [1, 1], [0, 0]])


# -- dtypes ---------------------------------------------------------------------------------


class Quantized(nn.Module):
    """Eight-bit weights with a scale for each row."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(-4, 5, dtype=torch.int8).view(3, 3), False)
        self.register_buffer("scale", torch.tensor([0.5, 0.1, 2.0]))
        self.bias = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x @ (self.weight.float() * self.scale).t() + self.bias


class Complex(nn.Module):
    """A complex matrix, and real outputs."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(3, 3, dtype=torch.complex64))

    def forward(self, x):
        y = x @ self.weight
        return y.abs(), torch.view_as_real(y * y.conj()), y.conj().imag


class Autocast(nn.Module):
    """A layer in bfloat16 between others in float32."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(3, 3)
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.softmax(self.fc(x), -1)
        return self.norm(y.float())


def test_eight_bit_weights():
    graph = assert_agrees(Quantized(), ROWS)
    assert graph.to_backend("jax").v["weight"].dtype == np.int8
    assert graph.verify().ok


def test_complex_weights():
    graph = assert_agrees(Complex(), ROWS.to(torch.complex64))
    report = graph.to_backend("jax").verify()
    assert report.ok
    assert report.gradients


def test_autocast():
    graph = assert_agrees(Autocast(), ROWS, rtol=5e-3)
    assert any("bfloat16" in str(n.aval) for n in graph.calls)
    report = graph.to_backend("jax").verify(nodes=True)
    assert report.ok
    assert {c.tolerance for c in report.nodes} == {5e-2}
    assert {c.tolerance for c in report.gradients} == {1e-1}


@pytest.mark.parametrize(
    ("dtype", "rtol", "backends"),
    [
        (torch.float16, 2e-3, BACKENDS),
        (torch.bfloat16, 8e-3, ("jax", "torch", "tensorflow")),
        (torch.float64, 1e-12, ("numpy", "torch", "tensorflow")),
    ],
)
def test_other_precisions(dtype, rtol, backends):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).to(dtype)
    graph = assert_agrees(net, ROWS.to(dtype), rtol=rtol, backends=backends)
    assert graph.to_backend(backends[0]).verify().ok
    assert graph.verify(rtol=1e-6, gradient_rtol=1e-3).outputs[0].tolerance == 1e-6


# -- random numbers, values, sequences ------------------------------------------------------


def test_what_is_random_in_evaluation_takes_a_key():
    class Noisy(nn.Module):
        def forward(self, x):
            return x + nn.functional.dropout(x, 0.5, True)

    graph = na.trace_graph(Noisy(), ROWS).to_backend("numpy")
    with pytest.raises(
        errors.ArgumentError, match=r"draws random numbers: pass key=na\.random\.key"
    ):
        graph(ROWS.numpy())
    out = graph(ROWS.numpy(), key=na.random.key(0, backend="numpy"))
    assert out.shape == ROWS.shape
    module = na.to_module(Noisy(), ROWS).to_backend("numpy")
    assert module(ROWS.numpy(), key=na.random.key(0, backend="numpy")).shape == ROWS.shape


def test_draws_of_numpy_and_python_are_constants_with_a_warning():
    class Masks(nn.Module):
        def forward(self, x):
            kept = np.random.rand(3) < 0.5
            return x * torch.as_tensor(kept) * random.choice([1.0, 2.0])

    text = (
        r"trace_graph: Masks draws random numbers by NumPy and Python's random while it is traced; "
        r"they are constants of the graph, the same in every call\. Pass what is drawn as an "
        r"argument \(a speech model's mask_time_indices\), draw it with torch, or switch it off "
        r"\(config\.apply_spec_augment = False\)$"
    )
    with pytest.warns(UserWarning, match=text) as caught:
        na.trace_graph(Masks(), ROWS)
    assert caught[0].filename == __file__


def test_nothing_has_a_gradient():
    class Frozen(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 3)

        @torch.no_grad()
        def forward(self, x):
            return self.fc(x)

    report = na.trace_graph(Frozen(), ROWS).to_backend("jax").verify()
    assert report.ok
    assert report.gradient_error == 0


def test_values_of_tensors_in_arithmetic_stay_in_the_program():
    class Scaled(nn.Module):
        def forward(self, x):
            return x * x.sum().item()

    graph = na.trace_graph(Scaled(), ROWS).to_backend("jax")
    other = ROWS + 1
    got = graph(na.to_backend(other, "jax"))
    np.testing.assert_allclose(host(got), host(other * other.sum()), rtol=1e-5)
