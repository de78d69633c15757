"""Rows of `nestarray.nn.attention`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn


class Attention(torch.nn.Module):
    """torch's layer called as a self-attention."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True, **settings)

    def forward(self, x: Any) -> Any:
        return self.attention(x, x, x, need_weights=False)[0]


class OurAttention(nn.Module):
    """Ours under the same name."""

    def __init__(self, **settings: Any) -> None:
        self.attention = nn.MultiHeadAttention(8, 2, **settings)

    def forward(self, x: Any) -> Any:
        return self.attention(x)


ROWS = [
    Row("MultiHeadAttention", OurAttention, Attention, ((2, 5, 8),)),
    Row(
        "MultiHeadAttention bare",
        lambda: OurAttention(bias=False),
        lambda: Attention(bias=False),
        ((2, 5, 8),),
    ),
]
