"""Rows of `nestarray.nn.decoders`."""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import nn
from tests.nn.rows.row import Row


def stack(mlp: nn.Module, **settings: Any) -> nn.Module:
    """Two blocks of a decoder."""
    rotary = nn.RotaryEmbedding(2)
    attention = nn.GroupedQueryAttention(4, 2, 1, positions=rotary, **settings)
    block = nn.CausalBlock(attention, mlp, nn.RMSNorm(4), nn.RMSNorm(4))
    return nn.CausalTransformer(block, 2, nn.LayerNorm(4))


ROWS = [
    Row("GatedMLP", lambda: nn.GatedMLP(3, 4), None, ((2, 5, 3),)),
    Row(
        "CausalTransformer",
        lambda: stack(nn.GatedMLP(4, 6, na.gelu), bias=False),
        None,
        ((2, 5, 4),),
    ),
    Row(
        "CausalTransformer drops",
        lambda: stack(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), dropout=0.5),
        None,
        ((2, 5, 4),),
        draws=True,
    ),
    Row(
        "CausalTransformer of experts",
        lambda: stack(nn.MixtureOfExperts(4, nn.GatedMLP(4, 3), 3, 2)),
        None,
        ((2, 5, 4),),
        has_kinks=True,
    ),
]
