"""Rows of `nestarray.nn.normalization`."""

from __future__ import annotations

import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn

ROWS = [
    Row("BatchNorm", lambda: nn.BatchNorm(3), lambda: T.BatchNorm2d(3), ((4, 3, 2, 2),)),
    Row(
        "BatchNorm average",
        lambda: nn.BatchNorm(3, 1e-3, None, affine=False),
        lambda: T.BatchNorm1d(3, 1e-3, None, affine=False),
        ((6, 3),),
    ),
    Row("LayerNorm", lambda: nn.LayerNorm(4), lambda: T.LayerNorm(4), ((2, 3, 4),)),
    Row(
        "LayerNorm axes",
        lambda: nn.LayerNorm((3, 4), bias=False),
        lambda: T.LayerNorm((3, 4), bias=False),
        ((2, 3, 4),),
    ),
    Row("RMSNorm", lambda: nn.RMSNorm(4), lambda: T.RMSNorm(4, 1e-6), ((2, 3, 4),)),
    Row("GroupNorm", lambda: nn.GroupNorm(2, 4), lambda: T.GroupNorm(2, 4), ((2, 4, 3),)),
]
