"""Rows of `nestarray.nn.recurrent` and `nestarray.nn.recurrent_cells`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn


class Projected(torch.nn.LSTM):
    """torch's layer without oneDNN, which warns that it has no projections."""

    def forward(self, x: Any) -> Any:
        with torch.backends.mkldnn.flags(enabled=False):
            return super().forward(x)


class Packed(torch.nn.Module):
    """torch's layer on packed sequences."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any, lengths: Any) -> Any:
        packed = T.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False)
        out, state = self.layer(packed)
        return T.utils.rnn.pad_packed_sequence(out, True, total_length=x.shape[1])[0], state


class WithLengths(nn.Module):
    """Ours under the same name."""

    def __init__(self, layer: nn.Module) -> None:
        self.layer = layer

    def forward(self, x: Any, lengths: Any) -> Any:
        return self.layer(x, lengths=lengths)


def sequences(rng: np.random.Generator) -> tuple[Any, ...]:
    """Three sequences of different lengths."""
    return rng.normal(size=(3, 4, 2)).astype(np.float32), np.asarray([2, 4, 1])


class Continued(torch.nn.Module):
    """torch's layer with an initial state, (layers · directions, batch, hidden)."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any, *state: Any) -> Any:
        return self.layer(x, state if len(state) > 1 else state[0])


class OurContinued(nn.Module):
    """Ours under the same name."""

    def __init__(self, layer: nn.Module) -> None:
        self.layer = layer

    def forward(self, x: Any, *state: Any) -> Any:
        return self.layer(x, state if len(state) > 1 else state[0])


ROWS = [
    Row("RNN", lambda: nn.RNN(2, 3), lambda: T.RNN(2, 3), ((4, 2, 2),)),
    Row(
        "RNN relu",
        lambda: nn.RNN(2, 3, 2, "relu", False, True),
        lambda: T.RNN(2, 3, 2, "relu", False, True),
        ((2, 4, 2),),
        has_kinks=True,
    ),
    Row(
        "GRU",
        lambda: nn.GRU(2, 3, 2, bidirectional=True, batch_first=True),
        lambda: T.GRU(2, 3, 2, bidirectional=True, batch_first=True),
        ((2, 4, 2),),
    ),
    Row(
        "GRU packed",
        lambda: WithLengths(nn.GRU(2, 3, 2, True, True, 0.0, True)),
        lambda: Packed(T.GRU(2, 3, 2, True, True, 0.0, True)),
        inputs=sequences,
    ),
    Row("GRU unbatched", lambda: nn.GRU(2, 3, 1, False), lambda: T.GRU(2, 3, 1, False), ((4, 2),)),
    Row("LSTM", lambda: nn.LSTM(2, 3), lambda: T.LSTM(2, 3), ((4, 2, 2),)),
    Row(
        "LSTM projected",
        lambda: nn.LSTM(2, 4, 2, True, True, 0.0, True, 3),
        lambda: Projected(2, 4, 2, True, True, 0.0, True, 3),
        ((2, 3, 2),),
    ),
    Row(
        "LSTM dropout",
        lambda: nn.LSTM(2, 3, 2, dropout=0.4),
        lambda: T.LSTM(2, 3, 2, dropout=0.4),
        ((4, 2, 2),),
        draws=True,
    ),
    Row(
        "LSTM packed",
        lambda: WithLengths(nn.LSTM(2, 3, batch_first=True)),
        lambda: Packed(T.LSTM(2, 3, batch_first=True)),
        inputs=sequences,
    ),
    Row(
        "GRU continued",
        lambda: OurContinued(nn.GRU(2, 3)),
        lambda: Continued(T.GRU(2, 3)),
        ((4, 2, 2), (1, 2, 3)),
    ),
    Row(
        "LSTM continued",
        lambda: OurContinued(nn.LSTM(2, 3)),
        lambda: Continued(T.LSTM(2, 3)),
        ((4, 2, 2), (1, 2, 3), (1, 2, 3)),
    ),
    Row("RNNCell", lambda: nn.RNNCell(2, 3), lambda: T.RNNCell(2, 3), ((4, 2),)),
    Row(
        "RNNCell relu",
        lambda: nn.RNNCell(2, 3, False, "relu"),
        lambda: T.RNNCell(2, 3, False, "relu"),
        ((4, 2), (4, 3)),
        has_kinks=True,
    ),
    Row("GRUCell", lambda: nn.GRUCell(2, 3), lambda: T.GRUCell(2, 3), ((4, 2),)),
    Row(
        "GRUCell continued",
        lambda: nn.GRUCell(2, 3, False),
        lambda: T.GRUCell(2, 3, False),
        ((2,), (3,)),
    ),
    Row("LSTMCell", lambda: nn.LSTMCell(2, 3), lambda: T.LSTMCell(2, 3), ((4, 2),)),
    Row(
        "LSTMCell continued",
        lambda: OurContinued(nn.LSTMCell(2, 3, False)),
        lambda: Continued(T.LSTMCell(2, 3, False)),
        ((4, 2), (4, 3), (4, 3)),
    ),
]
