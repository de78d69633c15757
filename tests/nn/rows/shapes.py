"""Rows of `nestarray.nn.shapes`."""

from __future__ import annotations

from tests.nn.rows.row import both

ROWS = [
    both("Identity", lambda nn: nn.Identity(), (2, 3)),
    both("Flatten", lambda nn: nn.Flatten(), (2, 3, 4)),
    both("Flatten axes", lambda nn: nn.Flatten(-3, 2), (2, 3, 4, 5)),
    both("Unflatten", lambda nn: nn.Unflatten(1, (2, 3)), (2, 6, 4)),
    both("Unflatten rest", lambda nn: nn.Unflatten(-1, (2, -1)), (2, 3, 4)),
]
