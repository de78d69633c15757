"""Rows of `nestarray.nn.linear`."""

from __future__ import annotations

import torch

from nestarray import nn
from tests.nn.rows.row import Row, both

T = torch.nn

ROWS = [
    Row("Linear", lambda: nn.Linear(3, 4), lambda: T.Linear(3, 4), ((5, 3),)),
    Row("Linear bare", lambda: nn.Linear(3, 4, False), lambda: T.Linear(3, 4, False), ((2, 5, 3),)),
    both("Bilinear", lambda nn: nn.Bilinear(2, 3, 4), (5, 2), (5, 3)),
    both("Bilinear bare", lambda nn: nn.Bilinear(2, 3, 4, False), (2, 5, 2), (2, 5, 3)),
]
