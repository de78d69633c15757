"""Recurrent networks: the functions below torch.nn.LSTM, GRU and RNN.

The steps are unrolled: a sequence is as long as its array.

Upstream: https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray.frontends.torch.dims import ndim_of, shape_of
from nestarray.frontends.torch.nn.functional.dropout import dropout as _dropout
from nestarray.typing import Array

#: From the gates of the input, the hidden state and its weights: the new hidden state.
_Cell = Callable[..., tuple[Array, ...]]


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
    key: Array | None = None,
) -> tuple[Array, Array, Array]:
    """A long short-term memory: outputs, last hidden states, last cell states."""
    return _network(
        _lstm_cell, input, tuple(hx), params, has_biases, num_layers,
        dropout if train else 0.0, bidirectional, batch_first, key,
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
    key: Array | None = None,
) -> tuple[Array, Array]:
    """Gated recurrent units: outputs, last hidden states."""
    return _network(
        _gru_cell, input, (hx,), params, has_biases, num_layers,
        dropout if train else 0.0, bidirectional, batch_first, key,
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
    key: Array | None = None,
) -> tuple[Array, Array]:
    """A plain recurrent network with tanh: outputs, last hidden states."""
    return _network(
        _plain_cell(na.tanh), input, (hx,), params, has_biases, num_layers,
        dropout if train else 0.0, bidirectional, batch_first, key,
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
    key: Array | None = None,
) -> tuple[Array, Array]:
    """A plain recurrent network with relu: outputs, last hidden states."""
    return _network(
        _plain_cell(na.relu), input, (hx,), params, has_biases, num_layers,
        dropout if train else 0.0, bidirectional, batch_first, key,
    )  # fmt: skip


# -- cells ---------------------------------------------------------------------------------


def _lstm_cell(x: Array, state: tuple[Array, ...], weight: Array, bias: Array | None) -> Any:
    hidden, cell = state
    gates = na.add(x, na.linear(hidden, weight, bias))
    into, forget, candidate, out = na.split(gates, shape_of(gates)[-1] // 4, axis=-1)
    cell = na.add(
        na.multiply(na.sigmoid(forget), cell), na.multiply(na.sigmoid(into), na.tanh(candidate))
    )
    return na.multiply(na.sigmoid(out), na.tanh(cell)), cell


def _gru_cell(x: Array, state: tuple[Array, ...], weight: Array, bias: Array | None) -> Any:
    (hidden,) = state
    recurrent = na.linear(hidden, weight, bias)
    size = shape_of(recurrent)[-1] // 3
    x_reset, x_update, x_new = na.split(x, size, axis=-1)
    h_reset, h_update, h_new = na.split(recurrent, size, axis=-1)
    reset = na.sigmoid(na.add(x_reset, h_reset))
    update = na.sigmoid(na.add(x_update, h_update))
    new = na.tanh(na.add(x_new, na.multiply(reset, h_new)))
    return (na.add(new, na.multiply(update, na.subtract(hidden, new))),)


def _plain_cell(activation: Callable[[Array], Array]) -> _Cell:
    def cell(x: Array, state: tuple[Array, ...], weight: Array, bias: Array | None) -> Any:
        (hidden,) = state
        return (activation(na.add(x, na.linear(hidden, weight, bias))),)

    return cell


# -- layers --------------------------------------------------------------------------------


def _network(
    cell: _Cell,
    x: Array,
    states: tuple[Array, ...],
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    batch_first: bool,
    key: Array | None,
) -> Any:
    """All layers and directions; `states` are `(layers · directions, batch, size)`."""
    unbatched = ndim_of(x) == 2
    if unbatched:
        x = na.expand_dims(x, axis=1)
        states = tuple(na.expand_dims(s, axis=1) for s in states)
    elif batch_first:
        x = na.swapaxes(x, 0, 1)
    directions = 2 if bidirectional else 1
    each = len(params) // (num_layers * directions)
    starts = [na.unstack(s, axis=0) for s in states]
    last: list[tuple[Array, ...]] = []
    for layer in range(num_layers):
        if layer and dropout:
            layer_key = None if key is None else na.random.fold_in(key, layer)
            x = _dropout(x, dropout, key=layer_key)
        outputs = []
        for direction in range(directions):
            place = layer * directions + direction
            weights = params[place * each : (place + 1) * each]
            start = tuple(s[place] for s in starts)
            out, end = _layer(cell, x, start, weights, has_biases, reverse=direction == 1)
            outputs.append(out)
            last.append(end)
        x = outputs[0] if directions == 1 else na.concat(outputs, axis=-1)
    ends = tuple(na.stack(parts, axis=0) for parts in zip(*last))
    if unbatched:
        return na.squeeze(x, axis=1), *(na.squeeze(e, axis=1) for e in ends)
    return na.swapaxes(x, 0, 1) if batch_first else x, *ends


def _layer(
    cell: _Cell,
    x: Array,
    state: tuple[Array, ...],
    weights: Sequence[Array],
    has_biases: bool,
    *,
    reverse: bool,
) -> tuple[Array, tuple[Array, ...]]:
    w_input, w_hidden = weights[0], weights[1]
    b_input, b_hidden = (weights[2], weights[3]) if has_biases else (None, None)
    projection = weights[-1] if len(weights) in (3, 5) else None
    steps = na.unstack(na.linear(x, w_input, b_input), axis=0)
    outputs = []
    for step in reversed(steps) if reverse else steps:
        state = cell(step, state, w_hidden, b_hidden)
        if projection is not None:
            state = (na.linear(state[0], projection), *state[1:])
        outputs.append(state[0])
    return na.stack(outputs[::-1] if reverse else outputs, axis=0), state
