"""Rows of `nestarray.nn.pooling`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import nestarray as na
from nestarray import nn
from tests.nn.rows.row import Row, both


class Places(nn.Module):
    """Maxima, and their indices as floating numbers, whose dtype no backend changes."""

    def __init__(self, layer: nn.Module) -> None:
        self.layer = layer

    def forward(self, x: Any) -> Any:
        values, indices = self.layer(x)
        return values, na.astype(indices, "float32")


class TorchPlaces(torch.nn.Module):
    """The same of a layer of torch."""

    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        values, indices = self.layer(x)
        return values, indices.float()


def places(name: str, layer: Callable[[Any], Any], *shapes: tuple[int, ...]) -> Row:
    """A row of a layer that returns indices."""
    return Row(name, lambda: Places(layer(nn)), lambda: TorchPlaces(layer(torch.nn)), shapes)


ROWS = [
    both("MaxPool1d", lambda nn: nn.MaxPool1d(3, 2, 1), (2, 3, 7)),
    both("MaxPool1d dilated", lambda nn: nn.MaxPool1d(2, 3, 1, 2, ceil_mode=True), (2, 3, 8)),
    both("MaxPool2d", lambda nn: nn.MaxPool2d((2, 3), padding=(0, 1)), (2, 3, 4, 5)),
    places("MaxPool2d indices", lambda nn: nn.MaxPool2d(3, 2, 1, 1, True), (2, 3, 4, 5)),
    places("MaxPool2d unbatched", lambda nn: nn.MaxPool2d(2, return_indices=True), (3, 4, 5)),
    both("MaxPool3d unbatched", lambda nn: nn.MaxPool3d(2), (1, 2, 4, 3)),
    both("AvgPool1d unbatched", lambda nn: nn.AvgPool1d(3, 2, 1, True), (3, 8)),
    both("LPPool2d unbatched", lambda nn: nn.LPPool2d(4, (2, 1)), (3, 4, 5)),
    both("MaxPool3d", lambda nn: nn.MaxPool3d(2), (2, 1, 2, 4, 3)),
    both("AvgPool1d", lambda nn: nn.AvgPool1d(3, 2, 1, True), (2, 3, 8)),
    both("AvgPool2d", lambda nn: nn.AvgPool2d(3, 2, 1, count_include_pad=False), (2, 3, 4, 5)),
    both("AvgPool2d divisor", lambda nn: nn.AvgPool2d((2, 1), divisor_override=3), (2, 3, 4, 5)),
    both("AvgPool3d", lambda nn: nn.AvgPool3d(2, 1), (2, 1, 2, 4, 3)),
    both("LPPool1d", lambda nn: nn.LPPool1d(2, 3, 2, ceil_mode=True), (2, 3, 8)),
    both("LPPool2d", lambda nn: nn.LPPool2d(4, (2, 1)), (2, 3, 4, 5)),
    both("LPPool3d", lambda nn: nn.LPPool3d(2, 2), (2, 1, 2, 4, 3)),
]
