"""Rows of `nestarray.nn.normalization`."""

from __future__ import annotations

import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn

ROWS = [
    Row("LayerNorm", lambda: nn.LayerNorm(4), lambda: T.LayerNorm(4), ((2, 3, 4),)),
    Row(
        "LayerNorm axes",
        lambda: nn.LayerNorm((3, 4), bias=False),
        lambda: T.LayerNorm((3, 4), bias=False),
        ((2, 3, 4),),
    ),
    Row(
        "LayerNorm bare",
        lambda: nn.LayerNorm(4, 1e-3, False),
        lambda: T.LayerNorm(4, 1e-3, False),
        ((2, 3, 4),),
    ),
    Row("RMSNorm", lambda: nn.RMSNorm(4), lambda: T.RMSNorm(4), ((2, 3, 4),)),
    Row(
        "RMSNorm bare",
        lambda: nn.RMSNorm((3, 4), 1e-2, False),
        lambda: T.RMSNorm((3, 4), 1e-2, False),
        ((2, 3, 4),),
    ),
    Row("GroupNorm", lambda: nn.GroupNorm(2, 4), lambda: T.GroupNorm(2, 4), ((2, 4, 3),)),
    Row(
        "LocalResponseNorm",
        lambda: nn.LocalResponseNorm(3, 0.5, 0.6, 2.0),
        lambda: T.LocalResponseNorm(3, 0.5, 0.6, 2.0),
        ((2, 5, 3),),
    ),
]
