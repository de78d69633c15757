"""Rows of `nestarray.nn.composition`, `nestarray.nn.repetition` and `nestarray.nn.bidirectional`."""

from __future__ import annotations

from typing import Any

import torch

import nestarray as na
from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn


class Added(torch.nn.Module):
    """x + layer(x)."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        return x + self.layer(x)


class Shortened(torch.nn.Module):
    """shortcut(x) + layer(x)."""

    def __init__(self, layer: Any, shortcut: Any) -> None:
        super().__init__()
        self.layer, self.shortcut = layer, shortcut

    def forward(self, x: Any) -> Any:
        return self.shortcut(x) + self.layer(x)


class Alone(torch.nn.Module):
    """A layer under the name ``layer``, for each time step."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        return torch.stack([self.layer(step) for step in x.unbind(1)], 1)


class Branches(torch.nn.ModuleList):
    """Branches that read the same input."""

    def __init__(self, merge: Any, *layers: Any) -> None:
        super().__init__(layers)
        self.merge = merge

    def forward(self, x: Any) -> Any:
        return self.merge([layer(x) for layer in self], -1)


def block() -> nn.Module:
    """A layer with variables, a state and dropout."""
    return nn.Residual(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm(3), na.tanh, nn.Dropout(0.3)))


ROWS = [
    Row(
        "Sequential",
        lambda: nn.Sequential(nn.Linear(3, 4), na.tanh, nn.Linear(4, 2)),
        lambda: T.Sequential(T.Linear(3, 4), T.Tanh(), T.Linear(4, 2)),
        ((5, 3),),
    ),
    Row(
        "Residual",
        lambda: nn.Residual(nn.Linear(3, 3)),
        lambda: Added(T.Linear(3, 3)),
        ((5, 3),),
    ),
    Row(
        "Residual with a shortcut",
        lambda: nn.Residual(nn.Linear(3, 4), nn.Linear(3, 4, bias=False)),
        lambda: Shortened(T.Linear(3, 4), T.Linear(3, 4, bias=False)),
        ((5, 3),),
    ),
    Row(
        "Parallel concat",
        lambda: nn.Parallel(nn.Linear(3, 4), na.tanh),
        lambda: Branches(torch.concat, T.Linear(3, 4), T.Tanh()),
        ((5, 3),),
    ),
    Row(
        "Parallel sum",
        lambda: nn.Parallel(nn.Linear(3, 4), nn.Linear(3, 4), merge="sum"),
        lambda: Branches(lambda parts, _: parts[0] + parts[1], T.Linear(3, 4), T.Linear(3, 4)),
        ((5, 3),),
    ),
    Row(
        "Parallel stack",
        lambda: nn.Parallel(nn.Linear(3, 4), nn.Linear(3, 4), merge="stack"),
        lambda: Branches(torch.stack, T.Linear(3, 4), T.Linear(3, 4)),
        ((5, 3),),
    ),
    Row(
        "Remat",
        lambda: nn.Remat(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm(4), na.tanh, nn.Dropout())),
        None,
        ((5, 3),),
        draws=True,
    ),
    Row(
        "TimeDistributed",
        lambda: nn.TimeDistributed(nn.Linear(3, 2)),
        lambda: Alone(T.Linear(3, 2)),
        ((2, 4, 3),),
    ),
    Row("Repeat", lambda: nn.Repeat(block(), 3), None, ((4, 3),), draws=True),
    Row("Repeat remat", lambda: nn.Repeat(nn.Remat(nn.Linear(3, 3)), 2), None, ((4, 3),)),
    Row(
        "Bidirectional",
        lambda: nn.Bidirectional(nn.LSTM(2, 3, batch_first=True), "mul"),
        None,
        ((2, 4, 2),),
    ),
]
