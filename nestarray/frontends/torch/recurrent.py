"""Recurrent networks: the functions below torch.nn.LSTM, GRU and RNN.

The layers are `na.lstm`, `na.gru` and `na.rnn`; this file adds the dropout between them. A packed
sequence is the padded tensor and its `lengths`, `(batch,)`: outputs after the end of a sequence
are zero, and the last states are taken at its end.

Upstream: https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import nestarray as na
from nestarray.frontends.torch.nn.functional.dropout import dropout as _dropout
from nestarray.typing import Array

__all__ = ["gru", "lstm", "rnn_relu", "rnn_tanh"]


def lstm(
    input: Array,
    hx: Sequence[Array],
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    *,
    lengths: Array | None = None,
    key: Array | None = None,
) -> tuple[Array, Array, Array]:
    """A long short-term memory: outputs, last hidden states, last cell states."""
    return _network(
        na.lstm, input, tuple(hx), params, num_layers,
        dropout if train else 0.0, bidirectional, batch_first, lengths, key,
    )  # fmt: skip


def gru(
    input: Array,
    hx: Array,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    *,
    lengths: Array | None = None,
    key: Array | None = None,
) -> tuple[Array, Array]:
    """Gated recurrent units: outputs, last hidden states."""
    return _network(
        na.gru, input, (hx,), params, num_layers,
        dropout if train else 0.0, bidirectional, batch_first, lengths, key,
    )  # fmt: skip


def rnn_tanh(
    input: Array,
    hx: Array,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    *,
    lengths: Array | None = None,
    key: Array | None = None,
) -> tuple[Array, Array]:
    """A plain recurrent network with tanh: outputs, last hidden states."""
    return _network(
        na.rnn, input, (hx,), params, num_layers,
        dropout if train else 0.0, bidirectional, batch_first, lengths, key,
    )  # fmt: skip


def rnn_relu(
    input: Array,
    hx: Array,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    *,
    lengths: Array | None = None,
    key: Array | None = None,
) -> tuple[Array, Array]:
    """A plain recurrent network with relu: outputs, last hidden states."""
    return _network(
        partial(na.rnn, nonlinearity="relu"), input, (hx,), params, num_layers,
        dropout if train else 0.0, bidirectional, batch_first, lengths, key,
    )  # fmt: skip


def _network(
    op: Callable[..., tuple[Array, ...]],
    x: Array,
    states: tuple[Array, ...],
    params: Sequence[Array],
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    batch_first: bool,
    lengths: Array | None,
    key: Array | None,
) -> Any:
    """Run all layers in one call, or one by one if dropout follows each."""
    run = partial(op, bidirectional=bidirectional, batch_first=batch_first)
    if not dropout or num_layers == 1:
        return run(x, params, *states, lengths, num_layers=num_layers)
    each = len(params) // num_layers
    directions = 2 if bidirectional else 1
    ends = []
    for layer in range(num_layers):
        if layer:
            x = _dropout(x, dropout, key=None if key is None else na.random.fold_in(key, layer))
        start = [s[layer * directions : (layer + 1) * directions] for s in states]
        x, *end = run(x, params[layer * each : (layer + 1) * each], *start, lengths)
        ends.append(end)
    return x, *(na.concat(parts, axis=0) for parts in zip(*ends))
