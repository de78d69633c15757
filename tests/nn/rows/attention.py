"""Rows of `nestarray.nn.attention`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn


class Attention(torch.nn.Module):
    """torch's layer without its weights."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        settings = {"batch_first": True} | settings
        self.attention = torch.nn.MultiheadAttention(8, 2, **settings)

    def forward(self, x: Any, source: Any = None, values: Any = None) -> Any:
        source = x if source is None else source
        values = source if values is None else values
        return self.attention(x, source, values, need_weights=False)[0]


class OurAttention(nn.Module):
    """Ours under the same name."""

    def __init__(self, **settings: Any) -> None:
        self.attention = nn.MultiHeadAttention(8, 2, **settings)

    def forward(self, *inputs: Any) -> Any:
        return self.attention(*inputs)


def pair(name: str, *shapes: tuple[int, ...], **settings: Any) -> Row:
    """Ours and torch's attention."""
    layer, twin = lambda: OurAttention(**settings), lambda: Attention(**settings)
    return Row(f"MultiHeadAttention {name}".strip(), layer, twin, shapes)


class Causal(nn.Module):
    """Grouped attention of each element to those before."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        self.attention = nn.GroupedQueryAttention(8, *args, **settings)

    def forward(self, x: Any) -> Any:
        return self.attention(x, is_causal=True)


ROWS = [
    pair("", (2, 5, 8)),
    pair("bare", (2, 5, 8), bias=False),
    pair("of other sizes", (2, 3, 8), (2, 5, 6), (2, 5, 4), kdim=6, vdim=4),
    pair("with more keys", (2, 5, 8), add_bias_kv=True, add_zero_attn=True),
    pair("of length first", (5, 2, 8), batch_first=False),
    Row(
        "GroupedQueryAttention",
        lambda: nn.GroupedQueryAttention(8, 4, 2, bias=False),
        None,
        ((2, 5, 8),),
    ),
    Row(
        "GroupedQueryAttention rotary",
        lambda: Causal(2, 1, 4, bias=False, positions=nn.RotaryEmbedding(4), window=3, sinks=True),
        None,
        ((2, 5, 8),),
    ),
    Row(
        "GroupedQueryAttention biased",
        lambda: Causal(
            4, 2,
            relative_bias=nn.RelativePositionBias(4, 8, 6), soft_cap=5.0,
            q_norm=nn.RMSNorm(2), k_norm=nn.RMSNorm(2),
        ),
        None,
        ((2, 5, 8),),
    ),
    Row(
        "GroupedQueryAttention drops",
        lambda: nn.GroupedQueryAttention(8, 4, 2, dropout=0.5, relative_bias=nn.AlibiBias(4)),
        None,
        ((2, 5, 8),),
        draws=True,
    ),
]  # fmt: skip
