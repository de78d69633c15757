"""Rows of `nestarray.nn.composition`."""

from __future__ import annotations

import torch

import nestarray as na
from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn

ROWS = [
    Row(
        "Sequential",
        lambda: nn.Sequential(nn.Linear(3, 4), na.tanh, nn.Linear(4, 2)),
        lambda: T.Sequential(T.Linear(3, 4), T.Tanh(), T.Linear(4, 2)),
        ((5, 3),),
    ),
]
