"""Recurrent networks over packed sequences, and over sequences of an open number of steps."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import rnn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import BACKENDS, assert_agrees, host

STEPS = torch.randn(3, 5, 2, generator=torch.Generator().manual_seed(0))
LENGTHS = torch.tensor([3, 5, 1])


class Packing(nn.Module):
    """Pack, run a network from given first states, pad."""

    def __init__(self, kind, batch_first=True, is_sorted=False, **settings) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.net = getattr(nn, kind)(2, 4, batch_first=batch_first, **settings)
        self.is_sorted = is_sorted

    def forward(self, x, lengths):
        first = self.net.batch_first
        packed = rnn.pack_padded_sequence(x, lengths, first, self.is_sorted)
        h = torch.arange(x.shape[0 if first else 1], device=x.device).to(x.dtype).view(1, -1, 1)
        h = h.expand(self.net.num_layers * (1 + self.net.bidirectional), -1, 4)
        packed, last = self.net(packed, (h, h + 1) if isinstance(self.net, nn.LSTM) else h)
        total = x.shape[1 if first else 0]
        outputs, lengths = rnn.pad_packed_sequence(packed, first, 0.5, total_length=total)
        return outputs, lengths, last


NETWORKS = {
    "gru": (Packing("GRU", bidirectional=True), STEPS, LENGTHS),
    "lstm": (Packing("LSTM", num_layers=2, bidirectional=True), STEPS, LENGTHS),
    "rnn": (Packing("RNN", batch_first=False, is_sorted=True), STEPS.transpose(0, 1), [5, 2, 1]),
}


@pytest.mark.release("name")
@pytest.mark.parametrize(
    ("name", "backends"),
    [
        ("gru", ("numpy", "torch")),
        *(pytest.param(name, BACKENDS, marks=pytest.mark.full) for name in NETWORKS),
    ],
)
def test_packed_sequences(name, backends):
    net, x, lengths = NETWORKS[name]
    graph = assert_agrees(net, x, lengths, backends=backends)
    names = [call.target_name for call in graph.calls]
    assert len([n for n in names if n in ("torch.gru", "torch.lstm", "torch.rnn_tanh")]) == 1
    assert graph.verify().ok


def test_packed_sequences_of_all_sizes_and_lengths():
    net = Packing("LSTM").eval()
    open_sizes = {"x": {0: "batch", 1: "steps"}, "lengths": {0: "batch"}}
    graph = na.trace_graph(net, STEPS, LENGTHS, dynamic=open_sizes).to_backend("numpy")
    for shape, lengths in (((3, 5, 2), [1, 4, 5]), ((2, 7, 2), [7, 3])):
        x, ends = torch.randn(shape), torch.tensor(lengths)
        got, want = graph(x.numpy(), ends.numpy()), net(x, ends)
        np.testing.assert_allclose(got[0], host(want[0]), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(got[1], host(want[1]))
        np.testing.assert_allclose(got[2][1], host(want[2][1]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "backend", ["numpy", *(pytest.param(b, marks=pytest.mark.full) for b in BACKENDS[1:])]
)
def test_an_open_number_of_steps(backend):
    class Stack(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.lstm = nn.LSTM(2, 4, 2, batch_first=True, bidirectional=True)
            self.gru, self.rnn = nn.GRU(8, 3, batch_first=True), nn.RNN(3, 2, batch_first=True)

        def forward(self, x):
            return self.rnn(self.gru(self.lstm(x)[0])[0])

    net = Stack().eval()
    graph = na.trace_graph(net, STEPS, dynamic={"x": {0: "batch", 1: "steps"}}).to_backend(backend)
    assert len(graph.calls) < 20  # none for each step
    for shape in ((3, 5, 2), (2, 7, 2)):
        x = torch.randn(shape)
        for got, want in zip(graph(na.to_backend(x, backend)), net(x), strict=True):
            np.testing.assert_allclose(host(got), host(want), rtol=1e-5, atol=1e-6)
    graph.verify().raise_if_failed()


def test_what_is_done_to_each_row_of_packed_data():
    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embed, self.norm = nn.Embedding(9, 4), nn.LayerNorm(4)
            self.gru, self.drop = nn.GRU(4, 3), nn.Dropout()

        def forward(self, tokens):
            packed = rnn.pack_padded_sequence(tokens, [4, 2])
            data = torch.tanh(self.norm(self.drop(self.embed(packed.data))))
            _, last = self.gru(rnn.PackedSequence(data, packed.batch_sizes))
            return last

    assert_agrees(Words(), torch.arange(8).view(4, 2), backends=("numpy", "torch"))


@pytest.mark.parametrize(
    "backends", [("numpy", "torch"), pytest.param(BACKENDS, marks=pytest.mark.full)]
)
def test_as_many_steps_as_the_longest_sequence_has(backends):
    class Padding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.gru, self.fc = nn.GRU(2, 3, batch_first=True), nn.Linear(3, 2)

        def forward(self, x, lengths):
            packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            outputs, lengths = rnn.pad_packed_sequence(self.gru(packed)[0], batch_first=True)
            return self.fc(outputs), lengths

    net = Padding()
    graph = assert_agrees(net, STEPS, torch.tensor([3, 2, 1]), backends=backends)
    assert graph.verify().ok
    for lengths in ([1, 5, 2], [2, 4, 4]):
        want = net(STEPS, torch.tensor(lengths))
        for backend in backends:
            given = (na.to_backend(x, backend) for x in (STEPS, torch.tensor(lengths)))
            for a, b in zip(graph.to_backend(backend)(*given), want, strict=True):
                assert tuple(a.shape) == tuple(b.shape)
                np.testing.assert_allclose(host(a), host(b), rtol=1e-5, atol=1e-6)
    graph = assert_agrees(net, STEPS, [3, 2, 1], backends=backends)
    assert graph.sized_by_values is None  # lengths of the program's own are known


_PAD = r"pad it first: pad_packed_sequence\(packed, total_length=x\.shape\[1\]\)$"


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (
            lambda packed: torch.mean(packed.data),
            rf"trace_graph: mean of packed\.data: the shape of packed data depends on the lengths; {_PAD}",
        ),
        (lambda packed: packed.data.shape, rf"trace_graph: packed\.data\.shape: .* {_PAD}"),
        (lambda packed: packed.data.size(0), rf"trace_graph: packed\.data\.size\(0\): .* {_PAD}"),
        (lambda packed: packed.batch_sizes[1], rf"packed\.batch_sizes\[1\]: .* {_PAD}"),
        (lambda packed: packed.batch_sizes.sum(), rf"packed\.batch_sizes\.sum: .* {_PAD}"),
        (lambda packed: packed, rf"trace_graph: a PackedSequence is returned: .* {_PAD}"),
    ],
)
def test_what_depends_on_the_lengths_is_refused(use, text):
    class Packs(nn.Module):
        def forward(self, x):
            return use(rnn.pack_padded_sequence(x, [3, 2], batch_first=True))

    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(Packs(), STEPS[:2])
    lstm = torch._VF.lstm
    assert lstm is torch._C._VariableFunctions.lstm  # torch is restored


def test_a_packed_argument_is_refused():
    packed = rnn.pack_padded_sequence(STEPS, [3, 2, 1], batch_first=True)
    text = (
        r"trace_graph: a LSTM is called with a PackedSequence, whose shapes depend on values; give "
        r"it the padded tensor and the lengths, and pack them in forward with pack_padded_sequence"
    )
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(nn.LSTM(2, 4), packed)


class Reader(nn.Module):
    """A layer and its CTC loss."""

    def __init__(self, reduction="mean") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.loss = nn.Linear(2, 4), nn.CTCLoss(reduction=reduction, zero_infinity=True)

    def forward(self, x, targets, steps, lengths):
        return self.loss(self.fc(x).log_softmax(-1), targets, steps, lengths)


@pytest.mark.parametrize(
    ("reduction", "backends"),
    [
        ("none", ("numpy", "torch")),
        *(pytest.param(r, BACKENDS, marks=pytest.mark.full) for r in ("none", "sum", "mean")),
    ],
)
def test_the_ctc_loss(reduction, backends):
    targets = torch.tensor([[1, 2], [3, 3], [2, 1]])
    x, steps, lengths = STEPS.transpose(0, 1), torch.tensor([5, 5, 3]), torch.tensor([2, 1, 2])
    graph = assert_agrees(Reader(reduction), x, targets, steps, lengths, backends=backends)
    assert graph.verify().ok
    assert_agrees(Reader(reduction), x, targets, (5, 5, 3), (2, 1, 2), backends=backends)
