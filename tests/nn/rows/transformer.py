"""Rows of `nestarray.nn.transformer`."""

from __future__ import annotations

import torch

import nestarray as na
from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn

ONE, BOTH = ((2, 3, 4),), ((2, 3, 4), (2, 5, 4))

ROWS = [
    Row(
        "TransformerEncoderLayer",
        lambda: nn.TransformerEncoderLayer(4, 2, 6, 0.0),
        lambda: T.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True),
        ONE,
        has_kinks=True,
    ),
    Row(
        "TransformerEncoderLayer norm first",
        lambda: nn.TransformerEncoderLayer(4, 2, 6, 0.0, na.gelu, norm_first=True, bias=False),
        lambda: T.TransformerEncoderLayer(
            4, 2, 6, 0.0, "gelu", batch_first=True, norm_first=True, bias=False
        ),
        ONE,
    ),
    Row(
        "TransformerDecoderLayer",
        lambda: nn.TransformerDecoderLayer(4, 2, 6, 0.0, "gelu"),
        lambda: T.TransformerDecoderLayer(4, 2, 6, 0.0, "gelu", batch_first=True),
        BOTH,
    ),
    Row(
        "TransformerDecoderLayer norm first",
        lambda: nn.TransformerDecoderLayer(
            4, 2, 6, 0.0, "gelu", 1e-3, batch_first=False, norm_first=True
        ),
        lambda: T.TransformerDecoderLayer(4, 2, 6, 0.0, "gelu", 1e-3, norm_first=True),
        ((3, 2, 4), (5, 2, 4)),
    ),
    Row(
        "TransformerEncoderLayer drops",
        lambda: nn.TransformerEncoderLayer(4, 2, 6, 0.5, "gelu"),
        lambda: T.TransformerEncoderLayer(4, 2, 6, 0.5, "gelu", batch_first=True),
        ONE,
        draws=True,
    ),
    Row(
        "TransformerEncoder",
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu"), 2, nn.LayerNorm(4)
        ),
        lambda: T.TransformerEncoder(
            T.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu", batch_first=True), 2, T.LayerNorm(4)
        ),
        ONE,
    ),
    Row(
        "Transformer",
        lambda: nn.Transformer(4, 2, 1, 2, 6, 0.0, "gelu"),
        lambda: T.Transformer(4, 2, 1, 2, 6, 0.0, "gelu", batch_first=True),
        ((2, 5, 4), (2, 3, 4)),
    ),
]
