"""PyTorch: `nestarray.ops.recurrent`, by the loops of `torch.nn` on the CPU.

These have derivatives of all orders, but no rules for vmap and forward mode, and a compiler unrolls
them. cuDNN's have no second derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.backends.torch.derivatives import is_observed

_DTYPES = (torch.float32, torch.float64)


def _is_native(
    gates: int,
    x: Any,
    weights: Sequence[Any],
    states: Sequence[Any],
    lengths: Any = None,
    *,
    num_layers: int = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
) -> bool:
    """Whether x has a batch of equal lengths, and the shapes of the arrays agree."""
    arrays = [x, *weights, *(state for state in states if state is not None)]
    if lengths is not None or x.ndim != 3 or len(weights) < 2 or is_observed():
        return False
    if any(a.dtype is not x.dtype or a.dtype not in _DTYPES or not a.is_cpu for a in arrays):
        return False
    directions = 2 if bidirectional else 1
    rows, hidden = gates * weights[1].shape[-1], weights[1].shape[-1]
    biases = [(rows,), (rows,)] if weights[-1].ndim == 1 else []
    shapes: list[tuple[int, ...]] = []
    for layer in range(num_layers):
        features = hidden * directions if layer else x.shape[2]
        shapes += [(rows, features), (rows, hidden), *biases] * directions
    start = (num_layers * directions, x.shape[0 if batch_first else 1], hidden)
    return [tuple(w.shape) for w in weights] == shapes and all(
        state is None or tuple(state.shape) == start for state in states
    )


def _run(
    network: Any,
    x: Any,
    weights: Sequence[Any],
    states: Sequence[Any],
    *,
    num_layers: int = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
) -> Any:
    batch = x.shape[0 if batch_first else 1]
    shape = (num_layers * (2 if bidirectional else 1), batch, weights[1].shape[-1])
    starts = [x.new_zeros(shape) if state is None else state for state in states]
    return network(
        x,
        starts[0] if len(starts) == 1 else starts,
        list(weights),
        weights[-1].ndim == 1,  # biases
        num_layers,
        0.0,  # dropout
        True,  # training
        bidirectional,
        batch_first,
    )


@supports(
    lambda x, weights, h0=None, lengths=None, *, nonlinearity="tanh", **settings: (
        nonlinearity in ("tanh", "relu") and _is_native(1, x, weights, (h0,), lengths, **settings)
    )
)
def rnn(
    x: Any,
    weights: Sequence[Any],
    h0: Any = None,
    lengths: Any = None,
    /,
    *,
    num_layers: int = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
    nonlinearity: str = "tanh",
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.RNN.html"""
    return _run(
        torch.rnn_tanh if nonlinearity == "tanh" else torch.rnn_relu, x, weights, (h0,),
        num_layers=num_layers, bidirectional=bidirectional, batch_first=batch_first,
    )  # fmt: skip


@supports(
    lambda x, weights, h0=None, lengths=None, **settings: _is_native(
        3, x, weights, (h0,), lengths, **settings
    )
)
def gru(
    x: Any,
    weights: Sequence[Any],
    h0: Any = None,
    lengths: Any = None,
    /,
    *,
    num_layers: int = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html"""
    return _run(
        torch.gru, x, weights, (h0,),
        num_layers=num_layers, bidirectional=bidirectional, batch_first=batch_first,
    )  # fmt: skip


@supports(
    lambda x, weights, h0=None, c0=None, lengths=None, **settings: _is_native(
        4, x, weights, (h0, c0), lengths, **settings
    )
)
def lstm(
    x: Any,
    weights: Sequence[Any],
    h0: Any = None,
    c0: Any = None,
    lengths: Any = None,
    /,
    *,
    num_layers: int = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html"""
    return _run(
        torch.lstm, x, weights, (h0, c0),
        num_layers=num_layers, bidirectional=bidirectional, batch_first=batch_first,
    )  # fmt: skip
