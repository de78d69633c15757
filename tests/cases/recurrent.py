"""Cases of `nestarray.ops.recurrent`; the oracles are torch.nn.RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn.utils import rnn as packing

from tests.cases import Case

Rng = np.random.Generator
LENGTH, BATCH, IN, HIDDEN = 3, 2, 2, 3


def network(
    gates: int,
    *,
    layers: int = 1,
    directions: int = 1,
    bias: bool = True,
    out: int = HIDDEN,
    lead: tuple[int, ...] = (LENGTH, BATCH),
    states: int = 0,
    lengths: list[int] | None = None,
) -> Callable[[Rng], tuple[Any, ...]]:
    """x, the weights, and where asked for the first states and the lengths."""

    def draw(rng: Rng) -> tuple[Any, ...]:
        weights = []
        for layer in range(layers):
            size = IN if layer == 0 else directions * out
            for _ in range(directions):
                weights += [rng.normal(size=(gates * HIDDEN, n)) for n in (size, out)]
                weights += [rng.normal(size=gates * HIDDEN) for _ in range(2 * bias)]
                weights += [rng.normal(size=(out, HIDDEN))] * (out != HIDDEN)
        batch = (BATCH,) if len(lead) == 2 else ()
        sizes = (out, HIDDEN)[: states or (2 if gates == 4 else 1)]
        starts = [rng.normal(size=(layers * directions, *batch, n)) for n in sizes]
        if not states:
            starts = [None] * len(sizes)
        tail = [] if lengths is None else [np.asarray(lengths)]
        return (rng.normal(size=(*lead, IN)), weights, *starts, *tail)

    return draw


def by_torch(kind: type[torch.nn.RNNBase], count: int) -> Callable[..., Any]:
    """torch's layer with the case's weights and `count` states."""

    def reference(x: Any, weights: Any, *rest: Any, num_layers: int = 1, **settings: Any) -> Any:
        x = torch.as_tensor(x)
        states = [None if s is None else torch.as_tensor(s) for s in rest[:count]]
        directions = 2 if settings.get("bidirectional") else 1
        each = len(weights) // (num_layers * directions)
        if each % 2:
            settings["proj_size"] = weights[each - 1].shape[0]
        hidden = weights[0].shape[0] // {torch.nn.LSTM: 4, torch.nn.GRU: 3}.get(kind, 1)
        layer = kind(
            x.shape[-1], hidden, num_layers=num_layers, bias=each > 3, dtype=x.dtype, **settings
        )
        for own, value in zip(layer.parameters(), weights, strict=True):
            own.data = torch.as_tensor(value)
        start = None if states[0] is None else states[0] if count == 1 else tuple(states)
        batch_first = bool(settings.get("batch_first"))
        if len(rest) > count:
            x = packing.pack_padded_sequence(
                x, torch.as_tensor(rest[count]), batch_first=batch_first, enforce_sorted=False
            )
        with torch.no_grad():
            out, last = layer(x, start)
        if len(rest) > count:
            out, _ = packing.pad_packed_sequence(out, batch_first, total_length=LENGTH)
        return (out, last) if count == 1 else (out, *last)

    return reference


RNN, GRU = by_torch(torch.nn.RNN, 1), by_torch(torch.nn.GRU, 1)
LSTM = by_torch(torch.nn.LSTM, 2)
WHOLE: dict[str, Any] = {"num_layers": 2, "bidirectional": True, "batch_first": True}
BATCHES = (BATCH, LENGTH)

CASES = [
    Case("rnn", network(1), reference=RNN),
    Case("rnn", network(1, bias=False, lead=(LENGTH,), states=1), reference=RNN, id="line"),
    Case(
        "rnn",
        network(1, layers=2, directions=2, lead=BATCHES, states=1, lengths=[1, 3]),
        {**WHOLE, "nonlinearity": "relu"},
        RNN,
        # a step of the difference rule may cross the corner of relu
        differentiable=False,
        id="whole",
    ),
    Case("gru", network(3), reference=GRU),
    Case(
        "gru",
        network(3, layers=2, directions=2, lead=BATCHES, states=1, lengths=[3, 2]),
        WHOLE,
        GRU,
        id="whole",
    ),
    Case("lstm", network(4), reference=LSTM),
    Case("lstm", network(4, bias=False, lead=(LENGTH,), states=2), reference=LSTM, id="line"),
    Case("lstm", network(4, out=2, states=2), reference=LSTM, id="projection"),
    Case(
        "lstm",
        network(4, layers=2, directions=2, out=2, lead=BATCHES, states=2, lengths=[1, 3]),
        WHOLE,
        LSTM,
        id="whole",
    ),
]
