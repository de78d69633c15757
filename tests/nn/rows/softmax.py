"""Rows of `nestarray.nn.softmax`."""

from __future__ import annotations

from tests.nn.rows.row import both

ROWS = [
    both("Softmax", lambda nn: nn.Softmax(1), (2, 3, 4)),
    both("Softmin", lambda nn: nn.Softmin(-1), (2, 3)),
    both("LogSoftmax", lambda nn: nn.LogSoftmax(-1), (2, 3)),
    both("Softmax2d", lambda nn: nn.Softmax2d(), (2, 3, 2, 2)),
]
